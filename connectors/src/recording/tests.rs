//! Whole inputs through the front door.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use super::*;
use crate::event::Origin;
use crate::observation::{Observation, Rejection};

/// Keeps what arrives.
#[derive(Default)]
pub(super) struct Kept(pub(super) Vec<Observation>);

impl Sink for Kept {
    fn observe(&mut self, observations: Vec<Observation>) {
        self.0.extend(observations);
    }
}

type Seen = Vec<(String, Option<String>, u64)>;

fn options() -> Options {
    Options {
        workers: 2,
        ..Options::default()
    }
}

/// Reads paths with a decoder that notes each record.
fn records(paths: &[PathBuf], options: &Options) -> (Summary, Seen) {
    let seen = Mutex::new(Vec::new());
    let decode = |json: &[u8], kind: Option<&str>, origin: &Origin, _: &mut Vec<Observation>| {
        let Ok(value) = serde_json::from_slice::<serde_json::Value>(json) else {
            return Err(Rejection::Malformed("not JSON".to_owned()));
        };
        let name = value
            .pointer("/metadata/name")
            .or(value.get("type"))
            .cloned()
            .unwrap_or_default();
        let name = name.as_str().unwrap_or("?").to_owned();
        seen.lock()
            .unwrap()
            .push((name, kind.map(str::to_owned), origin.line));
        Ok(())
    };
    let inputs: Vec<Input> = paths.iter().cloned().map(Input::Path).collect();
    let summary = read_with(&inputs, options, &decode, &mut Kept::default());
    let mut seen = seen.into_inner().unwrap();
    seen.sort_by(|a, b| (a.2, &a.0).cmp(&(b.2, &b.0)));
    (summary, seen)
}

fn one(content: &[u8]) -> (Summary, Seen) {
    one_with(content, &options())
}

fn one_with(content: &[u8], options: &Options) -> (Summary, Seen) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("given");
    fs::write(&path, content).unwrap();
    records(&[path], options)
}

fn names(seen: &Seen) -> Vec<&str> {
    seen.iter().map(|(name, ..)| name.as_str()).collect()
}

fn gzip(content: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    encoder.write_all(content).unwrap();
    encoder.finish().unwrap()
}

fn tar(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut builder = tar::Builder::new(Vec::new());
    for (name, content) in members {
        let mut header = tar::Header::new_gnu();
        header.set_size(content.len() as u64);
        header.set_mode(0o644);
        builder.append_data(&mut header, name, *content).unwrap();
    }
    builder.into_inner().unwrap()
}

fn zip(members: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, content) in members {
        writer
            .start_file(*name, zip::write::SimpleFileOptions::default())
            .unwrap();
        writer.write_all(content).unwrap();
    }
    writer.finish().unwrap().into_inner()
}

const A: &str = r#"{"kind":"Pod","metadata":{"name":"a"}}"#;
const B: &str = r#"{"kind":"Pod","metadata":{"name":"b","annotations":{"x":"}{\"],["}}}"#;

fn kinds(seen: &Seen) -> Vec<Option<&str>> {
    seen.iter().map(|(_, kind, _)| kind.as_deref()).collect()
}

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

#[test]
fn packed_forms_are_opened_whatever_their_name() {
    let plain = format!("{A}\n{B}\n");
    let inner = tar(&[
        ("x/a.json", A.as_bytes()),
        ("empty", b""),
        ("b", B.as_bytes()),
    ]);
    let members: &[(&str, &[u8])] = &[
        ("a", A.as_bytes()),
        ("deep.tgz", &gzip(&tar(&[("b", B.as_bytes())]))),
    ];
    let utf16 = |bom: [u8; 2], unit: fn(u16) -> [u8; 2]| {
        let mut bytes = bom.to_vec();
        bytes.extend(plain.encode_utf16().flat_map(unit));
        bytes
    };
    for packed in [
        gzip(plain.as_bytes()),
        [gzip(A.as_bytes()), gzip(B.as_bytes())].concat(),
        zstd::encode_all(plain.as_bytes(), 1).unwrap(),
        inner.clone(),
        gzip(&inner),
        zstd::encode_all(inner.as_slice(), 1).unwrap(),
        zip(members),
        gzip(&zip(members)),
        tar(&[("z", &zip(members))]),
        utf16([0xff, 0xfe], u16::to_le_bytes),
        utf16([0xfe, 0xff], u16::to_be_bytes),
        gzip(&gzip(plain.as_bytes())),
    ] {
        let (summary, seen) = one(&packed);
        let mut found = names(&seen);
        found.sort_unstable();
        assert_eq!(found, ["a", "b"], "{summary:?}");
        assert_eq!(summary.total.status, FileStatus::Complete, "{summary:?}");
    }
}

