//! The built-in signals hold, and bad files are told what is wrong.

use std::collections::{BTreeMap, BTreeSet};

use whathappened_model::event::{Event, EventId, SourceKind};
use whathappened_model::line_word::LineWord;
use whathappened_model::time::Stamp;

use super::Ruleset;

fn ruleset(text: &str) -> Result<Ruleset, super::SignalError> {
    Ruleset::from_files(vec![("mine.toml".to_owned(), text.to_owned())])
}

fn k8s_event(reason: &str, message: &str) -> Event {
    let mut event = Event::new(
        EventId(0),
        "k8s.event",
        Stamp::exact(0),
        SourceKind::Kubernetes,
    );
    event.object_kind = Some("Pod".to_owned());
    event.reason = Some(reason.to_owned());
    event.message = Some(message.to_owned());
    event
}

#[test]
fn every_example_comes_out_as_written() {
    let report = Ruleset::shared().test();
    let failures: Vec<_> = report.failures.iter().map(ToString::to_string).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn every_built_in_signal_has_examples_and_counter_examples() {
    let ruleset = Ruleset::shared();
    let mut bare = Vec::new();
    for rule in &ruleset.rules {
        let templated = rule.info.written.contains("{actor}");
        if (rule.examples.is_empty() && !templated) || rule.counter_examples.is_empty() {
            bare.push(&rule.info.name);
        }
        assert!(!rule.info.title.is_empty(), "{}", rule.info.name);
    }
    assert!(bare.is_empty(), "{bare:?}");
}

#[test]
fn free_text_patterns_have_literals_to_search_for() {
    let ruleset = Ruleset::shared();
    for fact in ["log.line", "k8s.event"] {
        assert_eq!(ruleset.unguarded(fact), Vec::<&str>::new(), "{fact}");
    }
}

/// What an Xid is does not depend on who tells of it: the driver, DCGM's metric or a health agent.
#[test]
fn an_xid_means_the_same_in_logs_metrics_and_conditions() {
    let ruleset = Ruleset::shared();
    let meaning = |fact: &str, xid: u32, message: Option<String>, keys: &[(&'static str, &str)]| {
        let mut event = Event::new(EventId(0), fact, Stamp::exact(0), SourceKind::Kubernetes);
        event.object_kind = Some("Node".to_owned());
        event.message = message;
        for (key, value) in keys {
            event.set_attribute(key, Some(*value));
        }
        event.set_attribute("xid", Some(xid.to_string()));
        ruleset.classify(&mut event);
        let mut signals = event.signals;
        // An agent's own words beside it.
        signals.retain(|one| !matches!(one.as_str(), "gpu.unhealthy" | "gpu.missing"));
        signals.sort();
        signals.into_iter().collect::<Vec<_>>()
    };
    // Of several Xids the metric shows the last: a 43 may stand before the fault that it followed.
    for xid in (1..180).filter(|xid| *xid != 43) {
        let line = format!("NVRM: Xid (PCI:0000:9b:00): {xid}, pid=1, name=python3");
        let logged = meaning("node.log", xid, Some(line), &[("program", "kernel")]);
        let measured = meaning("metric.gpu.xid", xid, None, &[]);
        assert_eq!(logged, measured, "Xid {xid} in a log and as a metric");
        let code = format!("ErrorCode:{xid} PCI:0000:9b:00 Recommended Action=CONTACT_SUPPORT");
        let condition = [("condition", "SysLogsXIDError"), ("status", "True")];
        let reported = meaning("k8s.node.condition", xid, Some(code), &condition);
        assert_eq!(logged, reported, "Xid {xid} in a log and as a condition");
    }
}

/// A signal is seen without any list in Rust, a person's own as one that is built in.
#[test]
fn words_that_lines_must_hold_come_from_the_patterns() {
    let built_in = Ruleset::shared();
    assert_eq!(
        built_in.wordless().collect::<Vec<_>>(),
        Vec::<&String>::new()
    );
    assert!(built_in.machine_words().iter().all(|word| !word.own));
    let mine = r#"
[words]
"log.line" = ["Quench"]

[[signal]]
name = "lab.coolant"
title = "The coolant ran dry"
when = [
  { fact = "node.log", message = ['Loop (?P<loop>\d+) of the Manifold ran dry', 'x\d+'] },
  { fact = "node.log", message = '^\d+ ended', words = ["coolantd "] },
  { fact = "log.line", message = ['out of coolant', 'quench \d+'] },
]
"#;
    let rules = Ruleset::load([("mine.toml", mine)]).unwrap();
    let own = |words: &[LineWord]| {
        let own = words.iter().filter(|word| word.own);
        own.map(|word| word.part.clone()).collect::<Vec<_>>()
    };
    assert_eq!(
        own(rules.machine_words()),
        ["coolantd ", " of the manifold ran dry"]
    );
    assert_eq!(own(rules.program_words()), ["quench", "out of coolant"]);
    for (before, after) in [
        (built_in.machine_words(), rules.machine_words()),
        (built_in.program_words(), rules.program_words()),
    ] {
        assert!(before.iter().all(|word| after.contains(word)));
    }
}

/// What the built-in signals search for stays small: it is asked of log stores, too.
#[test]
fn words_of_lines_are_few_enough_to_ask_for() {
    let rules = Ruleset::shared();
    for words in [rules.machine_words(), rules.program_words()] {
        let parts: usize = words.iter().map(|word| word.part.len()).sum();
        assert!(
            words.len() < 240 && parts < 4_100,
            "{}, {parts}",
            words.len()
        );
        for word in words {
            assert!(word.part.len() > 2 && !word.phrase.is_empty(), "{word:?}");
        }
    }
}

/// Files of one's own are compiled at once, so that errors come at the start.
#[test]
fn every_built_in_pattern_compiles() {
    let mine = super::built_in::FILES
        .iter()
        .map(|(name, text)| (format!("my-{name}"), (*text).to_owned()));
    Ruleset::from_files(mine.collect()).unwrap();
}

#[test]
fn names_are_dotted_lower_case() {
    let name = regex::Regex::new(r"^[a-z0-9_]+(?:\.[a-z0-9_]+)+$").unwrap();
    for signal in Ruleset::shared().signals() {
        assert!(name.is_match(&signal.name), "{}", signal.name);
    }
}

#[test]
fn signals_are_sorted_and_the_order_of_files_does_not_matter() {
    let signal = |name: &str, group: &str| {
        format!(
            "[[signal]]\nname = '{name}'\ntitle = 't'\n[[signal.when]]\nfact = 'k8s.event'\nmessage = 'value (?P<{group}>\\d+)'\n"
        )
    };
    let (b, a) = (
        signal("z.b", "x"),
        signal("z.a", "x").replace("\\d+", "\\d"),
    );
    let files = [("1.toml", b.as_str()), ("2.toml", a.as_str())];
    let mut event = k8s_event("Any", "value 42");
    for files in [files, [files[1], files[0]]] {
        let ruleset = Ruleset::load(files).unwrap();
        ruleset.classify(&mut event);
        assert_eq!(event.signals, ["z.a", "z.b"]);
        assert_eq!(event.attribute("x"), Some("4"));
    }
    assert_eq!(
        Ruleset::load(files).unwrap().version(),
        Ruleset::load([files[1], files[0]]).unwrap().version()
    );
}

#[test]
fn a_file_of_ones_own_may_be_called_like_a_built_in_one() {
    let own = r#"
[[signal]]
name = "lab.coolant"
title = "Coolant ran out"
when = [{ fact = "log.line", message = 'out of coolant' }]
example = [{ fact = "log.line", message = "out of coolant" }]
counter_example = [{ fact = "log.line", message = "coolant is fine" }]
"#;
    let rules = Ruleset::load([("log.toml", own)]).unwrap();
    let built_in = Ruleset::shared();
    assert_eq!(rules.rules.len(), built_in.rules.len() + 1);
    assert_eq!(rules.test().failures, []);
}

#[test]
fn a_capture_never_replaces_what_the_source_said() {
    let ruleset = Ruleset::shared();
    let mut event = k8s_event(
        "FailedScheduling",
        "0/9 nodes are available: 9 Insufficient nvidia.com/gpu.",
    );
    event.set_attribute("resource", Some("as the source had it"));
    ruleset.classify(&mut event);
    assert_eq!(event.attribute("resource"), Some("as the source had it"));
}

#[test]
fn errors_say_file_rule_and_field() {
    let head = "[[signal]]\nname = 'my.signal'\ntitle = 't'\n[[signal.when]]\n";
    for (text, said) in [
        (
            "fact = 'k8s.event'\nmessage = 'a('",
            "mine.toml: my.signal: when 1, message: ",
        ),
        (
            "fact = 'k8s.event'\nmessage = '\\w{1000}{1000}'",
            "size limit",
        ),
        (
            "fact = 'k8s.event'\nmesage = 'a'",
            "mine.toml:6: unknown field `mesage`",
        ),
        ("fact = 'k8s.event'\nmesage = 'a'", "(in my.signal)"),
        (
            "fact = 'k8s.event'\nmesage = 'a'",
            "did you mean \"message\"?",
        ),
        (
            "fact = 'k8s.event'\nexit_code = 'one'",
            "an exit code, a list of them, or",
        ),
        ("reason = 'x'", "missing field `fact`"),
        ("fact = []", "an empty list matches nothing"),
    ] {
        let error = ruleset(&format!("{head}{text}\n")).unwrap_err().to_string();
        assert!(error.contains(said), "{text:?} said {error:?}");
    }
    let none = ruleset("[[signal]]\nname = 'my.signal'\ntitle = 't'\n").unwrap_err();
    assert_eq!(none.to_string(), "mine.toml: my.signal: when: is missing");
    let twice = format!("{head}fact = 'a'\n{head}fact = 'b'\n");
    assert_eq!(
        ruleset(&twice).unwrap_err().to_string(),
        "mine.toml: my.signal: name: is defined twice"
    );
}

/// A lane or a kind of actor that there is not would say nothing, in a family as in a signal.
#[test]
fn misspelt_lanes_and_kinds_of_actors_are_errors() {
    let when = "[[signal.when]]\nfact = 'log.line'\nmessage = 'needle'\n";
    let signal =
        |field: &str| format!("[[signal]]\nname = 'my.signal'\ntitle = 't'\n{field}\n{when}");
    for (text, said) in [
        (
            signal("lane = 'reboots'"),
            "there is no lane \"reboots\"; did you mean \"reboot\"?",
        ),
        // What no signal says of itself is `state`.
        (signal("lane = 'state'"), "there is no lane \"state\""),
        (
            format!("[[family]]\nname = 'my'\nlane = 'fualt'\n{}", signal("")),
            "there is no lane \"fualt\"; did you mean \"fault\"?",
        ),
        (
            signal("enforced_by = { name = 'sched', kind = 'sheduler' }"),
            "there is no kind of actor \"sheduler\"; did you mean \"scheduler\"?",
        ),
    ] {
        let error = ruleset(&text).unwrap_err().to_string();
        assert!(error.contains(said), "{text:?} said {error:?}");
    }
    let good = "lane = 'reboot'\nenforced_by = { name = 'x', kind = 'service account' }";
    ruleset(&signal(good)).unwrap();
}

#[test]
fn a_wrong_example_is_reported() {
    let text = "[[signal]]\nname = 'my.signal'\ntitle = 't'\n[[signal.when]]\nfact = 'log.line'\nmessage = 'needle'\n\
        [[signal.example]]\nfact = 'log.line'\nmessage = 'hay'\n\
        [[signal.counter_example]]\nfact = 'log.line'\nmessage = 'a needle'\n";
    let failures = ruleset(text).unwrap().test().failures;
    let said: Vec<_> = failures.iter().map(ToString::to_string).collect();
    assert_eq!(
        said,
        [
            "mine.toml: my.signal: example 1: does not match; its signals are []",
            "mine.toml: my.signal: counter-example 1: matches, but must not",
        ]
    );
}

/// The README's tables; `BLESS=1 cargo test -p whathappened-core` writes them.
#[test]
fn the_readme_lists_every_signal() {
    let path = "../queries/signals/README.md";
    let readme = std::fs::read_to_string(path).unwrap();
    let (head, _) = readme.split_once(TABLES).expect("the marker of the tables");
    let wanted = format!("{head}{TABLES}{}", tables(Ruleset::shared()));
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &wanted).unwrap();
    }
    assert!(
        readme == wanted || std::env::var_os("BLESS").is_some(),
        "run with BLESS=1 to write {path}"
    );
}

