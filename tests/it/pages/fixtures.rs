//! Every recording's file in a real browser, and the pages of a service over them: nothing complains, nothing
//! is asked for elsewhere, nothing is wider than the window.
//!
//! The suite opens each file once, and the pages of a service over the recordings that differ most. `.ci/pages`
//! sets `PAGES=all`: then pages are opened of all recordings, at three widths, in light and in dark, and looked at
//! by axe-core; with `SHOTS=FOLDER` it keeps a picture of each.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use base64::Engine as _;
use whathappened::case::Rules;
use whathappened::render::Format;

use super::browser::Browser;
use super::{accessible, incidents, judge};
use crate::golden;
use crate::service::Service;

/// Recordings in one service: more take longer to import than to look at.
const TOGETHER: usize = 24;

fn everything() -> bool {
    std::env::var_os("PAGES").is_some_and(|which| which == "all")
}

/// The widths and schemes at which a page is looked at.
fn looks() -> Vec<(u32, &'static str)> {
    match everything() {
        true => [390, 1280, 2560]
            .into_iter()
            .flat_map(|width| [(width, "light"), (width, "dark")])
            .collect(),
        false => vec![(390, "light")],
    }
}

/// What a telephone breaks first: words of buttons in two lines, and rows of the timeline that have to be moved to
/// be read.
const BROKEN: &str = "(() => { const told = []; \
    for (const one of document.querySelectorAll('button')) if (!one.classList.contains('label') && one.offsetHeight > 52) told.push(one.textContent); \
    for (const one of document.querySelectorAll('.scroll:has(> table.rows)')) if (one.scrollWidth > one.clientWidth + 1 && innerWidth < 640) told.push('rows'); \
    return told; })()";

/// Opens a page at all widths; what is wrong with it is said with its name.
fn open(browser: &mut Browser, base: &str, address: &str, axe: Option<&str>, what: &str) {
    for (width, scheme) in looks() {
        browser.look(width, scheme);
        let what = format!("{what} at {width} in {scheme}");
        judge(&browser.open(address), base, &what);
        let wide = browser.eval("document.documentElement.scrollWidth - innerWidth");
        assert!(
            wide.as_i64().unwrap() <= 0,
            "{what} is {wide} pixels too wide"
        );
        let broken = browser.eval(BROKEN);
        assert_eq!(broken, serde_json::json!([]), "{what}");
        if let Some(axe) = axe {
            accessible::look(browser, axe, &what);
        }
        keep(browser, &what);
    }
}

/// A picture of the page, where somebody wants to look at it.
fn keep(browser: &mut Browser, what: &str) {
    let Some(folder) = std::env::var_os("SHOTS").map(PathBuf::from) else {
        return;
    };
    let name: String = what
        .chars()
        .map(|sign| {
            if sign.is_ascii_alphanumeric() {
                sign
            } else {
                '-'
            }
        })
        .collect();
    // All of the page, not the part that is in sight; what goes on for ever is cut.
    let size = browser.eval("[innerWidth, Math.min(8000, document.documentElement.scrollHeight)]");
    let shot = browser.call(
        "Page.captureScreenshot",
        &serde_json::json!({"format": "png", "captureBeyondViewport": true,
            "clip": {"x": 0, "y": 0, "width": size[0], "height": size[1], "scale": 1}}),
    );
    let bytes = base64::engine::general_purpose::STANDARD.decode(shot["data"].as_str().unwrap());
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(format!("{name}.png")), bytes.unwrap()).unwrap();
}

/// The files of one part of all recordings.
async fn files(folder: &Path, part: usize, of: usize) -> Vec<(String, PathBuf)> {
    let rules = Arc::new(Rules::load(&[]).unwrap());
    let mut written = Vec::new();
    let fixtures = golden::fixtures().into_iter().enumerate();
    for (_, fixture) in fixtures.filter(|(at, _)| at % of == part) {
        let case = golden::case(&fixture, &rules);
        for name in golden::questions(&fixture) {
            let answer = golden::ask(&case, &name).await;
            let path = folder.join(format!("{}.html", written.len()));
            std::fs::write(&path, golden::written(&answer, Format::Html, 80)).unwrap();
            written.push((format!("{fixture} {name}"), path));
        }
    }
    written
}

