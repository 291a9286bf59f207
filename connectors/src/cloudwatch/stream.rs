//! What the names of streams and groups say.
//!
//! Sources: Container Insights' Fluent Bit (`<node>-application.var.log.containers.
//! <pod>_<namespace>_<container>-<id>.log`, `<node>-host.…`, `<node>-dataplane.…`),
//! aws-for-fluent-bit (`fluentbit-kube.var.log.containers.…`), Fluentd and the
//! agent (`<pod>_<namespace>_<container>-<id>`), the kubelet's folders.

use std::sync::LazyLock;

use regex::Regex;

use crate::log_store::Labels;

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
pub(crate) fn named(stream: &str) -> Labels {
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

/// The cluster that a group is of.
pub(super) fn cluster(group: &str) -> Option<&str> {
    let rest = group
        .strip_prefix("/aws/containerinsights/")
        .or_else(|| group.strip_prefix("/aws/eks/"))?;
    let (cluster, _) = rest.split_once('/')?;
    Some(cluster)
}

/// Whether a group holds lines of pods, as far as its name tells.
pub(super) fn may_hold_pods(group: &str) -> bool {
    !(group.starts_with("/aws/")
        && ["/host", "/dataplane", "/performance", "/cluster"]
            .iter()
            .any(|end| group.ends_with(end)))
}

/// Whether a group holds lines of nodes, as far as its name tells.
pub(super) fn may_hold_nodes(group: &str) -> bool {
    !(group.starts_with("/aws/")
        && ["/application", "/performance", "/cluster"]
            .iter()
            .any(|end| group.ends_with(end)))
}

/// Whether `text` holds `name` as a word of its own.
pub(super) fn mentions(text: &str, name: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '-';
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let after = text[at + name.len()..].chars().next();
            !before.is_some_and(part) && !after.is_some_and(part)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_streams_tell_whose_they_are() {
        let id = "0f".repeat(32);
        let of = |stream: &str| {
            let labels = named(stream);
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
        assert_eq!(
            cluster("/aws/containerinsights/prod/application"),
            Some("prod")
        );
        assert!(mentions("a.w-0.b", "w-0") && !mentions("a.w-01.b", "w-0"));
    }
}
