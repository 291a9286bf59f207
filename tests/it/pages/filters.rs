//! What a reader leaves out of the picture: lanes of other kinds, and records of other sources.

use serde_json::json;

use super::{LAB, judge, timeline};

#[test]
fn lanes_and_sources_are_chosen() {
    let Some((mut browser, base, _folder)) = timeline::file("gpt2-small-7f3", LAB) else {
        return;
    };
    browser.look(1280, "light");
    let choose = |browser: &mut super::Browser, what: &str, value: &str| {
        browser.eval(&format!(
            "(() => {{ const one = document.getElementById('{what}'); one.value = '{value}'; \
             one.dispatchEvent(new Event('input', {{ bubbles: true }})); }})()"
        ));
    };
    let groups =
        "[...document.querySelectorAll('.label.group .name')].map((one) => one.textContent)";
    let all = browser.eval(groups);
    assert!(all.as_array().unwrap().len() > 3, "{all}");
    choose(&mut browser, "lane", "pods");
    browser.until(&format!(
        "{groups}.length < {}",
        all.as_array().unwrap().len()
    ));
    let left = browser.eval(groups);
    assert!(
        left.as_array().unwrap().contains(&json!("Ranks and pods")),
        "{left}"
    );
    assert!(
        !left
            .as_array()
            .unwrap()
            .contains(&json!("Nodes and machines")),
        "{left}"
    );
    choose(&mut browser, "lane", "");
    browser.until(&format!(
        "{groups}.length === {}",
        all.as_array().unwrap().len()
    ));
    // Every source that the page offers leaves its own rows, and no others.
    let sources = browser.eval("[...document.getElementById('source').options].map((one) => one.value).filter((one) => one)");
    let sources = sources.as_array().unwrap().clone();
    assert!(sources.len() > 1, "{sources:?}");
    let rows = "[...document.querySelectorAll('table.rows tbody tr[id]')]";
    let most = browser.eval(&format!("{rows}.length")).as_u64().unwrap();
    for source in sources {
        let source = source.as_str().unwrap();
        choose(&mut browser, "source", source);
        let shown = browser.eval(&format!(
            "{rows}.filter((one) => !one.hidden).map((one) => one.dataset.by)"
        ));
        let shown = shown.as_array().unwrap();
        assert!(
            !shown.is_empty() && shown.len() as u64 <= most,
            "{source}: {shown:?}"
        );
        assert!(
            shown
                .iter()
                .all(|by| by.as_str().unwrap().split(' ').any(|one| one == source)),
            "{source}: {shown:?}"
        );
        // What is left out is faint in the picture.
        let fits = browser.eval(
            "window.__picture.model.marks.filter((one) => window.__picture.fits(one)).length",
        );
        assert!(fits.as_u64().unwrap() > 0, "{source}");
    }
    judge(&browser.seen(), &base, "the file");
}
