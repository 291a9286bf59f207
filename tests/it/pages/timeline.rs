//! The timeline in a browser: by the keyboard alone, from a mark to its record, and to the SQL that finds it.

use super::browser::Browser;
use super::{LAB, incidents, judge};
use crate::service::Service;

/// A browser with the single file about an experiment of a recording.
pub(super) fn file(name: &str, input: &str) -> Option<(Browser, String, tempfile::TempDir)> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("incident.html");
    let path = path.to_str().unwrap();
    let args = [name, "--from", input, "-q", "--format", "html", "-o", path];
    let (code, _, err) = crate::whathappened(&args);
    assert_eq!(code, Some(0), "{err}");
    let mut browser = Browser::start()?;
    let base = format!("file://{path}");
    judge(&browser.open(&base), &base, &base);
    Some((browser, base, folder))
}

#[test]
fn a_folded_lane_opens_in_place() {
    let Some((mut browser, base, _folder)) = file("dense-70b-a", "fixtures/gpu-xid79-rank17/input")
    else {
        return;
    };
    // Folded, the lane shows how many records there are; opened, each stands on the line of its own pod.
    let drawn = "(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => { \
        const { model, targets } = window.__picture; const lane = model.lanes.findIndex((one) => one.folded > 0); \
        const own = targets.filter((one) => one.mark?.lane === lane).map((one) => one.mark); \
        done([own.length, own.filter((one) => one.member >= 0).length, own.filter((one) => one.count > 1).length]); }))))()";
    browser.eval("document.querySelector('button.label.lane').scrollIntoView({ block: 'center' })");
    browser.eval("document.querySelector('[data-do=all]').click()");
    let counts = |told: serde_json::Value| [0, 1, 2].map(|at| told[at].as_u64().unwrap());
    let [all, within, together] = counts(browser.eval(drawn));
    assert!(
        all > 0 && within == 0 && together > 0,
        "{all} {within} {together}"
    );
    let height = "document.querySelector('.lanes').getBoundingClientRect().height";
    let shut = browser.eval(height).as_f64().unwrap();
    let folds = "document.querySelector('button.label.lane')";
    browser.eval(&format!("{folds}.focus()"));
    browser.press("Enter");
    browser.eval(&format!("{folds}.click()"));
    browser.until(&format!("{folds}.getAttribute('aria-expanded') === 'true'"));
    let open = browser.eval(height).as_f64().unwrap();
    assert!(open > shut + 30.0, "{shut} {open}");
    let [all, within, together] = counts(browser.eval(drawn));
    assert!(
        all > 0 && within == all && together == 0,
        "{all} {within} {together}"
    );
    // No label stands on another.
    let clear = "(() => { const boxes = [...document.querySelectorAll('.live .label')].map((one) => one.getBoundingClientRect()); \
        return boxes.every((box, at) => at === 0 || box.top >= boxes[at - 1].bottom - 0.5); })()";
    assert_eq!(browser.eval(clear), true);
    assert_eq!(
        browser.eval("document.activeElement.classList.contains('label')"),
        true,
        "the focus stays"
    );
    browser.eval(&format!("{folds}.click()"));
    browser.until(&format!(
        "{folds}.getAttribute('aria-expanded') === 'false'"
    ));
    assert_eq!(browser.eval(height).as_f64(), Some(shut));
    judge(&browser.seen(), &base, "the file");
}

/// The stretch that the picture shows, in milliseconds from the root.
fn shown(browser: &mut Browser) -> (f64, f64) {
    let view = browser.eval("[window.__picture.view.from, window.__picture.view.to]");
    (view[0].as_f64().unwrap(), view[1].as_f64().unwrap())
}

#[test]
fn a_hand_zooms_moves_and_chooses() {
    let Some((mut browser, base, _folder)) = file("gpt2-small-7f3", LAB) else {
        return;
    };
    browser.look(1280, "light");
    browser.eval("document.querySelector('.live').scrollIntoView({ block: 'start' })");
    let mut corner = |what: &str| {
        let box_of = format!(
            "(() => {{ const box = document.querySelector('{what}').getBoundingClientRect(); return [box.left, box.top, box.width]; }})()"
        );
        let found = browser.eval(&box_of);
        [0, 1, 2].map(|at| found[at].as_f64().unwrap())
    };
    let [left, top, width] = corner("canvas.plot");
    let [_, over, _] = corner("canvas.overview");
    let at = |part: f64| (left + width * part, top + 120.0);
    let first = shown(&mut browser);
    browser.wheel(at(0.5), -200.0);
    browser.until(&format!("window.__picture.view.from > {}", first.0));
    let near = shown(&mut browser);
    assert!(near.1 - near.0 < first.1 - first.0, "{near:?} of {first:?}");
    // What is held follows the hand: to the right is earlier.
    browser.drag(at(0.3), at(0.6), 0);
    let earlier = shown(&mut browser);
    let by = (near.0 - earlier.0) / (near.1 - near.0);
    assert!((by - 0.3).abs() < 0.05, "{by}");
    // With Shift the stretch between is chosen.
    browser.drag(at(0.25), at(0.5), 8);
    let chosen = shown(&mut browser);
    let part = (chosen.1 - chosen.0) / (earlier.1 - earlier.0);
    assert!((part - 0.25).abs() < 0.05, "{part}");
    // Beyond the stretch that it shows, the overview chooses another.
    browser.eval("document.querySelector('[data-do=all]').click()");
    browser.until(&format!("window.__picture.view.from < {}", first.0));
    let all = shown(&mut browser);
    let over = |part: f64| (left + width * part, over + 19.0);
    browser.drag(over(0.5), over(0.75), 0);
    let some = shown(&mut browser);
    let part = (some.1 - some.0) / (all.1 - all.0);
    assert!((part - 0.25).abs() < 0.05, "{part}");
    judge(&browser.seen(), &base, "the file");
}

