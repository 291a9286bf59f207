//! Arguments and files as people type them, and what is said of those that cannot be meant.

use std::process::Command;

use super::{imported, json, kept, lab, piped, words};
use crate::service::Service;
use crate::whathappened;

const GPT2: &str = "gpt2-small-7f3";
const DOTA: &str = "dota-5v5-scale";

#[test]
fn a_tick_needs_runs_that_went_well() {
    let node = "node/ip-10-8-3-91.eu-west-1.compute.internal";
    let input = ["--from", "fixtures/autoscaler-scale-down/input", "-q"];
    let (code, out, err) = whathappened(&[&[node], &input[..]].concat());
    assert_eq!(code, Some(0), "{err}");
    let head = words(out.lines().next().unwrap());
    assert_eq!(
        head,
        "• ip-10-8-3-91.eu-west-1.compute.internal · No failure was traced to this machine · 1 run failed"
    );
}

#[test]
fn what_never_ran_did_not_die() {
    let (_, out, _) = lab(&[DOTA]);
    assert!(
        out.contains("Stuck first") && !out.contains("Died first"),
        "{out}"
    );
    let (_, page, _) = lab(&[DOTA, "--format", "md"]);
    assert!(!page.contains("Killed by"), "{page}");
    let state = |name: &str| json(&[name])["incidents"][0]["first_victim"]["state"].clone();
    assert_eq!(state(DOTA), "never_scheduled");
    assert_eq!(state(GPT2), "died");
    assert!(lab(&[GPT2]).1.contains("Died first"));
}

#[test]
fn a_token_that_is_not_there_is_told_with_its_line_before_anything_is_served() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).display().to_string();
    let text = "[[serve.caller]]\nname = 'ann'\ntoken_file = '/nonexistent/token'\n";
    std::fs::write(at("c.toml"), text).unwrap();
    for verb in [&["serve", "--listen", "127.0.0.1:0"][..], &["doctor"]] {
        let options = ["--no-fetch", "--store", &at("s"), "--config", &at("c.toml")];
        let (code, out, err) = whathappened(&[verb, &options].concat());
        assert!(matches!(code, Some(1 | 4)), "{verb:?}: {code:?}");
        let reported = out + &err;
        let place = format!("{}, line 3: token_file", at("c.toml"));
        assert!(reported.contains(&place), "{verb:?}: {reported}");
    }
}

#[test]
fn a_state_that_is_none_is_refused_and_an_empty_list_is_told() {
    let (code, _, err) = lab(&["experiments", "--state", "faild"]);
    assert_eq!(code, Some(2), "{err}");
    assert!(err.contains("did you mean failed?"), "{err}");
    let (code, out, err) = lab(&["experiments", "--owner", "nope"]);
    assert_eq!((code, out.as_str()), (Some(3), ""), "{err}");
    assert!(err.contains("no run matches; there are 8 runs"), "{err}");
    assert!(err.contains("alice@lab.example"), "{err}");
    let service = Service::start(&["fixtures/lab-cluster/input"], "");
    let asked = |query: &str| service.get(&format!("/api/v1/experiments?{query}"), &[]);
    let refused = asked("state=faild");
    assert_eq!(refused.status, 400);
    assert!(
        refused.text().contains("did you mean failed?"),
        "{}",
        refused.text()
    );
    assert_eq!(asked("state=failed").status, 200);
}

#[test]
fn an_import_of_which_a_path_failed_says_so_and_keeps_the_rest() {
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("store").display().to_string();
    let missing = folder.path().join("no-such-file").display().to_string();
    let input = "fixtures/lab-two-runs/input";
    let (code, _, err) = whathappened(&["import", input, &missing, "--store", &store]);
    assert_eq!(code, Some(1), "{err}");
    assert!(
        err.contains("some of the input could not be read") && err.contains("no-such-file"),
        "{err}"
    );
    let (_, out, _) = kept(&store, &["experiments", "--format", "csv"]);
    assert!(out.contains("lm-350m-r1"), "{out}");
}

#[test]
fn what_is_piped_in_beside_a_name_is_not_ignored_in_silence() {
    let input = ["--from", "fixtures/lab-cluster/input"];
    let (code, out, err) = piped(&[&[GPT2], &input[..]].concat(), b"Name: x\n");
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains(GPT2) && err.contains("files"), "{err}");
    // Said to be read, it is; a pipe into which nobody wrote is nothing.
    let both = [&[GPT2], &input[..], &["--from", "-"]].concat();
    assert_eq!(piped(&both, b"Name: x\n").0, Some(0));
    let (code, _, err) = whathappened(&[&[GPT2], &input[..]].concat());
    assert_eq!(code, Some(0), "{err}");
}

#[test]
fn advice_and_statements_of_rules_are_checked_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let rule = |advice: &str, signal: &str| {
        let text = format!(
            "-- cause: my.rule\n-- title: Mine\n-- rank: 1\n-- level: hypothesis\n-- summary: {{pod}} left\n-- advice: {advice}\nSELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'guess' AS edge, 'act' AS role\nFROM ties\nWHERE signal = '{signal}'\n"
        );
        std::fs::write(folder.path().join("my.rule.sql"), text).unwrap();
        let rules = folder.path().to_str().unwrap();
        let (code, _, err) = whathappened(&["rules", "test", "my.rule", "--rules", rules]);
        assert_ne!(code, Some(0));
        err
    };
    let err = rule("Look at {nodee}.", "k8s.pod.preempted");
    assert!(
        err.contains("my.rule.sql:6") && err.contains("did you mean {node}?"),
        "{err}"
    );
    let err = rule("Look at {node}.", "k8s.pod.preemptd");
    assert!(err.contains("my.rule.sql:9"), "{err}");
    assert!(err.contains("did you mean k8s.pod.preempted?"), "{err}");
}