#[test]
fn members_are_named_after_their_archive() {
    let (summary, _) = one(&gzip(&tar(&[("./x/a.json", A.as_bytes())])));
    let shown: Vec<(&str, &str)> = summary
        .files
        .iter()
        .map(|file| {
            (
                file.name
                    .rsplit('/')
                    .next_back()
                    .map_or("", |_| &*file.name),
                file.form.as_str(),
            )
        })
        .collect();
    assert!(
        shown[0].0.ends_with("given") && shown[0].1 == "gzip, tar archive",
        "{shown:?}"
    );
    assert!(
        shown[1].0.ends_with("given!x/a.json") && shown[1].1 == "JSON",
        "{shown:?}"
    );
}

#[test]
fn what_is_cut_off_while_packed_gives_what_was_readable() {
    let mut state = 1_u64;
    let many: String = (0..20_000)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            format!("{{\"kind\":\"Pod\",\"metadata\":{{\"name\":\"{state}\"}}}}\n")
        })
        .collect();
    for packed in [
        gzip(many.as_bytes()),
        zstd::encode_all(many.as_bytes(), 1).unwrap(),
        tar(&[("a", many.as_bytes())]),
        gzip(&tar(&[("a", many.as_bytes())])),
    ] {
        let (summary, seen) = one(&packed[..packed.len() * 3 / 4]);
        assert!(seen.len() > 5_000, "{summary:?}");
        assert!(
            matches!(summary.total.status, FileStatus::Truncated(_)),
            "{summary:?}"
        );
    }
    let (summary, _) = one(&zip(&[("a", many.as_bytes())])[..1000]);
    assert!(
        matches!(summary.total.status, FileStatus::Failed(_)),
        "{summary:?}"
    );
}

#[test]
fn a_bomb_is_stopped_and_what_came_before_is_kept() {
    let options = Options {
        bomb_floor_bytes: 4 << 20,
        ..options()
    };
    let filler = format!("{A}\n").repeat(2_000_000);
    let (summary, seen) = one_with(&zstd::encode_all(filler.as_bytes(), 3).unwrap(), &options);
    assert!(
        seen.len() > 50_000 && seen.len() < 1_000_000,
        "{}",
        seen.len()
    );
    assert!(
        matches!(&summary.files[0].status, FileStatus::Truncated(why) if why.contains("bomb")),
        "{summary:?}"
    );

    let options = Options {
        max_total_bytes: 1 << 20,
        ..self::options()
    };
    let (summary, _) = one_with(&gzip(filler.as_bytes()), &options);
    assert!(
        matches!(&summary.files[0].status, FileStatus::Truncated(why) if why.contains("cap")),
        "{summary:?}"
    );

    let mut nested = A.as_bytes().to_vec();
    for _ in 0..8 {
        nested = tar(&[("x", &nested)]);
    }
    let (summary, seen) = one(&nested);
    assert!(seen.is_empty());
    assert!(matches!(&summary.total.status, FileStatus::Failed(why) if why.contains("too deep")));
}

#[test]
fn yaml_lists_and_documents_are_taken_apart() {
    let yaml = "apiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: a\n    annotations:\n      x: |\n        - kind: Fake\n        ---x\n- kind: Pod\n  metadata:\n    name: b\nkind: List\nmetadata: {}\n---\nkind: PodList\napiVersion: v1\nitems:\n  - metadata:\n      name: c\n      list:\n      - x\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: d}\n---\n---\n{apiVersion: v1, kind: List, items: [{metadata: {name: e}}]}\n";
    let (summary, seen) = one(yaml.as_bytes());
    assert_eq!(names(&seen), ["a", "b", "c", "d", "e"], "{summary:?}");
    assert_eq!(
        kinds(&seen),
        [None, None, Some("PodList"), None, Some("List")]
    );
    assert_eq!(
        seen.iter().map(|(.., line)| *line).collect::<Vec<_>>(),
        [3, 11, 20, 25, 30]
    );
    assert_eq!(summary.total.status, FileStatus::Complete);
}

