//! Answers as they are shown, in files under `snapshots/`.

use super::fixtures::{
    all, completed, dota, everything, gpt2, hostile, large, nothing, running, unknown,
};
use super::text::width;
use super::{Format, Style, answer};
use crate::answer::Answer;

fn shown(of: &Answer, format: Format, style: &Style) -> String {
    let mut out = Vec::new();
    answer(of, format, style, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn table(of: &Answer, width: usize) -> String {
    shown(
        of,
        Format::Table,
        &Style {
            width,
            ..Style::default()
        },
    )
}

#[test]
fn a_failed_run() {
    insta::assert_snapshot!(table(&gpt2(), 80));
    insta::assert_snapshot!(table(&gpt2(), 200));
}

#[test]
fn a_failed_run_explained() {
    let style = Style {
        explain: true,
        ..Style::default()
    };
    insta::assert_snapshot!(shown(&gpt2(), Format::Table, &style));
}

#[test]
fn a_failed_run_in_colour() {
    let style = Style {
        width: 100,
        color: true,
        ..Style::default()
    };
    insta::assert_snapshot!(shown(&gpt2(), Format::Table, &style));
}

#[test]
fn a_failed_run_in_ascii_and_another_zone() {
    let mut failed = gpt2();
    failed.timeline.truncate(3);
    let style = Style {
        ascii: true,
        tz: "+01:00".parse().unwrap(),
        ..Style::default()
    };
    insta::assert_snapshot!(shown(&failed, Format::Table, &style));
}

#[test]
fn a_run_that_never_started() {
    insta::assert_snapshot!(table(&dota(), 80));
}

#[test]
fn a_run_with_an_unknown_cause() {
    insta::assert_snapshot!(table(&unknown(), 80));
}

#[test]
fn a_completed_run() {
    insta::assert_snapshot!(table(&completed(), 80));
}

#[test]
fn a_running_run() {
    insta::assert_snapshot!(table(&running(), 80));
}

#[test]
fn an_unknown_name() {
    insta::assert_snapshot!(table(&nothing(), 80));
}

#[test]
fn a_large_run() {
    insta::assert_snapshot!(table(&large(), 80));
    insta::assert_snapshot!(table(&large(), 200));
    let style = Style {
        explain: true,
        timeline_limit: Some(2),
        ..Style::default()
    };
    insta::assert_snapshot!(shown(&large(), Format::Table, &style));
}

#[test]
fn everything_asked() {
    insta::assert_snapshot!(table(&everything(), 80));
    insta::assert_snapshot!(table(&everything(), 200));
}

#[test]
fn hostile_names_and_texts() {
    insta::assert_snapshot!(table(&hostile(), 80));
    insta::assert_snapshot!(shown(&hostile(), Format::Md, &Style::default()));
}

#[test]
fn markdown() {
    insta::assert_snapshot!(shown(&gpt2(), Format::Md, &Style::default()));
}

#[test]
fn no_line_is_wider_than_asked() {
    for (name, answer) in all() {
        for columns in [40, 57, 80, 120, 150, 163, 200, 400] {
            for explain in [false, true] {
                let style = Style {
                    width: columns,
                    explain,
                    ..Style::default()
                };
                for line in shown(&answer, Format::Table, &style).lines() {
                    assert!(width(line) <= columns, "{name} at {columns}: {line}");
                    assert_eq!(line, line.trim_end(), "{name} at {columns}");
                }
            }
        }
    }
}

#[test]
fn a_huge_line_costs_little() {
    let mut huge = gpt2();
    huge.timeline[6].text = "x".repeat(4_000_000);
    huge.incidents[0].summary = "y-".repeat(500_000);
    assert!(table(&huge, 80).contains("(3999400 more"));
    assert!(shown(&huge, Format::Md, &Style::default()).contains("(3999400 more"));
}

#[test]
fn colours_add_nothing_but_escapes() {
    for (name, answer) in all() {
        for width in [80, 200] {
            let plain = table(&answer, width);
            let style = Style {
                width,
                color: true,
                ..Style::default()
            };
            let coloured = shown(&answer, Format::Table, &style);
            let stripped = anstream::adapter::strip_str(&coloured).to_string();
            assert!(
                stripped.lines().map(str::trim_end).eq(plain.lines()),
                "{name} at {width}"
            );
            assert!(!plain.contains('\u{1b}'), "{name}");
        }
    }
}

#[test]
fn names_are_whole_where_they_fit() {
    for width in [80, 200] {
        let shown = table(&gpt2(), width);
        let names = shown.matches("gke-train-a100-pool-7c1d-0004").count();
        assert_eq!(
            names,
            table(&gpt2(), 1_000)
                .matches("gke-train-a100-pool-7c1d-0004")
                .count()
        );
    }
}

#[test]
fn json_reads_back() {
    for (name, answer) in all() {
        let json = shown(&answer, Format::Json, &Style::default());
        let value: serde_json::Value = serde_json::from_str(&json).unwrap();
        // Through text as well: without `float_roundtrip` a number may read back an ulp away.
        let plain = serde_json::to_string(&answer).unwrap();
        assert_eq!(
            value,
            serde_json::from_str::<serde_json::Value>(&plain).unwrap(),
            "{name}"
        );
        assert!(
            json.ends_with("}\n") && !json.contains(['\u{1b}', '\u{9b}', '\u{202e}']),
            "{name}"
        );
    }
}

#[test]
fn ndjson_holds_the_same() {
    let answer = gpt2();
    let lines = shown(&answer, Format::Ndjson, &Style::default());
    let mut kinds: Vec<String> = Vec::new();
    for line in lines.lines() {
        let value: serde_json::Value = serde_json::from_str(line).unwrap();
        kinds.push(value["type"].as_str().unwrap().to_owned());
    }
    assert_eq!(kinds.len(), 1 + 1 + 1 + 7 + 13);
    kinds.dedup();
    assert_eq!(kinds, ["answer", "run", "incident", "coverage", "timeline"]);
    let first: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    let mut whole = serde_json::to_value(&answer).unwrap();
    for list in ["runs", "incidents", "coverage", "timeline"] {
        whole.as_object_mut().unwrap().remove(list);
    }
    whole["type"] = "answer".into();
    assert_eq!(first, whole);
}

#[test]
fn csv_is_the_timeline() {
    insta::assert_snapshot!(shown(&hostile(), Format::Csv, &Style::default()));
    let lines = shown(&large(), Format::Csv, &Style::default());
    assert_eq!(lines.lines().count(), 3_001);
}

#[test]
fn the_same_answer_gives_the_same_bytes() {
    for format in Format::ALL {
        let bytes = |_| {
            let mut out = Vec::new();
            answer(&large(), format, &Style::default(), &mut out).unwrap();
            out
        };
        assert_eq!(bytes(0), bytes(1), "{format}");
    }
}

#[test]
fn a_nodes_history() {
    let shown = |width: usize| {
        let style = Style {
            width,
            ..Style::default()
        };
        let mut out = Vec::new();
        super::node(&super::fixtures::node(), Format::Table, &style, &mut out).unwrap();
        String::from_utf8(out).unwrap()
    };
    insta::assert_snapshot!(shown(80));
    insta::assert_snapshot!(shown(140));
}