const TABLES: &str = "<!-- written by a test -->\n";

fn tables(ruleset: &Ruleset) -> String {
    let mut files = BTreeMap::<&str, BTreeSet<String>>::new();
    for signal in ruleset.signals() {
        let title = if signal.written == signal.name {
            signal.heading()
        } else {
            "one for each kind of actor in actors.toml".to_owned()
        };
        let captures: Vec<_> = signal
            .captures
            .iter()
            .map(|name| format!("`{name}`"))
            .collect();
        let row = format!(
            "| `{}` | {title} | {} |\n",
            signal.written,
            captures.join(", ")
        );
        files.entry(&signal.file).or_default().insert(row);
    }
    let mut text = String::new();
    for (file, rows) in files {
        text.push_str(&format!(
            "\n### {file}\n\n| signal | meaning | attributes captured |\n|---|---|---|\n"
        ));
        text.extend(rows);
    }
    text
}

#[test]
fn principals_of_clouds_are_told_from_people() {
    let ruleset = Ruleset::shared();
    let class = |actor: &str| {
        let mut event = k8s_event("", "");
        event.actor = Some(actor.to_owned());
        ruleset.actor_class(&event).unwrap_or_default().to_owned()
    };
    for (actor, kind) in [
        // A group ends machines to replace them, too: only its activities say why.
        ("AWSServiceRoleForAutoScaling/AutoScaling", "cloud"),
        ("AWSServiceRoleForAutoScaling_gpu/AutoScaling", "cloud"),
        ("autoscaling.amazonaws.com", "cloud"),
        ("KarpenterControllerRole-lab/1751500000", "autoscaler"),
        ("Microsoft.Insights/autoscaleSettings", "autoscaler"),
        ("AWSServiceRoleForAmazonEKSNodegroup/EKS", "cloud"),
        ("spot.amazonaws.com", "cloud"),
        (
            "service-1@container-engine-robot.iam.gserviceaccount.com",
            "cloud",
        ),
        ("service-1@compute-system.iam.gserviceaccount.com", "cloud"),
        ("service-1@gcp-sa-tpu.iam.gserviceaccount.com", "cloud"),
        ("cluster-manager@system.gserviceaccount.com", "cloud"),
        ("7319c514-987d-4e9b-ac3d-d38c4f427f4c", "cloud"),
        ("managedClusters/lab", "cloud"),
        ("1@cloudservices.gserviceaccount.com", "controller"),
        // A service that does what a person told it to says nothing of its own.
        ("cloudformation.amazonaws.com", "user"),
        ("admin/ada", "user"),
        ("trainer@lab.iam.gserviceaccount.com", "user"),
        ("00000000-0000-4000-8000-00000000000a", "user"),
    ] {
        assert_eq!(class(actor), kind, "{actor}");
    }
}

#[test]
fn a_word_that_a_field_does_not_know_is_refused_with_the_nearest() {
    for (line, near) in [
        ("instance = 'takn'", "taken"),
        ("lane = 'falt'", "fault"),
        ("is = ['own_failur']", "own_failure"),
    ] {
        let text = format!(
            "[[signal]]\nname = 'lab.x'\ntitle = 'X'\n{line}\nwhen = [{{ fact = 'log.line', message = 'an unlikely text' }}]\n"
        );
        let told = ruleset(&text).unwrap_err().to_string();
        assert!(told.contains(near), "{told}");
    }
}

/// Who says that it misses another did not break first: what is found of who was missed, and what a rank did itself, says nothing so.
#[test]
fn classes_tell_who_misses_another() {
    let rules = Ruleset::shared();
    let traits = rules.traits();
    for signal in [
        "gloo.error",
        "nccl.timeout",
        "rendezvous.error",
        "jax.barrier_timeout",
    ] {
        assert!(traits.misses_another(signal), "{signal}");
    }
    for signal in [
        "nccl.no_dump",
        "nccl.trace",
        "log.traceback",
        "launcher.worker_exited",
    ] {
        assert!(!traits.misses_another(signal), "{signal}");
    }
}
