//! `rules`: what is compiled in is proven, and a user's own folder works alike.

use whathappened::commands::rules::check;

use super::whathappened;

const SQL: &str = "-- cause: mine.exit_seven
-- title: The lab's own exit code
-- rank: 99
-- level: supported
-- needs: k8s.container.exited_nonzero
-- summary: {pod} ended with our code for a lost licence.
SELECT death, fact AS cause, CAST(NULL AS BIGINT) AS effect, 'inferred' AS edge, 'claim' AS role
FROM links
WHERE signal = 'k8s.container.exited_nonzero' AND via = 'pod' AND code = 7
";

const EXAMPLES: &str = "
fires:
  - name: seven
    why: the launcher ends with 7 when the licence is lost
    ask: pod/run-0
    level: supported
    first_victim: run-0
    input: &pod
      - kind: Pod
        metadata: {name: run-0, namespace: lab, uid: 6f1f2f6e-3a51-4f0e-8a53-0d7f7f1a4b10, creationTimestamp: 2026-02-03T10:00:00Z}
        spec: {nodeName: n1, containers: [{name: main, image: x}]}
        status:
          phase: Failed
          containerStatuses:
            - name: main
              restartCount: 0
              state: {terminated: {exitCode: 7, reason: Error, startedAt: 2026-02-03T10:00:05Z, finishedAt: 2026-02-03T10:10:00Z}}
silent:
  - name: eight
    why: any other code is not ours
    ask: pod/run-1
    cause: code.exception
    input:
      - kind: Pod
        metadata: {name: run-1, namespace: lab, uid: 7a1f2f6e-3a51-4f0e-8a53-0d7f7f1a4b11, creationTimestamp: 2026-02-03T10:00:00Z}
        spec: {nodeName: n1, containers: [{name: main, image: x}]}
        status:
          phase: Failed
          containerStatuses:
            - name: main
              restartCount: 0
              state: {terminated: {exitCode: 8, reason: Error, startedAt: 2026-02-03T10:00:05Z, finishedAt: 2026-02-03T10:10:00Z}}
";

fn folder(examples: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("mine.sql"), SQL).unwrap();
    std::fs::write(folder.path().join("mine.yaml"), examples).unwrap();
    folder
}

#[tokio::test]
async fn every_built_in_example_comes_out_as_written() {
    let report = check(None, &[]).await.unwrap();
    let wrong: Vec<String> = report.wrong.iter().map(ToString::to_string).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    // A positive and a negative example for each of the rules.
    assert!(
        report.causes >= 2 * 50 && report.signals > 1_000,
        "{report:?}"
    );
}

#[tokio::test]
async fn rules_of_ones_own_are_tested_like_the_built_in_ones() {
    let names = ["mine.exit_seven".to_owned()];
    let right = folder(EXAMPLES);
    let report = check(Some(right.path()), &names).await.unwrap();
    assert_eq!((report.causes, report.wrong.len()), (2, 0), "{report:?}");

    let wrong = folder(&EXAMPLES.replace("exitCode: 7", "exitCode: 9"));
    let report = check(Some(wrong.path()), &names).await.unwrap();
    let said: Vec<String> = report.wrong.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        ["mine.yaml: seven: expected mine.exit_seven (supported), got code.exception (hypothesis)"]
    );

    let missing = folder("fires: []");
    let report = check(Some(missing.path()), &names).await.unwrap();
    assert_eq!(report.wrong.len(), 2, "both lists are missing");
}

#[test]
fn a_wrong_example_is_told_by_the_exit_code() {
    let wrong = folder(&EXAMPLES.replace("exitCode: 7", "exitCode: 9"));
    let path = wrong.path().to_str().unwrap();
    let (code, out, errors) = whathappened(&["rules", "test", "--rules", path, "mine.exit_seven"]);
    assert_eq!(code, Some(4), "{out}{errors}");
    assert!(out.starts_with("mine.yaml: seven: expected"), "{out}");
    let (code, _, errors) = whathappened(&["rules", "test", "sched.preemptd"]);
    assert_eq!(code, Some(2));
    assert!(errors.contains("did you mean sched.preempted"), "{errors}");
}

#[test]
fn rules_are_listed_and_shown() {
    let (code, out, _) = whathappened(&["rules", "list", "--format", "csv"]);
    assert_eq!(code, Some(0));
    assert!(out.starts_with("cause,title,rank,level,needs"), "{out}");
    assert!(out.contains("\nsched.preempted,"), "{out}");
    let (_, out, _) = whathappened(&["rules", "list", "--signals", "--format", "csv"]);
    assert!(out.contains("\nk8s.pod.preempted,"), "{out}");
    let (_, out, _) = whathappened(&["rules", "show", "sched.preempted"]);
    assert!(
        out.contains("-- cause: sched.preempted") && out.contains("fires:"),
        "{out}"
    );
    let (_, out, _) = whathappened(&["rules", "show", "k8s.pod.preempted"]);
    assert!(out.contains("name = \"k8s.pod.preempted\""), "{out}");
    let own = folder(EXAMPLES);
    let (_, out, _) = whathappened(&[
        "rules",
        "show",
        "mine.exit_seven",
        "--rules",
        own.path().to_str().unwrap(),
    ]);
    assert!(
        out.contains("-- cause: mine.exit_seven") && out.contains("name: seven"),
        "{out}"
    );
}

