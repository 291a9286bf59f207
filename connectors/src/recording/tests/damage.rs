//! What is too large, cut off or broken.

use super::*;

#[test]
fn bad_lines_are_counted_with_line_and_reason_and_the_rest_is_used() {
    let text = format!(
        "{A}\n{{\"kind\":\"Pod\",\"metadata\":{{\"na\n{B}\nhello\n{{\"kind\":\n{{\"a\":1}}\n{A}\n"
    );
    let (summary, seen) = one(text.as_bytes());
    assert_eq!(names(&seen), ["a", "b", "?", "a"]);
    let lines: Vec<u64> = summary
        .rejected
        .iter()
        .map(|rejected| rejected.origin.line)
        .collect();
    assert_eq!(lines, [2, 4, 5]);
    assert_eq!(summary.total.rejected, 3);
    assert_eq!(summary.total.status, FileStatus::Complete);
}

#[test]
fn a_cut_off_list_gives_what_was_readable() {
    let text = format!("{{\"kind\":\"PodList\",\"items\":[\n{A},\n{B},\n{{\"kind\":\"Pod\",\"meta");
    let (summary, seen) = one(text.as_bytes());
    assert_eq!(names(&seen), ["a", "b"]);
    assert!(
        matches!(&summary.files[0].status, FileStatus::Truncated(why) if why.contains("line 4")),
        "{summary:?}"
    );
    assert_eq!(summary.rejected[0].origin.line, 4);
}

#[test]
fn one_bad_item_of_a_printed_list_does_not_cost_the_others() {
    let text = format!(
        "{{\n  \"items\": [\n    {A},\n    {{\n      \"a\": \"x\n    }},\n    {B}\n  ]\n}}\n{A}"
    );
    let (summary, seen) = one(text.as_bytes());
    assert_eq!(names(&seen), ["a", "b", "a"]);
    assert_eq!(summary.total.rejected, 1);
}

#[test]
fn a_huge_record_is_turned_away_and_reading_goes_on() {
    let options = Options {
        max_record_bytes: 1 << 20,
        ..options()
    };
    let long = "x".repeat(20 << 20);
    for huge in [
        format!("{{\"kind\":\"Pod\",\"x\":\"{long}\"}}"),
        format!("{{\"kind\":\"Pod\",\"x\":\"{long}"),
        format!("{{\"kind\":\"Pod\",\"x\":{}", "[".repeat(100)),
        long.clone(),
    ] {
        let (summary, seen) = one_with(format!("{A}\n{huge}\n{B}\n").as_bytes(), &options);
        assert_eq!(names(&seen), ["a", "b"]);
        assert_eq!(summary.total.rejected, 1);
        assert_eq!(summary.rejected[0].origin.line, 2);
    }
    let (summary, seen) = one_with(
        format!("{{\"items\":[{A},{{\"x\":\"{long}\"}},{B}]}}").as_bytes(),
        &options,
    );
    assert_eq!(names(&seen), ["a", "b"]);
    assert_eq!(summary.total.rejected, 1);
}

/// 200 MB without a line end, never on disk.
struct Endless {
    left: usize,
    start: &'static [u8],
    end: &'static [u8],
}

impl std::io::Read for Endless {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        for part in [&mut self.start, &mut self.end] {
            if !part.is_empty() {
                let n = part.len().min(into.len());
                into[..n].copy_from_slice(&part[..n]);
                *part = &part[n..];
                return Ok(n);
            }
            if self.left > 0 {
                let n = self.left.min(into.len());
                into[..n].fill(b'x');
                self.left -= n;
                return Ok(n);
            }
        }
        Ok(0)
    }
}

