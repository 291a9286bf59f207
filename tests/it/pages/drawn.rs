//! Where the picture draws what it has: beside each other, in sight, and at its own time.

use super::judge;
use super::timeline::file;

/// Draws, and gives what can be pointed at: of each mark or step where it stands, and how far its own time is.
const TARGETS: &str = "(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => { \
    const { targets, view } = window.__picture; \
    done(targets.filter((one) => one.mark || one.step).map((one) => ({ \
        x: one.x, rx: one.rx, y: one.y, width: view.width, count: one.mark?.count ?? 0, number: one.step?.number ?? 0, \
        own: view.x(one.step?.at ?? one.mark?.from ?? 0), until: view.x(one.step?.at ?? one.mark?.to ?? 0) }))); }))))()";

#[test]
fn numbers_of_a_folded_lane_do_not_cover_each_other() {
    let Some((mut browser, base, _folder)) = file("dense-70b-a", "fixtures/gpu-xid79-rank17/input")
    else {
        return;
    };
    browser.look(1280, "light");
    browser.eval("document.querySelector('button.label.lane').scrollIntoView({ block: 'center' })");
    let told = browser.eval(TARGETS);
    let mut pills: Vec<(f64, f64)> = told
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["count"].as_u64() > Some(1))
        .map(|one| {
            let (x, rx) = (one["x"].as_f64().unwrap(), one["rx"].as_f64().unwrap());
            // What can be pointed at reaches two pixels beyond what is drawn.
            (x - rx + 2.0, x + rx - 2.0)
        })
        .collect();
    pills.sort_by(|a, b| a.0.total_cmp(&b.0));
    assert!(pills.len() > 3, "{pills:?}");
    assert!(
        pills.windows(2).all(|pair| pair[0].1 <= pair[1].0 + 0.5),
        "{pills:?}"
    );
    judge(&browser.seen(), &base, "the file");
}

#[test]
fn a_time_that_is_not_known_more_exactly_is_drawn_where_it_can_be_seen() {
    let Some((mut browser, base, _folder)) =
        file("5068", "fixtures/slurm-cancel-after-failure/input")
    else {
        return;
    };
    browser.look(1280, "light");
    browser.eval("document.querySelector('.live').scrollIntoView({ block: 'start' })");
    let told = browser.eval(TARGETS);
    let wide = |one: &&serde_json::Value| one["until"].as_f64() > one["width"].as_f64();
    let all = told.as_array().unwrap();
    let wide: Vec<_> = all.iter().filter(wide).collect();
    assert!(!wide.is_empty(), "{told}");
    for one in wide {
        let (x, width) = (one["x"].as_f64().unwrap(), one["width"].as_f64().unwrap());
        assert!((0.0..=width).contains(&x), "{one}");
    }
    judge(&browser.seen(), &base, "the file");
}

#[test]
fn a_label_at_the_edge_stands_on_the_side_that_has_room() {
    let Some((mut browser, base, _folder)) = file(
        "e29e-reboot-denied",
        "fixtures/reboot-that-sudo-refused/input",
    ) else {
        return;
    };
    browser.look(1280, "light");
    browser.eval("document.querySelector('.live').scrollIntoView({ block: 'start' })");
    let told = browser.eval(TARGETS);
    let steps = told.as_array().unwrap().iter();
    let last = steps.max_by_key(|one| one["number"].as_u64()).unwrap();
    let of = |name: &str| last[name].as_f64().unwrap();
    // What is said of it ends at its number, and is more than a few letters.
    assert!(
        of("x") + of("rx") <= of("own") + 13.0 && of("rx") > 100.0,
        "{last}"
    );
    judge(&browser.seen(), &base, "the file");
}

#[test]
fn steps_that_were_told_of_later_stand_where_they_were() {
    let Some((mut browser, base, _folder)) = file("dalle-5", "fixtures/lab-reboot/input") else {
        return;
    };
    browser.look(1280, "light");
    browser.eval("document.querySelector('.live').scrollIntoView({ block: 'start' })");
    let told = browser.eval(
        "(() => { const { model, view } = window.__picture; return model.steps.map((step) => [step.number, step.lane, view.x(step.at)]); })()",
    );
    let steps: Vec<(u64, u64, f64)> = told
        .as_array()
        .unwrap()
        .iter()
        .map(|one| {
            (
                one[0].as_u64().unwrap(),
                one[1].as_u64().unwrap(),
                one[2].as_f64().unwrap(),
            )
        })
        .collect();
    // One of the chain was before the one that the chain tells of first, on the same lane.
    let back = steps
        .windows(2)
        .find(|pair| pair[0].1 == pair[1].1 && pair[1].2 < pair[0].2 - 22.0);
    let (number, _, own) = back.unwrap_or_else(|| panic!("{steps:?}"))[1];
    let targets = browser.eval(TARGETS);
    let target = targets
        .as_array()
        .unwrap()
        .iter()
        .find(|one| one["number"] == number)
        .unwrap();
    let (x, rx) = (
        target["x"].as_f64().unwrap(),
        target["rx"].as_f64().unwrap(),
    );
    assert!(
        (x - rx + 12.0 - own).abs() < 1.0,
        "{target} is not at {own}"
    );
    judge(&browser.seen(), &base, "the file");
}

#[test]
fn a_curve_that_ended_before_tells_its_last_value() {
    let Some((mut browser, _, _folder)) = file("hang-1", "fixtures/hang-with-fault-handler/input")
    else {
        return;
    };
    browser.look(1280, "light");
    let words = browser.eval(
        "(() => { const words = []; const c = window.__picture.context; const whole = c.fillText.bind(c); \
         c.fillText = (text, ...rest) => { words.push(text); whole(text, ...rest); }; \
         window.__picture.top = 0; window.__picture.tall = 5000; window.__picture.draw(); return words; })()",
    );
    let words: Vec<&str> = words
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|one| one.as_str())
        .collect();
    assert!(
        words.iter().any(|one| one.starts_with(
            "nothing in this stretch of time; the last before: 1009 at 2026-11-18 02:59:40"
        )),
        "{words:?}"
    );
}
