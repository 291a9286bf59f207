//! Whose series is it: nodes, pods and containers by labels.

use std::collections::{BTreeMap, BTreeSet};

/// The labels of a series.
pub(crate) type Labels = BTreeMap<String, String>;

/// Labels that may name a machine. Where a scraper had a label of the same name
/// itself, the series' own is kept as `exported_…`: that goes first. A GPU
/// exporter's `Hostname` may be that of its own pod.
pub(crate) const OF_NODES: [&str; 11] = [
    "exported_node",
    "node",
    "kubernetes_node",
    "nodename",
    "node_name",
    "exported_instance",
    "Hostname",
    "hostname",
    "host",
    "kubernetes_io_hostname",
    "instance",
];

/// Labels that may name a pod.
pub(crate) const OF_PODS: [&str; 4] = ["exported_pod", "pod", "pod_name", "kubernetes_pod_name"];

const OF_NAMESPACES: [&str; 3] = ["exported_namespace", "namespace", "kubernetes_namespace"];
const OF_CONTAINERS: [&str; 3] = ["exported_container", "container", "container_name"];

/// A label's value; empty ones are none.
pub(crate) fn label<'l>(labels: &'l Labels, name: &str) -> Option<&'l str> {
    let value = labels.get(name).map(String::as_str);
    value.filter(|value| !value.is_empty())
}

fn first<'l>(labels: &'l Labels, names: &[&str]) -> Option<&'l str> {
    names.iter().find_map(|name| label(labels, name))
}

/// The pod that a series is of, with its namespace.
pub(crate) fn pod(labels: &Labels) -> Option<(Option<&str>, &str)> {
    let name = first(labels, &OF_PODS)?;
    // What is exported belongs together.
    let own = labels.contains_key("exported_pod") && !labels.contains_key("exported_namespace");
    let namespace = match own {
        true => None,
        false => first(labels, &OF_NAMESPACES),
    };
    Some((namespace, name))
}

/// The container that a series is of.
pub(crate) fn container(labels: &Labels) -> Option<&str> {
    first(labels, &OF_CONTAINERS)
}

/// An `instance` without its port.
pub(crate) fn host(instance: &str) -> &str {
    let instance = instance
        .split_once("://")
        .map_or(instance, |(_, rest)| rest);
    let instance = instance.split('/').next().unwrap_or(instance);
    match instance.rsplit_once(':') {
        Some((host, port)) if !port.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) => {
            host.trim_matches(['[', ']'])
        }
        _ => instance,
    }
}

/// Whether a text has a name as a word of its own.
pub(crate) fn mentions(text: &str, name: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let mut after = text[at + name.len()..].chars();
            let ends = match after.next() {
                // `gpu-1.` ends a sentence, `gpu-1.example` goes on.
                Some('.') => !after.next().is_some_and(part),
                next => !next.is_some_and(part),
            };
            ends && !before.is_some_and(|c| part(c) || c == '.')
        })
}

fn is_address(host: &str) -> bool {
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok()
}

/// Which machines there are, and by what else they are known.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    /// Machines by name; where none are named, every name is one.
    nodes: BTreeSet<String>,
    /// Machines by their short names.
    short: BTreeMap<String, String>,
    /// Machines by addresses of theirs or of their pods.
    addresses: BTreeMap<String, String>,
    /// Where pods are: by namespace and name.
    pods: BTreeMap<(String, String), String>,
}

impl Names {
    /// Only these machines.
    pub(crate) fn of(nodes: impl IntoIterator<Item = String>) -> Self {
        let nodes: BTreeSet<String> = nodes.into_iter().collect();
        let short = nodes
            .iter()
            .filter_map(|node| Some((node.split_once('.')?.0.to_owned(), node.clone())))
            .collect();
        Self {
            nodes,
            short,
            ..Self::default()
        }
    }

    /// Learns from `kube_node_info`, `kube_pod_info` and `node_uname_info`.
    pub(crate) fn learn(&mut self, labels: &Labels) {
        let name = label(labels, "__name__");
        if name == Some("node_uname_info") {
            let named = label(labels, "nodename").and_then(|name| self.known(name));
            let at = label(labels, "instance").map(host);
            if let (Some(node), Some(at)) = (named, at.filter(|at| *at != "localhost")) {
                self.addresses.insert(at.to_owned(), node);
            }
            return;
        }
        let Some(node) =
            first(labels, &["exported_node", "node"]).and_then(|name| self.known(name))
        else {
            return;
        };
        if name == Some("kube_node_info") {
            if let Some(address) = label(labels, "internal_ip") {
                self.addresses.insert(address.to_owned(), node);
            }
        } else if name == Some("kube_pod_info") {
            for key in ["pod_ip", "host_ip"] {
                if let Some(address) = label(labels, key) {
                    self.addresses.insert(address.to_owned(), node.clone());
                }
            }
            if let Some((namespace, pod)) = pod(labels) {
                let key = (namespace.unwrap_or_default().to_owned(), pod.to_owned());
                self.pods.insert(key, node);
            }
        }
    }

    /// The machine of a name, as others call it.
    fn known(&self, name: &str) -> Option<String> {
        if self.nodes.is_empty() {
            return (!is_address(name)).then(|| name.to_owned());
        }
        if self.nodes.contains(name) {
            return Some(name.to_owned());
        }
        if let Some(node) = self.short.get(name) {
            return Some(node.clone());
        }
        let short = name.split_once('.')?.0;
        self.nodes.get(short).cloned()
    }

