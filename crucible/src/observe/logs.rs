//! The containers' logs, in the forms in which they are kept.

use std::collections::BTreeMap;

use serde_json::json;

use super::files::{File, Record};
use crate::case::Case;
use crate::plan::LogForm;
use crate::world::LogLine;

/// The logs of all containers.
pub(super) fn logs(case: &Case, form: LogForm, files: &mut Vec<File>) {
    let mut streams: Streams<'_> = BTreeMap::new();
    for line in case.world.logs.iter().filter(|line| line.time <= case.now) {
        streams
            .entry((line.pod, line.container, line.restart))
            .or_default()
            .push(line);
    }
    for lines in streams.values_mut() {
        lines.sort_by_key(|line| line.time);
    }
    match form {
        LogForm::None => {}
        LogForm::Files => kubelet(case, &streams, files),
        LogForm::Kubectl => kubectl(case, &streams, true, files),
        LogForm::Raw => kubectl(case, &streams, false, files),
        LogForm::Loki => loki(case, &streams, files),
        LogForm::Datadog => datadog(case, &streams, files),
    }
}

type Streams<'a> = BTreeMap<(usize, &'static str, u32), Vec<&'a LogLine>>;

fn uid(case: &Case, pod: usize) -> &str {
    case.world.pods.get(pod).map_or("", |pod| pod.uid.as_str())
}

fn kubelet(case: &Case, streams: &Streams<'_>, files: &mut Vec<File>) {
    for ((pod, container, restart), lines) in streams {
        let Some(body) = case.world.pods.get(*pod) else {
            continue;
        };
        let path = format!(
            "pods/{}_{}_{}/{container}/{restart}.log",
            body.namespace, body.name, body.uid
        );
        let mut file = File::lines("logs", path);
        for line in lines {
            let stream = if line.error { "stderr" } else { "stdout" };
            file.records.push(
                Record::new(
                    format!("{} {stream} F {}", line.time.nanos(), line.text),
                    &line.tags,
                )
                .about(&body.uid),
            );
        }
        files.push(file);
    }
}

/// Only what the kubelet of a pod that is still there keeps: this run of the container, and the one before.
fn kubectl(case: &Case, streams: &Streams<'_>, stamped: bool, files: &mut Vec<File>) {
    for ((pod, container, restart), lines) in streams {
        let Some(body) = case.world.pods.get(*pod) else {
            continue;
        };
        let lost = body
            .node
            .and_then(|node| case.world.nodes.get(node))
            .is_none_or(|node| !node.heard || node.gone.is_some());
        let restarts = match *container {
            "trainer" => body.container.restarts,
            "fetch-data" => body.init.as_ref().map_or(0, |init| init.restarts),
            _ => body.sidecar.as_ref().map_or(0, |sidecar| sidecar.restarts),
        };
        if body.gone.is_some() || lost || restart + 1 < restarts {
            continue;
        }
        let previous = *restart < restarts;
        let of = if body.init.is_some() || body.sidecar.is_some() {
            format!(" -c {container}")
        } else {
            String::new()
        };
        let part = if *container == "trainer" {
            String::new()
        } else {
            format!("-{container}")
        };
        let flag = if previous { " --previous" } else { "" };
        let stamps = if stamped { " --timestamps" } else { "" };
        let mut file = File::lines("logs", format!("logs/{}{part}-{restart}.txt", body.name));
        file.head = format!(
            "$ kubectl logs {} -n {}{of}{flag}{stamps}\n",
            body.name, body.namespace
        );
        for line in lines {
            let text = if stamped {
                format!("{} {}", line.time.nanos(), line.text)
            } else {
                line.text.clone()
            };
            file.records
                .push(Record::new(text, &line.tags).about(&body.uid));
        }
        files.push(file);
    }
}

fn loki(case: &Case, streams: &Streams<'_>, files: &mut Vec<File>) {
    let mut pods: BTreeMap<(usize, &str), Vec<&LogLine>> = BTreeMap::new();
    for ((pod, container, _), lines) in streams {
        pods.entry((*pod, container)).or_default().extend(lines);
    }
    for ((pod, container), lines) in pods {
        let Some(body) = case.world.pods.get(pod) else {
            continue;
        };
        let node = body
            .node
            .and_then(|node| case.world.nodes.get(node))
            .map_or("", |node| node.name.as_str());
        let stream = json!({"app": "trainer", "cluster": "lab", "container": container, "namespace": body.namespace, "node_name": node, "pod": body.name, "service_name": "trainer"});
        let head = format!(
            "{{\"status\":\"success\",\"data\":{{\"resultType\":\"streams\",\"result\":[{{\"stream\":{stream},\"values\":[\n"
        );
        let mut file = File::list(
            "logs",
            match container {
                "trainer" => format!("loki/{}.json", body.name),
                _ => format!("loki/{}-{container}.json", body.name),
            },
            head,
            "\n]}],\"stats\":{}}}\n",
        );
        for line in lines {
            file.records.push(
                Record::new(
                    json!([line.time.0.to_string(), line.text]).to_string(),
                    &line.tags,
                )
                .about(&body.uid),
            );
        }
        files.push(file);
    }
}

fn datadog(case: &Case, streams: &Streams<'_>, files: &mut Vec<File>) {
    let mut file = File::list(
        "logs",
        "datadog-logs.json",
        "{\"data\":[\n",
        "\n],\"meta\":{\"elapsed\":132,\"status\":\"done\"}}\n",
    );
    let mut lines: Vec<&LogLine> = streams.values().flatten().copied().collect();
    lines.sort_by_key(|line| (line.time, line.pod));
    for (at, line) in lines.into_iter().enumerate() {
        let Some(body) = case.world.pods.get(line.pod) else {
            continue;
        };
        let node = body
            .node
            .and_then(|node| case.world.nodes.get(node))
            .map_or("", |node| node.name.as_str());
        let value = json!({"id": format!("AQAAAZ{at:026}"), "type": "log", "attributes": {"timestamp": line.time.millis(), "host": node, "service": "trainer",
            "status": if line.error {"error"} else {"info"}, "message": line.text,
            "tags": [format!("pod_name:{}", body.name), format!("kube_namespace:{}", body.namespace), format!("kube_container_name:{}", line.container), "kube_cluster_name:lab".to_owned(), format!("pod_uid:{}", body.uid)],
            "attributes": {}}});
        file.records
            .push(Record::new(value.to_string(), &line.tags).about(uid(case, line.pod)));
    }
    files.push(file);
}
