//! Files that the trackers' own libraries wrote, whole and damaged, through the reader.

use std::path::Path;
use std::sync::Arc;

use whathappened_model::tracker::{HOST, NAME, NOT_FINITE, RUN, STATE, STEP};

use crate::contract::Input;
use crate::event::Event;
use crate::observation::Observation;
use crate::recording::{Bytes, FileStatus, Options, Summary, read};
use crate::sink::Sink;

#[derive(Default)]
struct Collected(Vec<Event>);

impl Sink for Collected {
    fn observe(&mut self, observations: Vec<Observation>) {
        self.0
            .extend(observations.into_iter().filter_map(|one| match one {
                Observation::Event(event) => Some(*event),
                _ => None,
            }));
    }
}

impl Collected {
    fn of(&self, fact: &str) -> Vec<&Event> {
        self.0.iter().filter(|event| event.fact == fact).collect()
    }

    /// The steps, each once and in order.
    fn steps(&self) -> Vec<i64> {
        let steps = self.of(STEP).into_iter();
        steps
            .map(|event| event.attribute("step").unwrap().parse().unwrap())
            .collect()
    }

    fn state(&self) -> Option<(&str, Option<i32>)> {
        let all = self.of(RUN).into_iter();
        let mut states = all.filter_map(|event| Some((event.attribute(STATE)?, event.exit_code)));
        states.next()
    }
}

fn fixtures() -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures")
}

fn read_path(path: &str) -> (Summary, Collected) {
    let mut found = Collected::default();
    let input = Input::Path(fixtures().join(path));
    let summary = read(&[input], &Options::default(), &mut found);
    (summary, found)
}

fn read_bytes(name: &str, bytes: Vec<u8>) -> (Summary, Collected) {
    let mut found = Collected::default();
    let input = Input::Bytes(Arc::from(name), Bytes::from(bytes));
    let summary = read(&[input], &Options::default(), &mut found);
    (summary, found)
}

/// The only file in a folder of the fixtures whose name holds some words.
fn bytes_of(folder: &str, words: &str) -> (String, Vec<u8>) {
    let all = walkdir::WalkDir::new(fixtures().join(folder));
    let mut all = all.into_iter().map(|entry| entry.unwrap().into_path());
    let path = all
        .find(|path| {
            path.file_name()
                .is_some_and(|name| name.to_string_lossy().contains(words))
        })
        .unwrap();
    (
        path.to_string_lossy().into_owned(),
        std::fs::read(path).unwrap(),
    )
}

const EVENTS: (&str, &str) = ("tracker-loss-nan/input", "tfevents");
const RUN_FILE: (&str, &str) = ("tracker-wandb-alone/input", ".wandb");

#[test]
fn an_event_file_tells_of_steps_and_of_a_loss_that_is_no_number() {
    for (folder, count) in [("tracker-loss-nan", 100), ("tracker-healthy", 90)] {
        let (summary, found) = read_path(&format!("{folder}/input/runs"));
        assert_eq!(summary.total.status, FileStatus::Complete);
        assert_eq!(summary.total.rejected, 0, "{:?}", summary.rejected);
        let steps = found.steps();
        assert_eq!(
            steps,
            (1..=count).map(|step| step * 10).collect::<Vec<i64>>()
        );
    }
    let (_, found) = read_path("tracker-loss-nan/input/runs");
    let first = found.of(STEP)[0];
    assert_eq!(first.attribute(HOST), Some("gpt-nano-9-0"));
    assert_eq!(first.attribute("loss"), Some("4"));
    assert!(
        first
            .attribute("learning_rate")
            .unwrap()
            .starts_with("0.0001")
    );
    assert_eq!(first.time.lo, 1_795_510_815_000_000_000);
    let last = found.of(STEP)[99];
    assert_eq!(last.attribute("loss"), None);
    assert!(last.message.as_deref().unwrap().contains("train/loss NaN"));
    let gone: Vec<&str> = found
        .of(NOT_FINITE)
        .into_iter()
        .map(|event| event.message.as_deref().unwrap())
        .collect();
    assert_eq!(gone.len(), 4, "{gone:?}");
    assert!(gone.contains(&"train/loss is nan from step 800 to the end of the curve"));
    assert!(gone.contains(&"train/loss is nan at step 1000, as since step 800"));
    let (_, healthy) = read_path("tracker-healthy/input/runs");
    assert!(healthy.of(NOT_FINITE).is_empty());
}

