//! Whose log a stream holds, by its name: of pods, of a node's parts.
//!
//! Sources: Container Insights' Fluent Bit (`<node>-application.var.log.containers.
//! <pod>_<namespace>_<container>-<id>.log`, `<node>-host.…`, `<node>-dataplane.…`),
//! aws-for-fluent-bit (`fluentbit-kube.var.log.containers.…`), Fluentd and the
//! agent (`<pod>_<namespace>_<container>-<id>`), the kubelet's folders.

use std::sync::LazyLock;

use regex::Regex;

use super::Labels;

static CONTAINER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"^(?<pod>[a-z0-9][a-z0-9.-]*)_(?<ns>[a-z0-9-]+)_(?<container>[a-z0-9-]+)",
        r"-[0-9a-f]{64}(?:\.log)?$",
    ))
    .ok()
});

static FOLDER: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?:^|[./])(?<ns>[a-z0-9-]+)_(?<pod>[a-z0-9][a-z0-9.-]*)_(?<uid>[0-9a-f-]{32,36})",
        r"[./](?<container>[a-z0-9-]+)[./]\d+\.log$",
    ))
    .ok()
});

/// What a stream's name says of whose it is, under Fluent Bit's names.
pub(crate) fn labels_of_stream(stream: &str) -> Labels {
    let mut labels = Labels::new();
    let (before, name) = stream
        .rsplit_once("var.log.containers.")
        .unwrap_or(("", stream));
    let found = CONTAINER
        .as_ref()
        .and_then(|pattern| pattern.captures(name))
        .or_else(|| FOLDER.as_ref()?.captures(stream));
    if let Some(found) = &found {
        for (group, label) in [
            ("pod", "kubernetes_pod_name"),
            ("ns", "kubernetes_namespace_name"),
            ("container", "kubernetes_container_name"),
            ("uid", "kubernetes_pod_id"),
        ] {
            if let Some(value) = found.name(group) {
                labels.insert(label.to_owned(), value.as_str().to_owned());
            }
        }
    }
    let node = before.strip_suffix("-application.").or_else(|| {
        let kinds = ["-host.", "-dataplane."];
        kinds
            .iter()
            .find_map(|kind| Some(stream.split_once(kind)?.0))
    });
    if let Some(node) = node.filter(|node| !node.is_empty()) {
        labels.insert("kubernetes_host".to_owned(), node.to_owned());
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_streams_tell_whose_they_are() {
        let id = "0f".repeat(32);
        let of = |stream: &str| {
            let labels = labels_of_stream(stream);
            let get = |name: &str| labels.get(name).cloned().unwrap_or_default();
            format!(
                "{}|{}|{}|{}",
                get("kubernetes_namespace_name"),
                get("kubernetes_pod_name"),
                get("kubernetes_container_name"),
                get("kubernetes_host")
            )
        };
        let node = "ip-10-0-1-2.ec2.internal";
        for (stream, emitted) in [
            (
                format!("{node}-application.var.log.containers.w-0_ml_main-{id}.log"),
                format!("ml|w-0|main|{node}"),
            ),
            (
                format!("fluentbit-kube.var.log.containers.w.x-0_ml_main-{id}.log"),
                "ml|w.x-0|main|".to_owned(),
            ),
            (format!("w-0_ml_main-{id}"), "ml|w-0|main|".to_owned()),
            (format!("{node}-host.messages"), format!("|||{node}")),
            (
                format!("{node}-dataplane.systemd.kubelet.service"),
                format!("|||{node}"),
            ),
            ("my-log-stream-1".to_owned(), "|||".to_owned()),
        ] {
            assert_eq!(of(&stream), emitted, "{stream}");
        }
    }
}
