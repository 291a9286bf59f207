//! What pages say of what they show.

use super::super::fixtures::{everything, gpt2, short};
use super::super::{Format, Style, answer};
use super::tests::{model, page};
use crate::answer::Answer;

#[test]
fn a_run_that_is_well_has_no_root_and_is_shown_whole() {
    let mut told = gpt2();
    let main = told.incidents.first_mut().unwrap();
    main.cause = "none.completed".to_owned();
    main.chain.clear();
    let page = page(&told);
    let model = model(&page);
    assert_eq!(model["root"], serde_json::Value::Null);
    assert_eq!(model["window"], model["whole"]);
    assert!(page.contains("The picture shows all that is known."));
    assert!(!page.contains("dashed line"));
    assert!(!page.contains("<option value=\"root\">"));
}

#[test]
fn a_cause_that_nobody_knows_is_not_called_one() {
    let mut told = gpt2();
    assert!(page(&told).contains("around the root cause"));
    told.incidents.first_mut().unwrap().cause = "unknown".to_owned();
    assert!(page(&told).contains("around what went wrong first"));
}

#[test]
fn the_legend_has_what_the_picture_has() {
    let page = page(&gpt2());
    let legend = page.split("<ul class=\"legend\">").nth(1).unwrap();
    let legend = legend.split("</ul>").next().unwrap();
    let model = model(&page);
    for (kind, words) in [
        ("maintenance", "maintenance"),
        ("stuck", "stuck"),
        ("running", "running"),
        ("read", "from the first to the last record"),
    ] {
        let bars = model["bars"].as_array().unwrap();
        let has = bars.iter().any(|bar| bar[4] == kind);
        assert_eq!(legend.contains(words), has, "{kind}: {legend}");
    }
}

#[test]
fn whoever_asked_for_a_machine_reads_its_name() {
    let told = Answer {
        machine: Some("gpu-7".to_owned()),
        ..everything()
    };
    let page = page(&told);
    assert!(
        page.contains("<title>gpu-7: what happened</title>"),
        "{page}"
    );
    let head = page.split("<h1>").nth(1).unwrap();
    assert!(head.split("</h1>").next().unwrap().contains("gpu-7"));
    for format in [Format::Table, Format::Md] {
        let mut out = Vec::new();
        answer(&told, format, &Style::default(), &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.lines().next().unwrap().contains("gpu-7"), "{text}");
    }
    let card = super::super::card(&told, &super::super::Card::default());
    assert!(card.fallback().contains("gpu-7"), "{}", card.fallback());
}

#[test]
fn columns_that_nobody_fills_are_left_out() {
    let mut told = gpt2();
    told.coverage = vec![short(
        "cloud",
        "activity",
        "not_configured",
        None,
        "maintenance",
    )];
    let page = page(&told);
    let missing = page.split("aria-label=\"Missing data\"").nth(1).unwrap();
    let missing = missing.split("</table>").next().unwrap();
    assert!(missing.contains("Would have shown"), "{missing}");
    assert!(!missing.contains(">From<"), "{missing}");
}