#[test]
fn a_file_that_was_cut_off_is_read_up_to_there() {
    let (name, bytes) = bytes_of(EVENTS.0, EVENTS.1);
    for cut in [0, 5, 11, 40, 100, bytes.len() / 2, bytes.len() - 1] {
        let (summary, found) = read_bytes(&name, bytes[..cut].to_vec());
        let steps = found.steps();
        assert!(steps.len() * 100 <= cut, "{cut}: {}", steps.len());
        assert_eq!(summary.total.rejected, 0);
        if cut > bytes.len() / 3 {
            assert!(
                matches!(summary.total.status, FileStatus::Truncated(_)),
                "{summary:?}"
            );
            assert!(steps.len() > 20);
        }
    }
}

#[test]
fn a_damaged_record_is_left_out_and_the_next_are_read() {
    let (name, mut bytes) = bytes_of(EVENTS.0, EVENTS.1);
    let whole = read_bytes(&name, bytes.clone()).1.0.len();
    // Within the value of a record in the middle.
    let at = bytes
        .windows(10)
        .rposition(|part| part == b"train/loss")
        .unwrap()
        - 9_000;
    let at = at
        + bytes[at..]
            .windows(10)
            .position(|part| part == b"train/loss")
            .unwrap();
    bytes[at + 3] ^= 0x40;
    let (summary, found) = read_bytes(&name, bytes.clone());
    assert_eq!(summary.total.rejected, 1);
    assert!(matches!(&summary.total.status, FileStatus::Truncated(why) if why.contains("damaged")));
    assert!(found.0.len() + 2 > whole);
    // A length that is damaged ends the reading.
    let start = bytes
        .windows(10)
        .position(|part| part == b"train/loss")
        .unwrap();
    let mut lost = bytes;
    for one in &mut lost[start..start + 400] {
        *one = 0xff;
    }
    let (summary, found) = read_bytes(&name, lost);
    assert!(matches!(&summary.total.status, FileStatus::Truncated(why) if why.contains("length")));
    assert!(found.steps().len() < 3);
}

#[test]
fn lengths_without_end_take_no_memory() {
    let crc = crc::Crc::<u32>::new(&crc::CRC_32_ISCSI);
    let framed = |length: u64, data: &[u8]| {
        let masked = |bytes: &[u8]| {
            crc.checksum(bytes)
                .rotate_right(15)
                .wrapping_add(0xa282_ead8)
        };
        let mut all = length.to_le_bytes().to_vec();
        all.extend(masked(&length.to_le_bytes()).to_le_bytes());
        all.extend(data);
        all.extend(masked(data).to_le_bytes());
        all
    };
    let long = vec![0; 17 << 20];
    for bytes in [
        framed(u64::MAX, b"x"),
        framed(u64::MAX - 16, b"x"),
        framed(1 << 40, b"x"),
        framed(long.len() as u64, &long),
        framed(3, b"\xff\xff\xff"),
        framed(0, b"").repeat(1_000),
    ] {
        let (summary, found) = read_bytes("events.out.tfevents.1.h.1.0", bytes);
        assert!(found.0.is_empty(), "{:?}", found.0);
        assert!(summary.total.rejected > 0 || summary.total.status != FileStatus::Complete);
    }
}

#[test]
fn an_offline_run_tells_of_its_steps_and_how_it_was_said_to_end() {
    let (summary, found) = read_path("tracker-wandb-alone/input");
    assert_eq!(summary.total.rejected, 0, "{:?}", summary.rejected);
    assert_eq!(
        found.steps(),
        (1..=100).map(|step| step * 10).collect::<Vec<i64>>()
    );
    assert_eq!(found.state(), Some(("failed", Some(1))));
    let run = found.of(RUN)[0];
    assert_eq!(run.attribute(NAME), Some("gpt-small-3"));
    assert_eq!(run.attribute(HOST), Some("gpt-small-3-0"));
    assert!(run.attribute("end").is_some());
    assert_eq!(found.of(NOT_FINITE).len(), 2);
    // What W&B writes beside them is no log of a program.
    let lines = found.of("log.line");
    assert!(
        lines
            .iter()
            .all(|line| line.origin.file.ends_with("output.log"))
    );
    assert!(!lines.is_empty());
}