/// What is misspelt was told when a question first needed the rule, if it was told at all.
#[test]
fn what_is_misspelt_in_a_rule_is_told_with_file_line_and_the_nearest_name() {
    let signal = "[[signal]]\nname = \"mine.seen\"\ntitle = \"T\"\nwhen = [{ fact = \"node.lg\", message = 'x' }]\n";
    for (file, text, said) in [
        (
            "mine.sql",
            SQL.replace("FROM links", "FROM linkss"),
            "mine.sql:8: there is no table linkss; did you mean links?",
        ),
        (
            "mine.sql",
            SQL.replace("code = 7", "coed = 7"),
            "mine.sql:9: there is no column coed; did you mean code?",
        ),
        (
            "mine.toml",
            signal.to_owned(),
            "mine.toml: mine.seen: when 1, fact: no record has a fact \"node.lg\"; did you mean \"node.log\"?",
        ),
    ] {
        let own = folder(EXAMPLES);
        std::fs::write(own.path().join(file), text).unwrap();
        let path = own.path().to_str().unwrap();
        for verb in [
            &["rules", "list"][..],
            &["x", "--from", "fixtures/lab-two-runs/input"],
        ] {
            let (code, _, err) = whathappened(&[verb, &["--rules", path]].concat());
            assert_ne!(code, Some(0));
            assert!(err.contains(said), "{err}");
        }
    }
}

#[test]
fn an_example_that_cannot_be_read_is_told_with_its_line() {
    // What YAML takes for true is a text where a text belongs.
    let plain = folder(&EXAMPLES.replacen(
        "why: the launcher ends with 7 when the licence is lost",
        "why: y",
        1,
    ));
    let path = plain.path().to_str().unwrap();
    let (code, out, err) = whathappened(&["rules", "test", "--rules", path, "mine.exit_seven"]);
    assert_eq!(code, Some(0), "{out}{err}");
    for (right, wrong, said) in [
        (
            "    why:",
            "    whyy:",
            "there is no field `whyy` at line 4",
        ),
        ("    ask: pod/run-0", "    ask: [1]", "line 5"),
    ] {
        let own = folder(&EXAMPLES.replacen(right, wrong, 1));
        let path = own.path().to_str().unwrap();
        let (code, _, err) = whathappened(&["rules", "test", "--rules", path, "mine.exit_seven"]);
        assert_eq!(code, Some(2), "{err}");
        assert!(err.contains("mine.yaml: ") && err.contains(said), "{err}");
    }
}

#[test]
fn a_new_rule_works_as_it_is_written_and_replaces_nothing() {
    let own = tempfile::tempdir().unwrap();
    // The first rule makes the folder.
    let path = own.path().join("rules");
    let path = path.to_str().unwrap();
    let new = |cause: &str| whathappened(&["rules", "new", cause, "--rules", path]);
    let (code, out, err) = new("lab.repair");
    assert_eq!(code, Some(0), "{err}");
    assert!(
        out.contains("lab.repair.sql") && out.contains("lab.repair.yaml"),
        "{out}"
    );
    let (code, out, err) = whathappened(&["rules", "test", "--rules", path, "lab.repair"]);
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(out.contains('2') || err.contains('2'), "{out}{err}");
    for (cause, said) in [
        ("lab.repair", "lab.repair.sql already explains lab.repair"),
        ("sched.preempted", "already explains sched.preempted"),
        ("repair", "two words"),
        ("../x.y", "cannot be the name of a cause"),
    ] {
        let (code, _, err) = new(cause);
        assert_eq!(code, Some(2), "{err}");
        assert!(err.contains(said), "{err}");
    }
}

#[test]
fn columns_of_rules_are_those_that_statements_can_read() {
    let (code, out, err) = whathappened(&["rules", "columns", "--format", "csv"]);
    assert_eq!(code, Some(0), "{err}");
    for line in [
        "table,column,type,meaning",
        "links,lag_s,double,",
        "deaths,mode,text,",
        "mechanisms,*,view,\"How an upstream cause reaches a pod",
        "{pod},text,",
    ] {
        assert!(out.contains(line), "{line}");
    }
}

/// The built-in rules take minutes, and are not what who writes rules wants to try.
#[test]
fn rules_of_ones_own_are_tested_alone() {
    let own = folder(EXAMPLES);
    let path = own.path().to_str().unwrap();
    let (code, out, err) = whathappened(&["rules", "test", "--rules", path]);
    assert_eq!(code, Some(0), "{out}{err}");
    assert!(
        out.contains("2 examples passed (2 of causes, 0 of signals)"),
        "{out}"
    );
    let (_, out, _) = whathappened(&["rules", "list"]);
    assert!(!out.contains("needs"), "too wide for people");
}
