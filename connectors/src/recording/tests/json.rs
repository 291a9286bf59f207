//! Every form of JSON.

use super::*;

#[test]
fn every_form_of_json_gives_its_records() {
    let pretty =
        serde_json::to_string_pretty(&serde_json::from_str::<serde_json::Value>(B).unwrap())
            .unwrap();
    for text in [
        format!("{A}\n{B}\n"),
        format!("{A}\r\n\r\n{B}"),
        format!("\u{feff}{A}{B}"),
        format!("{pretty}\n{A}\n")
            .replace("\"b\"", "\"a\"")
            .replacen(A, B, 1),
        format!("[{A},\n {B}]"),
        format!("[[{A}],[{B}]]"),
        format!(r#"{{"kind":"List","items":[{A},{B}]}}"#),
        format!("{{\"items\" : [\n{A},\n{B}\n], \"kind\": \"List\"}}\n"),
        format!(r#"{{"items":[{{"items":[{A}]}},{B}]}}"#),
    ] {
        let (summary, seen) = one(text.as_bytes());
        assert_eq!(names(&seen), ["a", "b"], "{text}");
        assert_eq!(summary.total.status, FileStatus::Complete, "{text}");
        assert_eq!(
            (summary.total.records, summary.total.rejected),
            (2, 0),
            "{text}"
        );
        assert_eq!(
            summary.total.bytes,
            text.trim_start_matches('\u{feff}').len() as u64
        );
    }
}

#[test]
fn items_are_told_the_kind_of_their_list() {
    let (_, seen) = one(format!(r#"{{"kind":"PodList","items":[{A}]}}"#).as_bytes());
    assert_eq!(kinds(&seen), [Some("PodList")]);
    let (_, seen) = one(format!(r#"{{"items":[{A}],"kind":"PodList"}}"#).as_bytes());
    assert_eq!(kinds(&seen), [None]);
}

#[test]
fn watch_lines_stay_whole_and_know_their_line() {
    let (_, seen) = one(format!(
        "\n{{\"type\":\"ADDED\",\"object\":{A}}}\n{{\"type\":\"DELETED\",\"object\":{A}}}"
    )
    .as_bytes());
    assert_eq!(
        seen,
        [
            ("ADDED".to_owned(), None, 2),
            ("DELETED".to_owned(), None, 3)
        ]
    );
}

#[test]
fn the_summary_is_the_same_whatever_the_number_of_workers() {
    let text: String = (0..50_000)
        .map(|n| format!("{A}\n{{\"bad\":{n}\n"))
        .collect();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("given");
    fs::write(&path, text).unwrap();
    let (one, _) = records(
        std::slice::from_ref(&path),
        &Options {
            workers: 1,
            ..options()
        },
    );
    let (many, _) = records(
        &[path],
        &Options {
            workers: 7,
            ..options()
        },
    );
    assert_eq!(one, many);
    assert_eq!((one.total.rejected, one.rejected.len()), (50_000, 200));
}

#[test]
fn arrays_that_wrap_records_are_taken_apart() {
    for key in ["Records", "value", "entries", "Events"] {
        let (summary, seen) =
            one(format!("{{\"next\":1,\"{key}\":[{A},\n{B}],\"x\":{{}}}}").as_bytes());
        assert_eq!(names(&seen), ["a", "b"], "{key}");
        assert_eq!(summary.total.status, FileStatus::Complete, "{key}");
        let lines: Vec<u64> = seen.iter().map(|(_, _, line)| *line).collect();
        assert_eq!(lines, [1, 2]);
    }
}

#[test]
fn a_saved_answer_of_prometheus_is_one_record() {
    let samples: Vec<String> = (0..12)
        .map(|at| format!(r#"[{},"{}"]"#, 1_776_598_800 + at * 60, at * 50))
        .collect();
    let series = format!(
        r#"{{"metric":{{"__name__":"node_pressure_cpu_waiting_seconds_total","node":"gpu-a1"}},"values":[{}]}}"#,
        samples.join(",")
    );
    let answer =
        format!(r#"{{"status":"success","data":{{"resultType":"matrix","result":[{series}]}}}}"#);
    let pretty =
        serde_json::to_string_pretty(&serde_json::from_str::<serde_json::Value>(&answer).unwrap())
            .unwrap();
    for text in [answer, pretty] {
        let (summary, _) = one(text.as_bytes());
        let total = &summary.total;
        assert_eq!((total.records, total.irrelevant, total.rejected), (1, 0, 0));
    }
}