#[test]
fn yaml_that_is_too_large_or_broken_is_turned_away_alone() {
    let options = Options {
        max_record_bytes: 1 << 16,
        max_document_bytes: 1 << 16,
        ..options()
    };
    let long = "x".repeat(1 << 20);
    let yaml = format!(
        "apiVersion: v1\nitems:\n- kind: Pod\n  x: {long}\n- metadata:\n    name: a\n- [\n- metadata: {{name: b}}\n---\napiVersion: v1\nz: {long}\n---\nmetadata: {{name: c}}\n"
    );
    let (summary, seen) = one_with(yaml.as_bytes(), &options);
    assert_eq!(names(&seen), ["a", "b", "c"], "{summary:?}");
    assert_eq!(summary.total.rejected, 3, "{summary:?}");
}

#[test]
fn folders_are_read_in_name_order_and_loops_are_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("sub")).unwrap();
    fs::write(folder.path().join("b.json"), B).unwrap();
    fs::write(folder.path().join("sub/a.json"), A).unwrap();
    fs::write(folder.path().join("z.bin"), b"ab\0c").unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink(folder.path(), folder.path().join("sub/loop")).unwrap();
    let (summary, seen) = records(&[folder.path().to_owned()], &options());
    assert_eq!(seen.len(), 2);
    let shown: Vec<String> = summary
        .files
        .iter()
        .map(|f| {
            Path::new(&*f.name)
                .strip_prefix(folder.path())
                .unwrap()
                .display()
                .to_string()
        })
        .collect();
    #[cfg(unix)]
    assert_eq!(shown, ["b.json", "sub/a.json", "sub/loop", "z.bin"]);
    assert_eq!(summary.files.last().unwrap().form, "binary");
}

#[test]
fn a_path_that_cannot_be_read_is_a_failed_file() {
    let (summary, _) = records(&[PathBuf::from("/no/such/file")], &options());
    assert!(
        matches!(&summary.files[0].status, FileStatus::Failed(why) if why.contains("No such file")),
        "{summary:?}"
    );
}

#[test]
fn bytes_that_are_no_text_are_replaced_and_counted() {
    let (summary, seen) = one(b"{\"kind\":\"Pod\",\"metadata\":{\"name\":\"caf\xe9\"}}\n");
    assert_eq!(names(&seen), ["caf\u{fffd}"]);
    assert_eq!(summary.total.lossy, 1);
}

