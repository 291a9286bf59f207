//! The timeline in a browser: by the keyboard alone, from a mark to its record, and to the SQL that finds it.

use super::browser::Browser;
use super::{LAB, judge};
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
    let height = "document.querySelector('.lanes').getBoundingClientRect().height";
    let shut = browser.eval(height).as_f64().unwrap();
    let folds = "document.querySelector('button.label.lane')";
    browser.eval(&format!("{folds}.focus()"));
    browser.press("Enter");
    browser.eval(&format!("{folds}.click()"));
    browser.until(&format!("{folds}.getAttribute('aria-expanded') === 'true'"));
    let open = browser.eval(height).as_f64().unwrap();
    assert!(open > shut + 30.0, "{shut} {open}");
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

/// From the message in Slack: its link, a click on the root's mark, a click on the record. A stranger needs no more
/// than these, and the machine far less than a stranger.
#[test]
fn three_clicks_lead_to_the_roots_own_record() {
    const PUBLIC: &str = "https://w.example.com";
    let service = Service::start(&[LAB], &format!("[serve]\npublic_url = '{PUBLIC}'\n"));
    let base = service.base();
    let told = service.get("/api/v1/answers/gpt2-small-7f3", &[]).json();
    // Slack's button has the address of the incident that leads (`render/slack/card.rs`).
    let page = told["incidents"][0]["page"].as_str().unwrap();
    let path = page.strip_prefix(PUBLIC).unwrap();
    let Some(mut browser) = Browser::start() else {
        return;
    };
    browser.look(1280, "light");
    let begun = std::time::Instant::now();
    judge(&browser.open(&format!("{base}{path}")), &base, "the link");
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
    assert!(raw.as_str().unwrap().len() > 40, "{raw}");
    let took = begun.elapsed();
    println!("from the link to the record: {took:?}");
    assert!(took < std::time::Duration::from_secs(15), "{took:?}");
    // The statement beside it finds the same record.
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