#[test]
fn everything_is_reached_by_the_keyboard_alone() {
    let Some((mut browser, base, _folder)) = file("gpt2-small-7f3", LAB) else {
        return;
    };
    // Tab leads to the picture.
    let mut reached = false;
    for _ in 0..80 {
        browser.press("Tab");
        if browser.eval("document.activeElement.id") == "canvas" {
            reached = true;
            break;
        }
    }
    assert!(reached, "the picture is never focused");
    browser.press("n");
    browser.until("document.querySelector('.said').textContent.length > 10");
    let first = browser.eval("document.querySelector('.said').textContent");
    browser.press("n");
    browser.until(&format!(
        "document.querySelector('.said').textContent !== {first}"
    ));
    browser.press("p");
    browser.until(&format!(
        "document.querySelector('.said').textContent === {first}"
    ));
    for key in ["+", "-", "ArrowRight", "ArrowLeft", "a", "0"] {
        browser.press(key);
    }
    browser.press("Enter");
    browser.until("document.querySelector('#picked h3') !== null");
    assert_eq!(
        browser.eval("document.querySelector('#picked').contains(document.activeElement)"),
        true
    );
    let text = browser.eval("document.querySelector('#picked').innerText");
    for word in ["Time", "Of", "Seen by", "SQL", "from the root cause"] {
        assert!(text.as_str().unwrap().contains(word), "{word}: {text}");
    }
    // Search and filters say how many are left.
    browser.eval("document.getElementById('canvas').focus()");
    browser.press("/");
    assert_eq!(browser.eval("document.activeElement.id"), "find");
    browser.write("node");
    browser.until("/^\\d+ of \\d+ records$/.test(document.getElementById('found').textContent)");
    // Times from the root, and in a zone of the reader's.
    for (zone, shows) in [
        ("root", "/^[+−]/"),
        ("local", "/^\\d{4}-/"),
        ("Asia/Tokyo", "/^\\d{4}-/"),
    ] {
        browser.eval(&format!(
            "(() => {{ const zone = document.getElementById('zone'); zone.focus(); zone.value = '{zone}'; \
             zone.dispatchEvent(new Event('change', {{ bubbles: true }})); }})()"
        ));
        browser.until(&format!(
            "document.getElementById('zone').value === '{zone}' && {shows}.test(document.querySelector('table.rows time').textContent)"
        ));
    }
    judge(&browser.seen(), &base, "the file");
}

/// The second and the third click of a stranger whom a link led to an incident: on the root's mark in the picture,
/// and on the record that it shows. The text of that record.
pub(super) fn to_the_roots_record(browser: &mut Browser) -> String {
    // The first step of the chain, where the picture draws it.
    let place = browser.eval(
        "(() => { document.querySelector('.lanes').scrollIntoView({ block: 'center' }); \
         return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => { \
         const box = document.querySelector('canvas.plot').getBoundingClientRect(); \
         const step = window.__picture.targets.find((one) => one.step && one.step.number === 1); \
         done([box.left + step.x, box.top + step.y - window.__picture.top]); }))); })()",
    );
    browser.click(place[0].as_f64().unwrap(), place[1].as_f64().unwrap());
    browser.until("document.querySelector('#picked summary') !== null");
    let place = browser.eval(
        "(() => { const one = document.querySelector('#picked summary'); one.scrollIntoView({ block: 'center' }); \
         const box = one.getBoundingClientRect(); return [box.left + 20, box.top + box.height / 2]; })()",
    );
    browser.click(place[0].as_f64().unwrap(), place[1].as_f64().unwrap());
    browser.until("document.querySelector('#picked details').open");
    let raw = browser.eval("document.querySelector('#picked pre').innerText");
    raw.as_str().unwrap().to_owned()
}

#[test]
fn the_statement_beside_a_record_finds_it() {
    let service = Service::start(&[LAB], "");
    let base = service.base();
    let all = incidents(&service, &[]);
    let own = all.iter().find(|one| one["experiment"] == "gpt2-small-7f3");
    let id = own.unwrap()["incident"]["id"].as_str().unwrap();
    let Some(mut browser) = Browser::start() else {
        return;
    };
    browser.look(1280, "light");
    judge(&browser.open(&format!("{base}/i/{id}")), &base, "/i");
    let raw = to_the_roots_record(&mut browser);
    assert!(raw.len() > 40, "{raw}");
    let path = browser.eval("document.querySelector('#picked a.run').getAttribute('href')");
    browser.forget();
    let opened = browser.open(&format!("{base}{}", path.as_str().unwrap()));
    judge(&opened, &base, "the statement");
    assert!(browser.text().contains("1 row"), "{}", browser.text());
}

#[test]
fn a_restart_shows_how_the_work_went() {
    let Some((mut browser, base, _folder)) = file("gpt2-small-7f3", "fixtures/lab-cluster") else {
        return;
    };
    let labels = browser
        .eval("[...document.querySelectorAll('.label.curve .name')].map((one) => one.textContent)");
    assert!(
        labels.to_string().contains("Loss") && labels.to_string().contains("Step rate"),
        "{labels}"
    );
    judge(&browser.seen(), &base, "the file");
}
