//! Fills a store for benchmarks: `fill STORE EVENTS [EXPERIMENTS [DAYS]]`.
//!
//! Deterministic. Experiments of 16 pods begin evenly over the days; each pod
//! has its Kubernetes Events, a log, an object and an end; machines have facts
//! of their own.

use std::collections::BTreeMap;
use std::path::PathBuf;

use whathappened_core::signals::Ruleset;
use whathappened_model::event::{Event, EventId, SourceKind};
use whathappened_model::object::{ObjectBody, ObjectKey, ObjectVersion, Owner};
use whathappened_model::observation::Observation;
use whathappened_model::time::{Nanos, SECOND, Stamp};
use whathappened_store::{Limits, Store};

const START: Nanos = 1_793_491_200 * SECOND;
const PODS: u64 = 16;
const NODES: u64 = 1_000;
const STEPS: [(&str, &str); 6] = [
    (
        "Scheduled",
        "Successfully assigned research/{pod} to {node}",
    ),
    ("Pulling", "Pulling image \"registry.example/train:1.4.2\""),
    (
        "Pulled",
        "Successfully pulled image \"registry.example/train:1.4.2\" in 2.1s",
    ),
    ("Created", "Created container: trainer"),
    ("Started", "Started container trainer"),
    ("Killing", "Stopping container trainer"),
];

struct Shape {
    experiments: u64,
    days: u64,
    lines: u64,
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let number = |index: usize, default: u64| {
        args.get(index)
            .map_or(Ok(default), |text| text.parse::<u64>())
    };
    let root = PathBuf::from(
        args.first()
            .ok_or("fill STORE EVENTS [EXPERIMENTS [DAYS]]")?,
    );
    let events = number(1, 1_000_000)?;
    let experiments = number(2, events / 1_000)?;
    let shape = Shape {
        experiments,
        days: number(3, 30)?,
        lines: (events / experiments / PODS).saturating_sub(8),
    };
    let rules = Ruleset::load(Vec::<(String, String)>::new())?;
    let mut store = Store::open(&root, Limits::default())?;
    let mut bulk = store.bulk(START);
    for experiment in 0..shape.experiments {
        for observation in of_experiment(experiment, &shape) {
            bulk.push(classified(observation, &rules))?;
        }
    }
    let written = bulk.flush()?;
    drop(bulk);
    println!("{written:?} {:?}", store.status()?);
    Ok(())
}

fn classified(observation: Observation, rules: &Ruleset) -> Observation {
    match observation {
        Observation::Event(mut event) => {
            rules.classify(&mut event);
            Observation::Event(event)
        }
        other => other,
    }
}