#[test]
fn a_line_of_200_mb_costs_no_memory() {
    let options = Options {
        workers: 1,
        max_record_bytes: 1 << 20,
        ..options()
    };
    for start in [
        &b"{\"kind\":\"Pod\"}\n{\"a\":\""[..],
        b"{\"kind\":\"Pod\"}\nxx",
        b"hello\n",
    ] {
        let (to, from) = std::sync::mpsc::sync_channel(64);
        let mut feed = feed::Feed::new(&[], &options, vec![to], Default::default());
        let mut endless = Endless {
            left: 200 << 20,
            start,
            end: b"\n{\"kind\":\"Pod\"}\n",
        };
        let meter = guard::UnpackMeter::new(&options, std::sync::Arc::default());
        let layer = open::Layer {
            name: "x",
            packed_in: Vec::new(),
            depth: 0,
            file: None,
            meter,
        };
        open::open(layer, &mut endless, &mut feed);
        let files = feed.finish();
        let batches: Vec<batch::Batch> = from.try_iter().collect();
        let held: usize = batches.iter().map(|batch| batch.bytes.len()).sum();
        assert!(held < 4 << 20, "{held}");
        assert_eq!(
            batches
                .iter()
                .map(|batch| batch.tally.rejected)
                .sum::<u64>(),
            1
        );
        assert!(
            batches
                .iter()
                .any(|batch| batch.bytes.ends_with(b"{\"kind\":\"Pod\"}\n")
                    || batch.bytes.ends_with(b"{\"kind\":\"Pod\"}"))
        );
        assert!(files[0].bytes > 200 << 20);
    }
}

/// Damage of every kind must end in a summary, never in a panic or a hang.
#[test]
fn damaged_input_does_no_harm() {
    let yaml = "apiVersion: v1\nitems:\n- kind: Pod\n  metadata:\n    name: a\n- kind: Pod\n";
    let list = format!("{{\"kind\":\"List\",\"items\":[\n  {A},\n  {B}\n]}}\n{A}\n");
    let loki = r#"{"status":"success","data":{"resultType":"streams","result":[{"stream":{"pod":"p"},"values":[["1795274427000000346","Traceback (most recent call last):",{}]]}]}}"#;
    let log = "2026-11-21T15:20:39.1Z stdout P [rank0]: \u{1b}[31mTraceback (most recent call last):\n{\"log\":\"x\\n\",\"time\":\"2026-11-21T15:20:39Z\"}\nE1121 15:21:00.350808 1 f.go:1] password=\"x\" token: y\n[rank0]:   File \"a\", line 1, in b\nNov 21 15:20:27 é\n";
    let samples: Vec<Vec<u8>> = vec![
        yaml.into(),
        list.clone().into_bytes(),
        loki.into(),
        log.into(),
        gzip(list.as_bytes()),
        tar(&[
            ("a", list.as_bytes()),
            ("b/atari-dqn-42-0-mc2jd.log", log.as_bytes()),
        ]),
        zip(&[("a", list.as_bytes()), ("b", yaml.as_bytes())]),
        zstd::encode_all(list.as_bytes(), 1).unwrap(),
    ];
    let options = Options {
        max_record_bytes: 64,
        max_line_bytes: 128,
        max_document_bytes: 256,
        ..options()
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("given");
    let mut state = 7_u64;
    let mut random = move |below: usize| {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        usize::try_from(state >> 33).unwrap_or(0) % below
    };
    for round in 0..600 {
        let mut damaged = samples[round % samples.len()].clone();
        for _ in 0..=random(4) {
            let at = random(damaged.len());
            match random(4) {
                0 => damaged[at] = u8::try_from(random(256)).unwrap(),
                1 => damaged[at] = b"{}[]\"\\\n:, -'\x1b"[random(13)],
                2 => damaged.truncate(at.max(1)),
                _ => {
                    let copied = damaged[at..].to_vec();
                    damaged.extend(copied);
                }
            }
        }
        fs::write(&path, &damaged).unwrap();
        for limits in [
            &options,
            &Options {
                workers: 1,
                ..self::options()
            },
        ] {
            let _summary = read(
                &[Input::Path(path.clone())],
                limits,
                &mut Collected::default(),
            );
        }
    }
}

#[test]
fn a_mistake_in_a_decoder_costs_one_record() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("given");
    fs::write(&path, format!("{A}\n{B}\n{A}\n")).unwrap();
    let decode = |json: &[u8], _: Option<&str>, _: &Origin, _: &mut Vec<Observation>| {
        assert!(!json.ends_with(B.as_bytes()), "a mistake");
        Ok(())
    };
    let summary = read_with(
        &[Input::Path(path)],
        &options(),
        &decode,
        &mut Collected::default(),
    );
    assert_eq!((summary.total.records, summary.total.rejected), (3, 1));
    assert_eq!(summary.rejected[0].origin.line, 2);
}
