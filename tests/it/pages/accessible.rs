//! What axe-core finds wrong with the pages: nothing, at any width, in light and in dark. It comes
//! from npm's registry into the folder of builds (`.ci/scripts`) and is no part of the program.

use std::path::PathBuf;

use super::browser::Browser;
use super::{LAB, incidents, judge, timeline};
use crate::service::Service;

/// Where something is that npm installed (`.ci/scripts`).
pub(super) fn of_npm(path: &str) -> Option<PathBuf> {
    let own = option_env!("CARGO_TARGET_DIR").map(PathBuf::from);
    let now = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let home =
        std::env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache/whathappened-target"));
    let folders = [now, own, home].into_iter().flatten();
    let mut places = folders.map(|folder| folder.join("npm/node_modules").join(path));
    places.find(|place| place.exists())
}

/// Its text, where it was fetched.
pub(super) fn axe() -> Option<String> {
    let text = of_npm("axe-core/axe.min.js").and_then(|path| std::fs::read_to_string(path).ok());
    if text.is_none() {
        whathappened_loopback::skipped("no axe-core: no page is looked at by it");
    }
    text
}

pub(super) fn look(browser: &mut Browser, axe: &str, what: &str) {
    browser.eval(axe);
    let found = browser.eval(
        "axe.run(document, { resultTypes: ['violations'] }).then((told) => told.violations.map((one) => \
         `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html.slice(0, 160) + ' ' + (node.any[0]?.message ?? '')).join(' | ')}`))",
    );
    assert_eq!(found, serde_json::json!([]), "{what}");
    let wide = browser.eval("document.documentElement.scrollWidth - innerWidth");
    assert!(
        wide.as_i64().unwrap() <= 0,
        "{what} is {wide} pixels too wide"
    );
}

#[test]
fn nothing_is_wrong_with_the_pages_at_any_width() {
    let Some(axe) = axe() else { return };
    let service = Service::start(&[LAB], "");
    let base = service.base();
    let all = incidents(&service, &[]);
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let id = all[0]["incident"]["id"].as_str().unwrap();
    let node = all
        .iter()
        .find_map(|one| one["incident"]["machines"][0]["node"].as_str())
        .unwrap();
    let paths = [
        "/".to_owned(),
        "/x/gpt2-small-7f3".to_owned(),
        format!("/i/{id}"),
        format!("/node/{node}"),
        "/fleet?since=90d".to_owned(),
        "/sql".to_owned(),
        "/sql?q=SELECT%20cause,%20count(*)%20AS%20n%20FROM%20incidents%20GROUP%20BY%20cause"
            .to_owned(),
        "/x/nobody-has-this-name".to_owned(),
    ];
    for (width, scheme) in [(390, "light"), (1280, "dark"), (2560, "light")] {
        browser.look(width, scheme);
        for path in &paths {
            let what = format!("{path} at {width} in {scheme}");
            let opened = browser.open(&format!("{base}{path}"));
            if !path.contains("nobody") {
                judge(&opened, &base, &what);
            }
            look(&mut browser, &axe, &what);
        }
    }
}

#[test]
fn nothing_is_wrong_with_the_file() {
    let Some(axe) = axe() else { return };
    for (name, input) in [
        ("gpt2-small-7f3", LAB),
        ("dense-70b-a", "fixtures/gpu-xid79-rank17/input"),
        ("*", LAB),
    ] {
        let Some((mut browser, base, _folder)) = timeline::file(name, input) else {
            return;
        };
        for (width, scheme) in [(390, "dark"), (1280, "light")] {
            browser.look(width, scheme);
            browser.open(&base);
            look(
                &mut browser,
                &axe,
                &format!("{name} at {width} in {scheme}"),
            );
        }
    }
}
