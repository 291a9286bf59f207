//! Every page by the keyboard alone: Tab comes to whatever can be used, shows where it is, and leads to what the
//! page is for.

use serde_json::json;

use super::browser::Browser;
use super::{LAB, incidents, judge, login, timeline};
use crate::service::Service;

/// Presses of Tab after which a page is taken for a trap.
const MOST: usize = 900;

/// What can be used of a page, as a reader sees it.
const USABLE: &str = "[...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex=\"0\"]')] \
    .filter((one) => one.checkVisibility({ visibilityProperty: true }) && !one.disabled && one.type !== 'hidden' && one.tabIndex >= 0)";

/// Marks what has the focus: its name if it does not show that, an empty text if it does, nothing where the page has none.
const VISIT: &str = "(() => { const one = document.activeElement; if (!one || one === document.body) return null; \
    one.setAttribute('data-visited', ''); const style = getComputedStyle(one); \
    return style.outlineStyle === 'none' || parseFloat(style.outlineWidth) < 1 ? one.outerHTML.slice(0, 160) : ''; })()";

/// Tabs through a page until everything was reached.
fn tab_through(browser: &mut Browser, what: &str) {
    let left = format!(
        "{USABLE}.filter((one) => !one.hasAttribute('data-visited')).map((one) => one.outerHTML.slice(0, 160))"
    );
    // What has the focus from the start counts.
    browser.eval(VISIT);
    for _ in 0..MOST {
        browser.press("Tab");
        let unseen = browser.eval(VISIT);
        assert!(
            unseen.is_null() || unseen == "",
            "{what} does not show the focus on {unseen}"
        );
        if browser.eval(&left) == json!([]) {
            return;
        }
    }
    panic!("{what}: Tab does not come to {}", browser.eval(&left));
}

/// Presses Tab until something has the focus.
fn tab_to(browser: &mut Browser, what: &str) {
    for _ in 0..MOST {
        if browser.eval(&format!(
            "document.activeElement?.matches({what:?}) ?? false"
        )) == true
        {
            return;
        }
        browser.press("Tab");
    }
    panic!("Tab does not come to {what}");
}

/// Opens a page, tabs through it, and opens it once more for whatever is to be done there.
fn tabbed(browser: &mut Browser, base: &str, path: &str) {
    judge(&browser.open(&format!("{base}{path}")), base, path);
    tab_through(browser, path);
    browser.open(&format!("{base}{path}"));
}

#[test]
fn every_page_is_used_by_the_keyboard_alone() {
    let service = Service::start(&[LAB], "");
    let base = service.base();
    let all = incidents(&service, &[]);
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let browser = &mut browser;
    browser.look(1280, "light");
    let id = all[0]["incident"]["id"].as_str().unwrap();
    let node = all
        .iter()
        .find_map(|one| one["incident"]["machines"][0]["node"].as_str())
        .unwrap();

    tabbed(browser, &base, "/");
    tab_to(browser, "#q");
    browser.write("gpt2");
    browser.until("document.querySelectorAll('#suggestions li').length > 0");
    browser.press("ArrowDown");
    browser.press("Enter");
    browser.until("location.pathname.startsWith('/x/')");

    for path in ["/x/gpt2-small-7f3".to_owned(), format!("/i/{id}")] {
        tabbed(browser, &base, &path);
        tab_to(browser, "#canvas");
        browser.press("n");
        browser.press("Enter");
        browser.until("document.querySelector('#picked h3') !== null");
        tab_to(browser, "#picked pre");
    }

    tabbed(browser, &base, &format!("/node/{node}"));
    tab_to(browser, "#content a[href^='/x/'], #content a[href^='/i/']");
    browser.press("Enter");
    browser.until("/^\\/[xi]\\//.test(location.pathname)");

    tabbed(browser, &base, "/fleet?since=90d");
    tab_to(browser, "#causes td a");
    browser.press("Enter");
    browser.until("location.pathname === '/sql'");

    tabbed(browser, &base, "/sql");
    tab_to(browser, "#statement");
    browser.write("SELECT 1 AS n ");
    tab_to(browser, "#editor button[type=submit]");
    browser.press("Enter");
    browser.until("document.body.innerText.replace('\\u00a0', ' ').includes('1 row')");
}

#[test]
fn somebody_signs_in_by_the_keyboard_alone() {
    let folder = tempfile::tempdir().unwrap();
    let service = login::service(&folder);
    let base = service.base();
    let Some(mut browser) = Browser::start() else {
        return;
    };
    tabbed(&mut browser, &base, "/login");
    tab_to(&mut browser, "#token");
    browser.write("token-of-everybody-0001");
    browser.press("Enter");
    browser.until("document.querySelector('form.leave') !== null");
    tab_to(&mut browser, "form.leave button");
    browser.press("Enter");
    browser.until("document.getElementById('token') !== null");
}

/// What was said last.
const SAID: &str = "document.querySelector('.said').textContent";

#[test]
fn lines_tell_their_states_and_values_without_a_pointer() {
    let Some((mut browser, base, _folder)) =
        timeline::file("gpt2-small-7f3", "fixtures/lab-cluster")
    else {
        return;
    };
    let browser = &mut browser;
    browser.look(1280, "light");
    tab_to(browser, "#canvas");
    // Every line in turn: those of pods say how they were, and since when.
    let mut told: Vec<String> = Vec::new();
    loop {
        browser.press("ArrowDown");
        let said = browser.eval(SAID).as_str().unwrap().to_owned();
        if told.last() == Some(&said) {
            break;
        }
        told.push(said);
    }
    let states = "window.__picture.model.bars.length";
    assert!(told.len() > 10, "{told:#?} {}", browser.eval(states));
    assert!(
        told.iter().any(|said| said.contains("running since 2026-")),
        "{told:#?}"
    );
    assert!(
        told.iter().any(|said| said.contains("could not be seen")),
        "{told:#?}"
    );
    // The last line is a curve; where it changes, it has another value.
    let last = told.last().unwrap();
    assert!(
        last.contains("measured at") || last.contains("no value"),
        "{last}"
    );
    browser.press(",");
    browser.until(&format!("{SAID}.includes('measured at')"));
    let first = browser.eval(SAID);
    browser.press(",");
    browser.until(&format!("{SAID} !== {first}"));
    // Whoever sees the picture reads it as well.
    assert_eq!(
        browser.eval("document.querySelector('.live > .tip').hidden"),
        false
    );
    assert_eq!(browser.eval("window.__picture.line.kind"), "curve");
    browser.press("ArrowUp");
    browser.press("Escape");
    browser
        .until("document.querySelector('.live > .tip').hidden && window.__picture.line === null");
    judge(&browser.seen(), &base, "the file");
}