#[test]
fn an_offline_run_that_was_cut_off_or_damaged_has_no_end() {
    let (name, bytes) = bytes_of(RUN_FILE.0, RUN_FILE.1);
    for cut in [7, 10, 100, 5_000, 32_768, 40_000, bytes.len() - 1] {
        let (_, found) = read_bytes(&name, bytes[..cut].to_vec());
        assert!(
            found.state().is_none_or(|(state, _)| state == "running"),
            "{cut}"
        );
    }
    // A block's record that is damaged costs the rest of the block.
    let mut damaged = bytes;
    damaged[20_000] ^= 1;
    let (summary, found) = read_bytes(&name, damaged);
    assert!(summary.total.rejected > 0);
    assert!(matches!(summary.total.status, FileStatus::Truncated(_)));
    assert_eq!(found.state(), Some(("failed", Some(1))));
    let steps = found.steps();
    assert!(steps.len() > 30 && steps.len() < 100, "{}", steps.len());
}

#[test]
fn a_file_store_tells_what_mlflow_was_told() {
    let (summary, found) = read_path("tracker-still-running/input/mlruns");
    assert_eq!(summary.total.rejected, 0, "{:?}", summary.rejected);
    assert_eq!(found.state(), Some(("running", None)));
    let run = found
        .of(RUN)
        .into_iter()
        .find(|run| run.attribute(STATE).is_some())
        .unwrap();
    assert_eq!(run.attribute(NAME), Some("k26-run"));
    assert_eq!(run.reason.as_deref(), Some("RUNNING"));
    let losses = found
        .of(STEP)
        .into_iter()
        .filter(|step| step.attribute("loss").is_some());
    assert_eq!(losses.count(), 87);
    let (_, found) = read_path("tracker-healthy/input/mlruns");
    assert_eq!(found.state(), Some(("finished", None)));
    let run = "m/1/a8ff1a3615694dc383c3240bd2701931";
    for (name, text, rejected) in [
        (
            "metrics/loss",
            "1795858062271 3.0 0\n1795858062326 nan 10\nx\n17958 1\n1 2 3 4\n",
            3,
        ),
        ("metrics/system/cpu", "1795858062271 3.0 0\n", 0),
        ("tags/note", "{\"kind\": \"Pod\"}", 0),
    ] {
        let (summary, _) = read_bytes(&format!("{run}/{name}"), text.into());
        assert_eq!(
            summary.total.rejected, rejected,
            "{name}: {:?}",
            summary.rejected
        );
    }
}

#[test]
fn the_files_beside_an_offline_run_tell_of_it() {
    let folder = "wandb/run-20261128_092749-jhufnifj/files";
    let metadata = r#"{"os": "Linux", "python": "CPython 3.11.7", "startedAt": "2026-11-28T09:27:49.1Z",
        "host": "gpu-7", "slurm": {"job_id": "4711"}, "program": "/w/train.py"}"#;
    let (_, found) = read_bytes(&format!("{folder}/wandb-metadata.json"), metadata.into());
    let run = found.of(RUN)[0];
    assert_eq!(
        (run.attribute(HOST), run.attribute("job")),
        (Some("gpu-7"), Some("4711"))
    );
    let summary = r#"{"_step":290,"_timestamp":1795858073.5,"_runtime":2.9,"train/loss":2.5,"_wandb":{"runtime":2}}"#;
    let (_, found) = read_bytes(&format!("{folder}/wandb-summary.json"), summary.into());
    assert_eq!(found.steps(), [290]);
    assert_eq!(found.of(STEP)[0].attribute("loss"), Some("2.5"));
}

#[test]
fn what_wandb_kept_of_the_console_is_its_output_log() {
    let folder = fixtures().join(RUN_FILE.0).join("wandb");
    let run = std::fs::read_dir(folder).unwrap().next().unwrap().unwrap();
    let name = format!("wandb/{}", run.file_name().into_string().unwrap());
    let records = std::fs::read_dir(run.path()).unwrap().flatten();
    let mut records = records.map(|one| one.path());
    let records = records.find(|one| one.extension().is_some_and(|end| end == "wandb"));
    let records = std::fs::read(records.unwrap()).unwrap();
    let log = std::fs::read(run.path().join("files/output.log")).unwrap();
    let lines = |found: &Collected| {
        let lines = found.of("log.line").into_iter();
        let told = lines.map(|one| (one.id, one.message.clone(), one.origin.clone()));
        told.collect::<Vec<_>>()
    };
    let (_, of_records) = read_bytes(&format!("{name}/run-1.wandb"), records);
    let (_, of_log) = read_bytes(&format!("{name}/files/output.log"), log);
    let of_log = lines(&of_log);
    assert!(!of_log.is_empty());
    assert_eq!(lines(&of_records), of_log);
}