#[test]
fn foreign_json_is_irrelevant_and_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("given");
    fs::write(
        &path,
        "{\"Records\":[{\"a\":1}]}\n{\"kind\":\"Lease\",\"apiVersion\":\"coordination.k8s.io/v1\"}",
    )
    .unwrap();
    let summary = read(&[Input::Path(path)], &options(), &mut Kept::default());
    assert_eq!(
        (
            summary.total.records,
            summary.total.irrelevant,
            summary.total.rejected
        ),
        (2, 2, 0),
        "{summary:?}"
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
fn a_partial_answer_of_loki_is_said_to_be_partial() {
    let stream = r#"{"stream":{"pod":"p"},"values":[["1795274427000000346","x"]]}"#;
    let text = format!(
        r#"{{"status":"success","data":{{"resultType":"streams","result":[{stream}]}},"warnings":["maximum number of series (1) reached for a single query; returning partial results"]}}"#
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("given");
    fs::write(&path, text).unwrap();
    let mut kept = Kept::default();
    let summary = read(&[Input::Path(path)], &options(), &mut kept);
    assert_eq!(kept.0.len(), 1);
    assert_eq!(summary.files[0].form, "Loki answer");
    assert!(
        matches!(&summary.files[0].status, FileStatus::Truncated(why) if why.contains("partial")),
        "{summary:?}"
    );
}

#[test]
fn logs_in_bundles_know_their_pod() {
    let log = b"2026-11-21T15:20:39Z hello\n";
    let events = br#"[{"kind":"Event","apiVersion":"v1","metadata":{"name":"e","namespace":"ns","uid":"u"},"involvedObject":{"kind":"Pod","name":"p-0","namespace":"ns"},"reason":"Failed","message":"x","firstTimestamp":"2026-11-21T15:20:39Z","lastTimestamp":"2026-11-21T15:20:39Z","count":1,"type":"Warning"}]"#;
    let pods = b"---\napiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: p-0\n    namespace: ns\n    uid: u1\n  status:\n    phase: Failed\nkind: PodList\n";
    let bundle = gzip(&tar(&[
        (
            "mg/quay-io/namespaces/ns/pods/p-0/c/c/logs/current.log",
            log,
        ),
        ("mg/quay-io/namespaces/ns/core/pods.yaml", pods),
        ("sb/cluster-resources/pods/logs/ns/p-0/c-previous.log", log),
        ("sb/cluster-resources/events/ns.json", events),
        ("sb/version.yaml", b"---\nversionNumber: 0.1\n"),
        ("podlogs/ns/p-0/logs/c.txt", log),
    ]));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("given");
    fs::write(&path, bundle).unwrap();
    let mut kept = Kept::default();
    let summary = read(&[Input::Path(path)], &options(), &mut kept);
    assert_eq!(summary.total.rejected, 0, "{summary:?}");
    let lines: Vec<_> = kept
        .0
        .iter()
        .filter_map(|observation| match observation {
            Observation::Event(event) if event.fact == "log.line" => Some(event),
            _ => None,
        })
        .collect();
    assert_eq!(lines.len(), 3);
    for line in &lines {
        let found = &line.entities;
        assert_eq!(
            (
                found.namespace.as_deref(),
                found.pod.as_deref(),
                found.container.as_deref()
            ),
            (Some("ns"), Some("p-0"), Some("c"))
        );
        assert_eq!(line.message.as_deref(), Some("hello"));
    }
    // One line in three copies is one fact.
    assert!(lines.iter().all(|line| line.id == lines[0].id));
    assert!(
        kept.0
            .iter()
            .any(|o| matches!(o, Observation::Object(object) if object.key.name == "p-0"))
    );
    assert!(
        kept.0
            .iter()
            .any(|o| matches!(o, Observation::Event(event) if event.fact == "k8s.event"))
    );
}

#[test]
fn what_is_given_twice_has_the_same_ids() {
    let folder = tempfile::tempdir().unwrap();
    let text = "2026-11-21T15:20:39Z a\n2026-11-21T15:20:39Z a\nb\n";
    for name in ["x", "y"] {
        fs::create_dir(folder.path().join(name)).unwrap();
        fs::write(
            folder.path().join(name).join("atari-dqn-42-0-mc2jd.log"),
            text,
        )
        .unwrap();
    }
    let mut kept = Kept::default();
    let summary = read(
        &[Input::Path(folder.path().to_owned())],
        &options(),
        &mut kept,
    );
    assert_eq!(summary.total.observations, 6);
    let mut ids: Vec<_> = kept
        .0
        .iter()
        .map(|observation| match observation {
            Observation::Event(event) => event.id,
            other => panic!("{other:?}"),
        })
        .collect();
    ids.sort();
    ids.dedup();
    assert_eq!(ids.len(), 3);
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
        let mut feed = feed::Feed::new(&options, vec![to]);
        let mut endless = Endless {
            left: 200 << 20,
            start,
            end: b"\n{\"kind\":\"Pod\"}\n",
        };
        let meter = guard::Meter::new(&options, std::sync::Arc::default());
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

#[test]
fn everything_shared_reads_without_harm() {
    let shared = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../shared");
    if !shared.exists() {
        println!("skipped: no ../shared");
        return;
    }
    let inputs = ["incidents", "recordings"].map(|name| Input::Path(shared.join(name)));
    let summary = read(&inputs, &options(), &mut Kept::default());
    assert!(summary.total.observations > 30_000, "{:?}", summary.total);
    assert_eq!(summary.total.rejected, 0, "{:?}", summary.rejected);
    assert_eq!(summary.total.status, FileStatus::Complete);
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
            let _summary = read(&[Input::Path(path.clone())], limits, &mut Kept::default());
        }
    }
}
