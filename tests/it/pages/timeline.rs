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

/// The second click of a stranger whom a link led to an incident: on the root's mark in the picture, which shows the
/// record. The text of that record.
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
    browser.until("document.querySelector('#picked pre')?.checkVisibility()");
    let raw = browser.eval("document.querySelector('#picked pre').innerText");
    raw.as_str().unwrap().to_owned()
}

/// Shows each record of the list, one after the other, as a click on its mark does: what each shows as its own text.
fn texts_of_all_records(browser: &mut Browser) -> Vec<String> {
    let texts = browser.eval(
        "(async () => { const texts = []; \
         for (const number of Records.numbers.keys()) { \
         Records.pick({ row: number, text: '', at: 0, to: 0, count: 1, lane: '' }, false); \
         for (let tries = 0; tries < 400 && !document.querySelector('#picked pre') \
         && !/of its own|left out|could not/.test(document.querySelector('.own-record').innerText); tries += 1) \
         await new Promise((done) => setTimeout(done, 20)); \
         texts.push(document.querySelector('#picked dl').innerText + '\\n' + document.querySelector('.own-record').innerText); } \
         return texts; })()",
    );
    let texts = texts.as_array().unwrap().iter();
    texts
        .map(|text| text.as_str().unwrap().to_owned())
        .collect()
}

#[test]
fn a_click_on_any_row_of_the_file_shows_its_record() {
    for (name, input) in [
        ("gpt2-small-7f3", LAB),
        ("lm-700m-3", "fixtures/nfs-server-under-a-gang/input"),
    ] {
        let Some((mut browser, base, _folder)) = file(name, input) else {
            return;
        };
        let all = texts_of_all_records(&mut browser);
        assert!(all.len() > 5, "{}", all.len());
        for text in &all {
            assert!(text.contains("The record as it was read"), "{name}: {text}");
            assert!(text.contains("Read from"), "{name}: {text}");
        }
        judge(&browser.seen(), &base, "the file");
    }
}

#[test]
fn the_service_tells_the_record_on_a_click() {
    let service = Service::start(&[LAB], "");
    let base = service.base();
    let Some(mut browser) = Browser::start() else {
        return;
    };
    browser.open(&format!("{base}/x/gpt2-small-7f3"));
    // The page does not bring them along.
    assert_eq!(
        browser.eval("document.getElementById('records')"),
        serde_json::Value::Null
    );
    let all = texts_of_all_records(&mut browser);
    assert!(all.len() > 5, "{}", all.len());
    for text in &all {
        assert!(text.contains("The record as it was read"), "{text}");
        assert!(text.contains("Read from"), "{text}");
    }
    judge(&browser.seen(), &base, "/x");
    let id = browser.eval("document.querySelector('tr[data-ids]').dataset.ids.split(' ')[0]");
    let told = service.get(&format!("/record/{}", id.as_str().unwrap()), &[]);
    assert_eq!(told.status, 200, "{}", told.text());
    assert!(
        told.head.contains("cache-control: no-store"),
        "{}",
        told.head
    );
    assert!(
        told.json()["raw"].as_str().unwrap().len() > 20,
        "{}",
        told.text()
    );
    for (wrong, status) in [
        ("0".repeat(32), 404),
        ("1'%20OR%201=1".to_owned(), 400),
        ("a".to_owned(), 400),
    ] {
        let told = service.get(&format!("/record/{wrong}"), &[]);
        assert_eq!(told.status, status, "{}", told.text());
    }
}

#[test]
fn what_a_tracker_tells_stands_on_its_rank() {
    for (name, input) in [
        ("gpt-nano-9", "fixtures/tracker-loss-nan/input"),
        ("output.log", "fixtures/tracker-wandb-alone/input"),
    ] {
        let Some((mut browser, base, _folder)) = file(name, input) else {
            return;
        };
        let lanes = browser.eval("window.__picture.model.lanes.map((one) => one.label)");
        let lanes = lanes.to_string();
        assert!(
            !lanes.contains("nobody") && !lanes.contains("no name"),
            "{name}: {lanes}"
        );
        let first = browser.eval(
            "(() => { const { model } = window.__picture; const step = model.steps.find((one) => one.number === 1); \
             const lane = model.lanes[step.lane]; return [model.groups[lane.group].key, lane.label]; })()",
        );
        let on = first[0].as_str().unwrap();
        assert!(["pods", "logs"].contains(&on), "{name}: {first}");
        judge(&browser.seen(), &base, name);
    }
}

/// The recording of the lab with a watch of its pods that broke in the middle.
fn broken_watch() -> tempfile::TempDir {
    use std::io::{Read as _, Write as _};
    let folder = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(LAB).unwrap() {
        let path = entry.unwrap().path();
        std::fs::copy(&path, folder.path().join(path.file_name().unwrap())).unwrap();
    }
    let watched = folder.path().join("watch-pods.ndjson.gz");
    let mut text = String::new();
    let packed = std::fs::File::open(&watched).unwrap();
    flate2::read::GzDecoder::new(packed)
        .read_to_string(&mut text)
        .unwrap();
    let mut lines: Vec<&str> = text.lines().collect();
    let expired = r#"{"type":"ERROR","object":{"kind":"Status","code":410,"message":"too old resource version"}}"#;
    lines.insert(lines.len() / 2, expired);
    let mut file = std::fs::File::create(folder.path().join("watch-pods.ndjson")).unwrap();
    file.write_all(lines.join("\n").as_bytes()).unwrap();
    std::fs::remove_file(watched).unwrap();
    folder
}