/// A run of which the catalogue knows the name alone was tried again by each statement.
#[test]
fn what_leaves_nothing_to_explain_is_explained_once() {
    let input = std::path::Path::new("../shared/incidents/mg-aws-healthy/input");
    if !input.is_dir() {
        whathappened_loopback::skipped("no ../shared");
        return;
    }
    let (_folder, store) = imported(&[input.to_str().unwrap()]);
    let (code, _, err) = kept(&store, &["explain", "--since", "2000-01-01"]);
    assert_eq!(code, Some(0), "{err}");
    let ask = ["sql", "SELECT count(*) FROM incidents", "--format", "csv"];
    let quiet = |args: &[&str]| whathappened(&[args, &["--store", &store, "--no-fetch"]].concat());
    let (_, _, err) = quiet(&ask);
    assert!(!err.contains("runs are explained"), "{err}");
    let (_, out, _) = kept(&store, &["experiments"]);
    assert!(!out.contains("not explained"), "{out}");
}

#[test]
fn runs_are_listed_in_one_order_with_their_owner() {
    let names = |out: &str| -> Vec<String> {
        let name = |line: &str| line.split_whitespace().last().unwrap().to_owned();
        out.lines().map(name).collect()
    };
    let (_, files, _) = lab(&["experiments", "--width", "100"]);
    let (_folder, store) = imported(&["fixtures/lab-cluster/input"]);
    let (_, stored, _) = kept(&store, &["experiments", "--width", "100"]);
    assert_eq!(names(&files), names(&stored));
    assert_eq!(files.lines().count(), 8, "{files}");
    assert!(files.lines().all(|line| line.contains("alice")), "{files}");
}

#[test]
fn a_run_on_no_machine_awaits_nothing() {
    let (code, out, err) = lab(&["upcoming", GPT2, "--at", "now"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(
        out.contains("was on no machine at 2026-11-21 15:23:09Z"),
        "{out}"
    );
}

#[test]
fn moments_and_names_are_taken_as_people_write_them() {
    let at = |moment: &str| json(&[GPT2, "--at", moment])["now"].clone();
    assert_eq!(at("15:21"), at("2026-11-21 15:21"));
    assert_eq!(at("now"), at("2026-11-21T15:23:09Z"));
    let (code, _, err) = lab(&[GPT2, "--at", "yesterday"]);
    assert_eq!(code, Some(3), "{err}");
    let berlin = json(&[GPT2, "--at", "16:21", "--tz", "Europe/Berlin"]);
    assert_eq!(berlin["now"], at("15:21"));
    let named = json(&["experiment=gpt2-small-7f3"]);
    assert_eq!(named["runs"], json(&[GPT2])["runs"]);
}

#[test]
fn lines_of_csv_end_as_its_standard_says() {
    let (_, out, _) = lab(&["experiments", "--format", "csv"]);
    assert_eq!(out.matches("\r\n").count(), 9, "{out}");
    assert_eq!(out.matches('\n').count(), 9, "{out}");
    let (_, help, _) = whathappened(&["--help"]);
    assert!(words(&help).contains("lines end in CRLF"), "{help}");
}

#[test]
fn help_needs_no_data_and_says_everything_once() {
    let (code, out, err) = whathappened(&["sql", "help"]);
    assert_eq!(code, Some(0), "{err}");
    assert!(out.contains("\\d"), "{out}");
    let (_, help, _) = whathappened(&["sql", "--help"]);
    assert_eq!(help.matches("--timeout <").count(), 1, "{help}");
    let full = std::fs::File::options().write(true).open("/dev/full");
    let output = Command::new(env!("CARGO_BIN_EXE_whathappened"))
        .arg("--help")
        .stdout(full.unwrap())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn what_the_kernel_makes_up_is_no_recording() {
    let folder = tempfile::tempdir().unwrap();
    let link = folder.path().join("kmsg");
    std::os::unix::fs::symlink("/proc/kmsg", &link).unwrap();
    for path in [
        "/dev/zero",
        "/dev/null",
        "/dev/ptmx",
        "/proc/self",
        "/proc/kmsg",
        "/proc/self/environ",
        "/sys",
        link.to_str().unwrap(),
    ] {
        let (code, _, err) = whathappened(&["*", "--from", path]);
        assert_eq!(code, Some(2), "{path}: {err}");
        let reported = err.contains("it is a device") || err.contains("kernel file system");
        assert!(reported, "{path}: {err}");
    }
    // Beside others it is told, and the rest is used.
    let (code, _, err) = whathappened(&[
        GPT2,
        "--from",
        "/dev/zero",
        "--from",
        "fixtures/lab-cluster/input",
    ]);
    assert_eq!(code, Some(0), "{err}");
    assert!(err.contains("not used: /dev/zero"), "{err}");
}

#[test]
fn several_are_told_of_as_several() {
    let (_, out, _) = lab(&["rlhf-prod-eval"]);
    assert!(!out.contains("(was "), "{out}");
    let folder = tempfile::tempdir().unwrap();
    let one = folder.path().join("one.json").display().to_string();
    std::fs::write(&one, "{\"kind\":\"Pod\",\"apiVersion\":\"v1\",\"metadata\":{\"name\":\"p\",\"namespace\":\"n\"}}").unwrap();
    let (_, _, err) = whathappened(&["*", "--from", &one]);
    assert!(err.starts_with("Read 1 record from"), "{err}");
}
