//! Pages on paper: nothing of them is beyond its edge or behind something to scroll, and the picture is the drawn one.

use serde_json::{Value, json};

use super::browser::Browser;
use super::{LAB, incidents, judge, timeline};
use crate::service::Service;

/// A sheet of A4 between its margins, in the pixels of style sheets.
const PAPER: u32 = 718;

/// What a printer would cut off: words in a box that a reader would have to scroll.
const CUT: &str = "[...document.querySelectorAll('body *')].filter((one) => one.checkVisibility() && !one.closest('svg') \
    && getComputedStyle(one).overflowX !== 'visible' && one.clientWidth > 0 && one.scrollWidth > one.clientWidth + 1) \
    .map((one) => one.outerHTML.slice(0, 160))";

fn on_paper(browser: &mut Browser, what: &str) {
    browser.call("Emulation.setEmulatedMedia", &json!({"media": "print"}));
    let wide = browser.eval("document.documentElement.scrollWidth - innerWidth");
    assert!(
        wide.as_i64().unwrap() <= 0,
        "{what} is {wide} pixels too wide"
    );
    assert_eq!(browser.eval(CUT), json!([]), "{what} is cut");
    let is_seen = |browser: &mut Browser, of: &str| {
        browser.eval(&format!(
            "[...document.querySelectorAll({of:?})].some((one) => one.checkVisibility())"
        ))
    };
    for hand in [".controls", ".live", "nav.contents", "button"] {
        assert_eq!(is_seen(browser, hand), false, "{what} prints {hand}");
    }
    let sheets = browser.call("Page.printToPDF", &json!({}));
    assert!(
        sheets["data"].as_str().unwrap().len() > 10_000,
        "{what} prints nothing"
    );
    browser.call("Emulation.setEmulatedMedia", &json!({"media": ""}));
}

#[test]
fn a_file_is_whole_on_paper() {
    for (name, input) in [
        ("gpt2-small-7f3", LAB),
        ("lm-700m-3", "fixtures/nfs-server-under-a-gang/input"),
    ] {
        let Some((mut browser, base, _folder)) = timeline::file(name, input) else {
            return;
        };
        browser.look(PAPER, "light");
        browser.call("Emulation.setEmulatedMedia", &json!({"media": "print"}));
        let picture = browser.eval("document.querySelector('#canvas > svg')?.checkVisibility()");
        assert_eq!(picture, Value::Bool(true), "{name}");
        on_paper(&mut browser, name);
        judge(&browser.seen(), &base, name);
    }
}

#[test]
fn pages_of_the_service_are_whole_on_paper() {
    let service = Service::start(&[LAB], "");
    let base = service.base();
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let id = incidents(&service, &[])[0]["incident"]["id"].clone();
    for path in [
        "/x/gpt2-small-7f3".to_owned(),
        format!("/i/{}", id.as_str().unwrap()),
        "/fleet?since=90d".to_owned(),
    ] {
        browser.look(PAPER, "light");
        judge(&browser.open(&format!("{base}{path}")), &base, &path);
        on_paper(&mut browser, &path);
    }
}