/// The tests run side by side, each in its own browser.
async fn open_files(part: usize, of: usize) {
    let folder = tempfile::tempdir().unwrap();
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let axe = everything().then(accessible::axe).flatten();
    let files = files(folder.path(), part, of).await;
    assert!(files.len() > 20, "{}", files.len());
    for (what, path) in files {
        let address = format!("file://{}", path.display());
        open(&mut browser, &address, &address, axe.as_deref(), &what);
        let drawn = browser.eval(
            "document.querySelectorAll('canvas.plot').length === document.querySelectorAll('#picture').length",
        );
        assert_eq!(drawn, true, "{what}: the picture is not drawn");
    }
}

#[tokio::test]
async fn files_of_recordings_open_1() {
    open_files(0, 4).await;
}

#[tokio::test]
async fn files_of_recordings_open_2() {
    open_files(1, 4).await;
}

#[tokio::test]
async fn files_of_recordings_open_3() {
    open_files(2, 4).await;
}

#[tokio::test]
async fn files_of_recordings_open_4() {
    open_files(3, 4).await;
}

/// Opens what the service over some recordings has: every experiment, incident and machine.
fn open_pages(browser: &mut Browser, fixtures: &[String], axe: Option<&str>) -> usize {
    let inputs = fixtures.iter().flat_map(|one| golden_inputs(one));
    let inputs: Vec<String> = inputs.collect();
    let inputs: Vec<&str> = inputs.iter().map(String::as_str).collect();
    let service = Service::start(&inputs, "");
    let base = service.base();
    let all = incidents(&service, &[]);
    let text = |one: &serde_json::Value| one.as_str().map(str::to_owned);
    let mut paths = vec![
        "/".to_owned(),
        "/fleet?since=3650d".to_owned(),
        "/sql".to_owned(),
    ];
    for one in &all {
        let incident = &one["incident"];
        paths.extend(text(&incident["id"]).map(|id| format!("/i/{id}")));
        paths.extend(text(&one["experiment"]).map(|name| format!("/x/{}", in_path(&name))));
        let machines = incident["machines"].as_array().into_iter().flatten();
        let nodes = machines.filter_map(|machine| text(&machine["node"]));
        // A store finds no machine that only the list of a batch job names (dgx[01-64]).
        let nodes = nodes.filter(|node| !node.starts_with("dgx"));
        paths.extend(nodes.map(|node| format!("/node/{}", in_path(&node))));
    }
    paths.sort();
    paths.dedup();
    for path in &paths {
        open(browser, &base, &format!("{base}{path}"), axe, path);
    }
    paths.len()
}

fn golden_inputs(fixture: &str) -> Vec<String> {
    let folders = ["input", "loki"].map(|folder| format!("fixtures/{fixture}/{folder}"));
    folders
        .into_iter()
        .filter(|path| Path::new(path).exists())
        .collect()
}

fn in_path(name: &str) -> String {
    whathappened::render::in_address(name).to_string()
}

#[test]
fn pages_of_a_service_over_recordings_open() {
    let Some(mut browser) = Browser::start() else {
        return;
    };
    let axe = everything().then(accessible::axe).flatten();
    let all: Vec<String> = match everything() {
        true => golden::fixtures(),
        false => golden::DIFFER_MOST.map(str::to_owned).to_vec(),
    };
    let opened: usize = all
        .chunks(TOGETHER)
        .map(|some| open_pages(&mut browser, some, axe.as_deref()))
        .sum();
    assert!(opened > 40, "{opened}");
    println!("{opened} pages were opened");
}