    /// The label by which a series is of a machine, and the machine.
    pub(crate) fn by_label(&self, labels: &Labels) -> Option<(&'static str, String)> {
        OF_NODES.into_iter().find_map(|name| {
            let value = label(labels, name)?;
            let value = match name {
                "instance" | "exported_instance" => host(value),
                _ => value,
            };
            let known = || {
                let of_node = name != "instance" || !self.nodes.is_empty() || !is_address(value);
                self.known(value).filter(|_| of_node)
            };
            Some((name, self.addresses.get(value).cloned().or_else(known)?))
        })
    }

    /// The machine that a series is of.
    pub(crate) fn node(&self, labels: &Labels) -> Option<String> {
        if let Some((_, node)) = self.by_label(labels) {
            return Some(node);
        }
        // Exporters are pods, and pods are somewhere.
        let pod = label(labels, "pod")?;
        let namespace = label(labels, "namespace").unwrap_or_default();
        self.pods
            .get(&(namespace.to_owned(), pod.to_owned()))
            .cloned()
    }

    /// The machine that is named beside the pod of a series: its own word goes before that of whoever scraped it.
    pub(crate) fn host_of(&self, labels: &Labels) -> Option<String> {
        const NAMES: [&str; 5] = [
            "exported_node",
            "node",
            "kubernetes_node",
            "node_name",
            "kubernetes_io_hostname",
        ];
        first(labels, &NAMES).and_then(|name| self.known(name))
    }

    /// Where a pod is.
    pub(crate) fn of_pod(&self, namespace: Option<&str>, pod: &str) -> Option<&str> {
        let key = (namespace.unwrap_or_default().to_owned(), pod.to_owned());
        self.pods.get(&key).map(String::as_str)
    }

    /// The pods whose machines are known, in order, with those.
    pub(crate) fn pods(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.pods.iter();
        all.map(|((_, pod), node)| (pod.as_str(), node.as_str()))
    }

    /// Addresses under which machines are known, in order.
    pub(crate) fn addresses(&self) -> impl Iterator<Item = (&str, &str)> {
        let all = self.addresses.iter();
        all.map(|(address, node)| (address.as_str(), node.as_str()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(pairs: &[(&str, &str)]) -> Labels {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        pairs.iter().map(owned).collect()
    }

    #[test]
    fn what_is_exported_goes_before_what_the_scraper_says() {
        let names = Names::of(["gpu-1".to_owned(), "gpu-2".to_owned()]);
        let of = |pairs: &[(&str, &str)]| names.node(&labels(pairs));
        assert_eq!(
            of(&[("exported_node", "gpu-1"), ("node", "gpu-2")]).as_deref(),
            Some("gpu-1")
        );
        assert_eq!(of(&[("instance", "gpu-2:9400")]).as_deref(), Some("gpu-2"));
        assert_eq!(
            of(&[("Hostname", "gpu-2.lab.example")]).as_deref(),
            Some("gpu-2")
        );
        assert_eq!(of(&[("node", "gpu-10")]), None);
        let exported = labels(&[
            ("exported_pod", "run-0"),
            ("exported_namespace", "lab"),
            ("pod", "dcgm-exporter-x"),
            ("namespace", "monitoring"),
        ]);
        assert_eq!(pod(&exported), Some((Some("lab"), "run-0")));
    }

    #[test]
    fn addresses_and_exporters_pods_lead_to_machines() {
        let mut names = Names::of(["gpu-1".to_owned()]);
        let unknown = labels(&[("instance", "10.0.0.5:9100")]);
        let exporter = labels(&[
            ("Hostname", "dcgm-x"),
            ("namespace", "monitoring"),
            ("pod", "dcgm-x"),
            ("instance", "10.244.1.7:9400"),
        ]);
        assert_eq!((names.node(&unknown), names.node(&exporter)), (None, None));
        for pairs in [
            &[
                ("__name__", "kube_node_info"),
                ("node", "gpu-1"),
                ("internal_ip", "10.0.0.5"),
            ][..],
            &[
                ("__name__", "kube_pod_info"),
                ("node", "gpu-1"),
                ("namespace", "monitoring"),
                ("pod", "dcgm-x"),
            ],
        ] {
            names.learn(&labels(pairs));
        }
        assert_eq!(names.node(&unknown).as_deref(), Some("gpu-1"));
        assert_eq!(names.node(&exporter).as_deref(), Some("gpu-1"));
        assert_eq!(names.of_pod(Some("monitoring"), "dcgm-x"), Some("gpu-1"));
    }

    #[test]
    fn a_file_names_its_own_machines_but_addresses_are_no_names() {
        let names = Names::default();
        let of = |pairs: &[(&str, &str)]| names.node(&labels(pairs));
        assert_eq!(of(&[("Hostname", "gpu-9")]).as_deref(), Some("gpu-9"));
        assert_eq!(of(&[("instance", "127.0.0.1:9400")]), None);
        assert_eq!(of(&[("instance", "gpu-9:9100")]).as_deref(), Some("gpu-9"));
        assert_eq!(host("[fd00::1]:9100"), "fd00::1");
    }

    #[test]
    fn a_name_is_a_word_of_its_own() {
        for (text, is) in [
            ("maintenance of gpu-1.", true),
            ("node:gpu-1", true),
            ("gpu-10 and my-gpu-1", false),
            ("gpu-1.lab.example", false),
            ("", false),
        ] {
            assert_eq!(mentions(text, "gpu-1"), is, "{text}");
        }
    }
}