fn of_experiment(number: u64, shape: &Shape) -> Vec<Observation> {
    let spread = shape.days as i64 * 86_400 - 7_200;
    let begin = START + (number as i64 * spread / shape.experiments as i64) * SECOND;
    let name = format!("run-{number:05}");
    let mut reported = Vec::new();
    for rank in 0..PODS {
        let pod = format!("{name}-worker-{rank}");
        let uid = format!("{number:08x}-0000-4000-8000-{rank:012x}");
        let node = format!("node-{:04}", (number * PODS + rank) % NODES);
        reported.push(object(&name, &pod, &uid, &node, begin));
        let about = |id: &str, fact: &str, at: Nanos, kind: SourceKind| {
            let mut event = Event::new(EventId::of(&[&uid, id]), fact, Stamp::second(at), kind);
            event.object_kind = Some("Pod".to_owned());
            event.object_uid = Some(uid.clone());
            event.entities.namespace = Some("research".to_owned());
            event.entities.pod = Some(pod.clone());
            event.entities.pod_uid = Some(uid.clone());
            event.entities.node = Some(node.clone());
            event.origin.file = "fill".into();
            event
        };
        for (step, (reason, message)) in STEPS.iter().enumerate() {
            let after = if *reason == "Killing" {
                3_600
            } else {
                step as i64 * 3
            };
            let at = begin + after * SECOND;
            let mut event = about(reason, "k8s.event", at, SourceKind::Kubernetes);
            let message = message.replace("{pod}", &pod).replace("{node}", &node);
            event.severity = Some("Normal".to_owned());
            event.reason = Some((*reason).to_owned());
            event.actor = Some("kubelet".to_owned());
            event.count = Some(1);
            event.raw = format!(
                r#"{{"apiVersion":"v1","count":1,"eventTime":null,"firstTimestamp":"{at}","involvedObject":{{"apiVersion":"v1","fieldPath":"spec.containers{{trainer}}","kind":"Pod","name":"{pod}","namespace":"research","resourceVersion":"{number}","uid":"{uid}"}},"kind":"Event","lastTimestamp":"{at}","message":"{message}","metadata":{{"creationTimestamp":"{at}","name":"{pod}.{at:016x}","namespace":"research","resourceVersion":"{at}","uid":"{uid}"}},"reason":"{reason}","reportingComponent":"kubelet","reportingInstance":"{node}","source":{{"component":"kubelet","host":"{node}"}},"type":"Normal"}}"#
            );
            event.message = Some(message);
            reported.push(Observation::Event(Box::new(event)));
        }
        let mut end = about(
            "end",
            "k8s.container.terminated",
            begin + 3_610 * SECOND,
            SourceKind::Kubernetes,
        );
        end.reason = Some("Completed".to_owned());
        end.exit_code = Some(0);
        end.entities.experiment = Some(format!("exp-{number:05}"));
        reported.push(Observation::Event(Box::new(end)));
        for line in 0..shape.lines {
            let at = begin + (30 + line as i64 * 3_500 / shape.lines as i64) * SECOND;
            let mut event = about(&format!("line {line}"), "log.line", at, SourceKind::Loki);
            event.entities.container = Some("trainer".to_owned());
            event.entities.experiment = Some(format!("exp-{number:05}"));
            event.severity = Some("info".to_owned());
            let loss = (number * 31 + rank * 17 + line * 13) % 9_973;
            event.message = Some(format!(
                "step={line} loss=2.{loss:04} lr=3.0e-4 tokens/s={} grad_norm=0.{loss:04}",
                15_000 + loss
            ));
            event.raw = format!(
                "2026-11-01T00:00:00Z INFO trainer step={line} loss=2.{loss:04} lr=3.0e-4 tokens/s={} grad_norm=0.{loss:04}",
                15_000 + loss
            );
            reported.push(Observation::Event(Box::new(event)));
        }
    }
    let node = format!("node-{:04}", number % NODES);
    let mut ready = Event::new(
        EventId::of(&["node", &number.to_string()]),
        "k8s.event",
        Stamp::second(begin),
        SourceKind::Kubernetes,
    );
    ready.object_kind = Some("Node".to_owned());
    ready.reason = Some("NodeReady".to_owned());
    ready.message = Some(format!("Node {node} status is now: NodeReady"));
    ready.entities.node = Some(node);
    reported.push(Observation::Event(Box::new(ready)));
    reported
}

fn object(run: &str, pod: &str, uid: &str, node: &str, at: Nanos) -> Observation {
    let body = ObjectBody {
        api_version: "v1".to_owned(),
        labels: BTreeMap::from([
            ("experiment".to_owned(), run.replace("run-", "exp-")),
            ("job-name".to_owned(), run.to_owned()),
        ]),
        owners: vec![Owner {
            kind: "Job".to_owned(),
            name: run.to_owned(),
            uid: format!("{run}-uid"),
            controller: true,
        }],
        created: Some(Stamp::second(at)),
        started: Some(Stamp::second(at + 10 * SECOND)),
        ended: Some(Stamp::second(at + 3_610 * SECOND)),
        phase: Some("Succeeded".to_owned()),
        node: Some(node.to_owned()),
        ..ObjectBody::default()
    };
    Observation::Object(Box::new(ObjectVersion {
        key: ObjectKey {
            kind: "Pod".to_owned(),
            namespace: "research".to_owned(),
            name: pod.to_owned(),
            uid: uid.to_owned(),
        },
        revision: Some(u64::try_from(at / SECOND).unwrap_or(0)),
        at: Some(Stamp::second(at + 3_610 * SECOND)),
        deleted: false,
        by: None,
        body,
        source_kind: SourceKind::Kubernetes,
        origin: whathappened_model::event::Origin::default(),
    }))
}
