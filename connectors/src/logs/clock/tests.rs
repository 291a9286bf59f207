//! Times in every form that lines write them.

use super::*;
use crate::time::rfc3339;

fn shown(text: &str) -> String {
    match leading(text) {
        None => "none".to_owned(),
        Some((Clock::Full(stamp), end)) => format!("{} {}", rfc3339(stamp.lo), &text[end..]),
        Some((Clock::NoZone(stamp), end)) => format!("~{} {}", rfc3339(stamp.lo), &text[end..]),
        Some((
            Clock::NoYear {
                month,
                day,
                nanos,
                width,
            },
            end,
        )) => {
            let stamp = in_year(2026, month, day, nanos, width).unwrap();
            format!("?{} {}", rfc3339(stamp.lo), &text[end..])
        }
    }
}

#[test]
fn times_are_read_in_every_form() {
    for (text, want) in [
        (
            "2026-11-21T15:20:39.123456789Z x",
            "2026-11-21T15:20:39.123456789Z  x",
        ),
        ("2026-11-21T16:20:39+01:00 x", "2026-11-21T15:20:39Z  x"),
        (
            "[2025-12-18 20:27:22 +0000] [1]",
            "2025-12-18T20:27:22Z ] [1]",
        ),
        (
            "2025-12-18 20:27:22,783 INFO",
            "~2025-12-18T20:27:22.783Z  INFO",
        ),
        (
            "[2025-12-18 20:27:22,783] [INFO]",
            "~2025-12-18T20:27:22.783Z ] [INFO]",
        ),
        ("2026/11/21 15:20:39 x", "~2026-11-21T15:20:39Z  x"),
        (
            "11/21/2026 15:20:39 - INFO - x",
            "~2026-11-21T15:20:39Z  - INFO - x",
        ),
        ("21/11/2026 15:20:39 x", "~2026-11-21T15:20:39Z  x"),
        (
            "[11/21/26 15:20:39] INFO x",
            "~2026-11-21T15:20:39Z ] INFO x",
        ),
        ("11/21/26 of 15:20:39", "none"),
        (
            "[titan] 2026-11-21 15:20:39,123 - root - INFO - step: 1",
            "~2026-11-21T15:20:39.123Z  - root - INFO - step: 1",
        ),
        ("[12] 2026-11-21 15:20:39 x", "none"),
        ("[titan] 2026 steps", "none"),
        (
            "[11/21 15:20:27 d2.engine]: eta",
            "?2026-11-21T15:20:27Z  d2.engine]: eta",
        ),
        ("2026-08-10_15:46:36", "~2026-08-10T15:46:36Z "),
        (
            "E1121 15:21:00.350808 1 f.go:1]",
            "?2026-11-21T15:21:00.350808Z  1 f.go:1]",
        ),
        (
            "[E810 15:36:05.945860779 P.cpp:6]",
            "?2026-08-10T15:36:05.945860779Z  P.cpp:6]",
        ),
        (
            "INFO 11-21 15:20:27 llm.py:1]",
            "?2026-11-21T15:20:27Z  llm.py:1]",
        ),
        ("ERROR: 2026-11-21 15:20:27 x", "~2026-11-21T15:20:27Z  x"),
        ("Aug 10 15:36:05 host", "?2026-08-10T15:36:05Z  host"),
        ("Aug  1 15:36:05 host", "?2026-08-01T15:36:05Z  host"),
        (
            "[Sun Feb 23 16:24:18 2025] NVRM",
            "~2025-02-23T16:24:18Z ] NVRM",
        ),
        (
            " [2026-11-21 15:20:27] iteration 1",
            "~2026-11-21T15:20:27Z ] iteration 1",
        ),
        (
            "[INFO|trainer.py:12] 2026-11-21 15:20:27,5 >> x",
            "~2026-11-21T15:20:27.500Z  >> x",
        ),
        (
            "[WARNING|2026-11-21 15:20:27] x",
            "~2026-11-21T15:20:27Z ] x",
        ),
        (
            "[I 2026-11-21 15:20:27,783] Trial 4 finished",
            "~2026-11-21T15:20:27.783Z ] Trial 4 finished",
        ),
        (
            "[NeMo I 2026-11-21 15:20:27 nemo:1] x",
            "~2026-11-21T15:20:27Z  nemo:1] x",
        ),
        ("26/11/21 15:20:27 INFO x", "~2026-11-21T15:20:27Z  INFO x"),
        (
            "10.0.0.1 - - [21/Nov/2026:16:20:27 +0100] \"GET /\"",
            "2026-11-21T15:20:27Z ] \"GET /\"",
        ),
        ("1795274427.5 x", "2026-11-21T15:20:27.500Z  x"),
        ("[1795274427] x", "2026-11-21T15:20:27Z ] x"),
        ("1795274427500 x", "2026-11-21T15:20:27.500Z  x"),
        (
            "I0000 00:00:1795274427.500000 7 f.cc:1] x",
            "2026-11-21T15:20:27.500Z  7 f.cc:1] x",
        ),
        (
            "E20261121 15:20:27.5 7 f.cc:1] x",
            "~2026-11-21T15:20:27.500Z  7 f.cc:1] x",
        ),
        ("Sat Nov 21 15:20:27 UTC 2026", "2026-11-21T15:20:27Z "),
        ("Sat Nov 21 15:20:27 CEST 2026", "~2026-11-21T15:20:27Z "),
    ] {
        assert_eq!(shown(text), want, "{text}");
    }
    for text in [
        "",
        "[",
        "Info",
        "E1",
        "I9999 15:21:00",
        "2026-13-01 00:00:00",
        "2026-11-21",
        "1: x",
        "é",
        "INFO",
        "INFO é",
        "1795274427 bytes read",
        "[155044.078590] NVRM",
        "9999999999.5 x",
        "[INFO|x",
    ] {
        assert_eq!(shown(text), "none", "{text}");
    }
}

#[test]
fn epochs_are_told_apart_by_size() {
    let want = Stamp::parse("2026-11-21T15:20:27.5Z").unwrap().lo;
    for text in [
        "1795274427.5",
        "1795274427500",
        "1795274427500000",
        "1795274427500000000",
    ] {
        assert_eq!(epoch(text).unwrap().lo, want, "{text}");
    }
    assert_eq!(epoch("12"), None);
}

#[test]
fn a_heading_tells_the_year() {
    assert_eq!(
        mentioned_year("-- Logs begin at Tue 2021-08-03 09:10:29 UTC"),
        Some(2021)
    );
    assert_eq!(mentioned_year("x2021-08-03 20"), None);
}

#[test]
fn a_time_at_a_place_of_its_own_is_found() {
    for text in [
        "[before the start of training step] datetime: 2026-11-21 15:20:27 ",
        "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT 2026-11-21T15:20:27 DUE TO TIME LIMIT ***",
    ] {
        let want = Stamp::parse("2026-11-21T15:20:27Z").map(Clock::NoZone);
        assert_eq!(within(text), want, "{text}");
    }
    assert_eq!(within("saved at 2026-11-21 15:20:27"), None);
}