#[test]
fn a_broken_watch_is_hatched_where_it_broke_on_the_lane_of_what_was_watched() {
    let folder = broken_watch();
    let input = folder.path().to_str().unwrap();
    let args = ["gpt2-small-7f3", "--from", input, "-q", "--format", "json"];
    let (code, out, err) = crate::whathappened(&args);
    assert_eq!(code, Some(0), "{err}");
    let told: serde_json::Value = serde_json::from_str(&out).unwrap();
    let rows = told["coverage"].as_array().unwrap();
    let broke = rows
        .iter()
        .find(|row| row["detail"].to_string().contains("watch broke"))
        .unwrap();
    assert_eq!(broke["resource"], "pods", "{broke}");
    let (from, to) = (broke["asked_from"].as_str(), broke["asked_to"].as_str());
    assert!(from.unwrap() < to.unwrap(), "{broke}");
    let Some((mut browser, base, _folder)) = file("gpt2-small-7f3", input) else {
        return;
    };
    let drawn = browser.eval(
        "(() => { const { model } = window.__picture; const lane = model.lanes.findIndex((one) => one.note.includes('gap')); \
         return [model.lanes[lane].label, model.bars.filter((bar) => bar.lane === lane).map((bar) => bar.kind), \
         model.bars.filter((bar) => bar.lane === lane && bar.kind === 'unseen').map((bar) => bar.to - bar.from)]; })()",
    );
    assert_eq!(drawn[0], "pods", "{drawn}");
    let kinds = drawn[1].as_array().unwrap();
    assert!(kinds.iter().any(|kind| kind == "read"), "{drawn}");
    let wide: Vec<f64> = drawn[2]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(serde_json::Value::as_f64)
        .collect();
    let minutes = chrono::DateTime::parse_from_rfc3339(to.unwrap()).unwrap()
        - chrono::DateTime::parse_from_rfc3339(from.unwrap()).unwrap();
    assert!(
        wide.len() == 1
            && (wide[0] - f64::from(i32::try_from(minutes.num_milliseconds()).unwrap())).abs()
                < 2.0,
        "{wide:?} {broke}"
    );
    judge(&browser.seen(), &base, "the file");
}

/// What GPUs, a machine and a queue measured while the run went, as Prometheus answers a range.
fn measured() -> serde_json::Value {
    use serde_json::json;
    let node = "gke-train-a100-pool-7c1d-0004";
    let series = |name: &str, labels: serde_json::Value, first: f64| {
        let mut metric = json!({"__name__": name});
        for (key, value) in labels.as_object().unwrap() {
            metric[key] = value.clone();
        }
        let values: Vec<_> = (0..17)
            .map(|at| json!([1_795_274_400 + at * 5, (first + f64::from(at)).to_string()]))
            .collect();
        json!({"metric": metric, "values": values})
    };
    let gpu = || json!({"Hostname": node, "gpu": "0", "namespace": "research", "pod": "gpt2-small-7f3-1-qp9zc", "node": node});
    let machine = || json!({"instance": format!("{node}:9100"), "node": node});
    json!({"status": "success", "data": {"resultType": "matrix", "result": [
        series("DCGM_FI_DEV_GPU_UTIL", gpu(), 80.0),
        series("DCGM_FI_DEV_FB_USED", gpu(), 30_000.0),
        series("DCGM_FI_DEV_FB_FREE", gpu(), 10_000.0),
        series("node_memory_MemAvailable_bytes", machine(), 40e9),
        series("node_memory_MemTotal_bytes", machine(), 85e9),
        series("scheduler_pending_pods", json!({"queue": "active"}), 3.0),
    ]}})
}

#[test]
fn what_prometheus_measured_stands_below_the_lanes() {
    let folder = tempfile::tempdir().unwrap();
    let samples = folder.path().join("prometheus.json");
    std::fs::write(&samples, measured().to_string()).unwrap();
    let page = folder.path().join("page.html");
    let (samples, page) = (samples.to_str().unwrap(), page.to_str().unwrap());
    let args = [
        "gpt2-small-7f3",
        "--from",
        LAB,
        "--from",
        samples,
        "-q",
        "--format",
        "html",
        "-o",
        page,
    ];
    let (code, _, err) = crate::whathappened(&args);
    assert_eq!(code, Some(0), "{err}");
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let base = format!("file://{page}");
    judge(&browser.open(&base), &base, &base);
    let drawn = browser.eval(
        "Object.fromEntries(window.__picture.model.curves.map((one) => [one.title, [one.points.length, one.limit]]))",
    );
    for (title, limited) in [
        ("GPU memory", true),
        ("GPU utilisation", false),
        ("Memory", true),
        ("Queue length", false),
    ] {
        assert_eq!(drawn[title][0], 17, "{title}: {drawn}");
        assert_eq!(drawn[title][1].is_number(), limited, "{title}: {drawn}");
    }
    let labels = browser
        .eval("[...document.querySelectorAll('.label.curve .name')].map((one) => one.textContent)");
    assert!(labels.to_string().contains("GPU memory"), "{labels}");
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
