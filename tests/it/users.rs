//! What three new users of the tool ran into when they had the README alone.

use std::process::{Command, Stdio};

use crate::hour::{imported, kept, lab};
use crate::whathappened;

const LAB: [&str; 2] = ["--from", "fixtures/lab-cluster/input"];
const GPT2: &str = "gpt2-small-7f3";

#[test]
fn the_word_before_a_name_is_its_kind_or_its_namespace() {
    let (_folder, store) = imported(&["fixtures/lab-cluster/input"]);
    let job = "job/research/gpt2-small-7f3";
    let ask = |name: &str| [lab(&[name]), kept(&store, &[name])];
    for name in [job, "research/gpt2-small-7f3", "jobs/gpt2-small-7f3"] {
        for (code, out, err) in ask(name) {
            assert_eq!(code, Some(0), "{name}: {err}");
            assert!(out.contains("node.not_ready"), "{name}: {out}");
        }
    }
    // Nobody gets the run of another team, or of another kind, under a name of their own.
    for name in [
        "foo/gpt2-small-7f3",
        "deployment/gpt2-small-7f3",
        "job/foo/gpt2-small-7f3",
        "default/gpt2-small-7f3",
    ] {
        for (code, out, err) in ask(name) {
            assert_eq!(code, Some(3), "{name}: {out}{err}");
            assert!(err.contains(GPT2), "{name}: {err}");
        }
    }
}

#[test]
fn a_calendar_that_could_not_be_read_is_no_promise() {
    let folder = tempfile::tempdir().unwrap();
    let calendar = folder.path().join("calendar.csv");
    let text = "maintenance,hosts,starts,ends\nswap a switch,gpu-1,tomorrow 8:00,\n";
    std::fs::write(&calendar, text).unwrap();
    let calendar = calendar.to_str().unwrap();
    let alone = ["upcoming", "-q", "--from", calendar];
    for more in [&[][..], &LAB] {
        let (code, out, err) = whathappened(&[&alone, more].concat());
        assert_eq!(code, Some(6), "{more:?}: {out}{err}");
        assert!(out.contains("unknown"), "{out}");
        assert!(out.contains("calendar.csv:2: a maintenance"), "{out}");
    }
}

#[test]
fn a_kubeconfig_that_is_named_and_not_there_is_no_secret() {
    let (_folder, store) = imported(&["fixtures/lab-cluster/input"]);
    let ask = |more: &[&str], kubeconfig: &str| {
        let output = Command::new(env!("CARGO_BIN_EXE_whathappened"))
            .args([&[GPT2, "--store", &store][..], more].concat())
            .env_clear()
            .env("HOME", "/nonexistent")
            .env("KUBECONFIG", kubeconfig)
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let err = String::from_utf8_lossy(&output.stderr).into_owned();
        (output.status.code(), err)
    };
    let (code, err) = ask(&[], "/nonexistent/kubeconfig");
    assert_eq!(code, Some(0), "{err}");
    let said = "No cluster was queried (there is no kubeconfig at /nonexistent/kubeconfig";
    assert!(err.contains(said), "{err}");
    for typed in [["--context", "dev"], ["--kubeconfig", "/nonexistent/other"]] {
        let (code, err) = ask(&typed, "/nonexistent/kubeconfig");
        assert_eq!(code, Some(2), "{typed:?}: {err}");
        assert!(err.contains("--no-fetch"), "{typed:?}: {err}");
    }
    // Nobody misses a cluster who named none.
    let (code, err) = ask(&[], "");
    assert_eq!((code, err.contains("cluster")), (Some(0), false), "{err}");
}

#[test]
fn mistakes_on_the_command_line_are_named() {
    let (_folder, store) = imported(&["fixtures/lab-cluster/input"]);
    for (args, said) in [
        (&["reprot"][..], "did you mean the command report?"),
        (&["experimnts"], "did you mean the command experiments?"),
        (
            &[GPT2, "--since", "2026-11-22", "--until", "2026-11-21"],
            "is not before --until",
        ),
        (
            &[GPT2, "--config", "/nonexistent/config.toml"],
            "the configuration file /nonexistent/config.toml cannot be read",
        ),
    ] {
        let (code, out, err) = kept(&store, args);
        assert!(matches!(code, Some(2 | 3)), "{args:?}: {out}{err}");
        assert!(err.contains(said), "{args:?}: {err}");
    }
}
