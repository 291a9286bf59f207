//! Folders, bundles and what lies in them.

use super::*;

#[test]
fn folders_are_read_in_name_order_and_loops_are_not_followed() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("sub")).unwrap();
    fs::write(folder.path().join("b.json"), B).unwrap();
    fs::write(folder.path().join("sub/a.json"), A).unwrap();
    fs::write(folder.path().join("z.bin"), b"\x7fELF\x02\x01\0c").unwrap();
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
fn foreign_json_is_irrelevant_and_no_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("given");
    fs::write(
        &path,
        "{\"Records\":[{\"a\":1}]}\n{\"kind\":\"RuntimeClass\",\"apiVersion\":\"node.k8s.io/v1\"}",
    )
    .unwrap();
    let summary = read(&[Input::Path(path)], &options(), &mut Collected::default());
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
fn a_partial_answer_of_loki_is_said_to_be_partial() {
    let stream = r#"{"stream":{"pod":"p"},"values":[["1795274427000000346","x"]]}"#;
    let text = format!(
        r#"{{"status":"success","data":{{"resultType":"streams","result":[{stream}]}},"warnings":["maximum number of series (1) reached for a single query; returning partial results"]}}"#
    );
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("given");
    fs::write(&path, text).unwrap();
    let mut kept = Collected::default();
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
    let mut kept = Collected::default();
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
    let mut kept = Collected::default();
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

#[test]
fn everything_shared_reads_without_harm() {
    let shared = Path::new("../../shared");
    if !shared.exists() {
        whathappened_loopback::skipped("no ../shared");
        return;
    }
    let inputs = ["incidents", "recordings"].map(|name| Input::Path(shared.join(name)));
    let summary = read(&inputs, &options(), &mut Collected::default());
    assert!(summary.total.observations > 15_000, "{:?}", summary.total);
    // One table of accounting was damaged on purpose.
    let damaged = |file: &str| file.contains("with-invalid-lines");
    assert!(
        summary.rejected.iter().all(|one| damaged(&one.origin.file)),
        "{:?}",
        summary.rejected
    );
    assert_eq!(summary.total.status, FileStatus::Complete);
}

#[cfg(unix)]
#[test]
fn links_lead_neither_out_of_the_folder_nor_in_circles() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("a.json"), A).unwrap();
    let root = folder.path().join("given");
    fs::create_dir(&root).unwrap();
    symlink(outside.path(), root.join("out")).unwrap();
    symlink(outside.path().join("a.json"), root.join("out.json")).unwrap();
    // A mesh: each folder links to all, which would be factorially many paths.
    for n in 0..20 {
        fs::create_dir(root.join(format!("d{n}"))).unwrap();
    }
    for n in 0..20 {
        for m in 0..20 {
            symlink(root.join(format!("d{m}")), root.join(format!("d{n}/to{m}"))).unwrap();
        }
    }
    fs::write(root.join("d3/b.json"), A).unwrap();
    for n in 0..30 {
        symlink(root.join("d3/b.json"), root.join(format!("link{n}.json"))).unwrap();
    }
    let begun = std::time::Instant::now();
    let (summary, seen) = records(std::slice::from_ref(&root), &options());
    assert_eq!(seen.len(), 2, "itself, and once by its links");
    assert!(begun.elapsed() < std::time::Duration::from_secs(5));
    let emitted: Vec<String> = summary
        .files
        .iter()
        .filter_map(|file| match &file.status {
            FileStatus::Failed(why) if why.contains("points outside") => {
                Some(file.name.to_string())
            }
            _ => None,
        })
        .collect();
    assert_eq!(emitted.len(), 2, "{emitted:?}");
    // A link that is named is followed.
    let link = folder.path().join("link");
    symlink(&root, &link).unwrap();
    assert_eq!(records(&[link], &options()).1.len(), 2);
}

#[test]
fn names_are_one_line_and_move_no_cursor() {
    let folder = tempfile::tempdir().unwrap();
    let name = "a\u{1b}[2J\n\rerror: \u{202e}gnp.json";
    fs::write(folder.path().join(name), A).unwrap();
    let (summary, _) = records(&[folder.path().to_owned()], &options());
    let shown = &summary.files[0].name;
    assert!(!shown.contains(char::is_control), "{shown:?}");
    assert!(
        shown.contains("\\u{1b}[2J\\n\\rerror: \\u{202e}gnp"),
        "{shown:?}"
    );
}

#[test]
fn too_many_files_and_facts_are_left_out_and_told() {
    let folder = tempfile::tempdir().unwrap();
    for n in 0..40 {
        fs::write(folder.path().join(format!("{n:02}.json")), A).unwrap();
    }
    let few = Options {
        max_members: 10,
        ..options()
    };
    let (summary, seen) = records(&[folder.path().to_owned()], &few);
    assert!(
        seen.len() <= 11 && summary.files.len() <= 11,
        "{}",
        seen.len()
    );
    let FileStatus::Failed(why) = &summary.files[10].status else {
        panic!("{summary:?}");
    };
    assert!(why.contains("10 files and archive members"), "{why}");
}

/// Ten million lines that say nothing took ten seconds, a log of a gigabyte had no end at all.
#[test]
fn what_is_not_read_in_time_is_left_out_and_told() {
    let folder = tempfile::tempdir().unwrap();
    let step = "2026-11-20T10:00:00Z INFO step 10 loss 0.5\n";
    for (name, text) in [
        ("a.json", format!("{A}\n").repeat(400_000)),
        ("pod-0.log", step.repeat(400_000)),
        ("x.ndjson", "{}\n".repeat(2_000_000)),
    ] {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        let soon = Options {
            max_time: Some(std::time::Duration::from_millis(20)),
            ..options()
        };
        let (summary, _) = records(std::slice::from_ref(&path), &soon);
        let [file] = summary.files.as_slice() else {
            panic!("{summary:?}");
        };
        let FileStatus::Truncated(why) = &file.status else {
            panic!("{name}: {summary:?}");
        };
        assert!(why.contains("longer than 20 ms"), "{why}");
        // In time all of it is read, and nothing said.
        let (summary, _) = records(&[path], &options());
        assert_eq!(summary.files[0].status, FileStatus::Complete, "{name}");
    }
}
