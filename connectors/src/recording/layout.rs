//! Whose log a file is, from where it lies in a bundle or on a node.

use std::sync::LazyLock;

use regex::Regex;

use crate::event::Entities;
use crate::logs::LogSource;
use crate::redact::redact;

/// What a path says of the file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PathInfo {
    /// The path is one where container logs lie.
    pub(super) is_log: bool,
    namespace: Option<String>,
    pod: Option<String>,
    pod_uid: Option<String>,
    container: Option<String>,
    /// A file name that may be a pod's, without anything that confirms it.
    maybe_pod: Option<String>,
    /// The log of the container's run before the last.
    previous: bool,
}

/// Paths whose meaning is fixed by the tool that wrote them.
static KNOWN: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        // must-gather and `oc adm inspect`
        r"(?:^|/)namespaces/(?<ns>[^/]+)/pods/(?<pod>[^/]+)/(?<container>[^/]+)/[^/]+/logs/(?:rotated/[^/]+|(?<previous>current|previous)(?:\.insecure)?\.log)$",
        // troubleshoot.sh
        r"(?:^|/)cluster-resources/pods/logs/(?<ns>[^/]+)/(?<pod>[^/]+)/(?<container>[^/]+?)(?<previous>-previous)?\.log$",
        // sonobuoy
        r"(?:^|/)podlogs/(?<ns>[^/]+)/(?<pod>[^/]+)/logs/(?<container>[^/]+)\.txt$",
        // kubectl cluster-info dump
        r"(?:^|/)(?<ns>[^/]+)/(?<pod>[^/]+)/logs\.txt$",
        // the kubelet's own folders
        r"(?:^|/)pods/(?<ns>[a-z0-9-]+)_(?<pod>[a-z0-9.-]+)_(?<uid>[0-9A-Za-z-]+)/(?<container>[^/]+)/\d+\.log(?:\.[\w.-]+)?$",
        r"(?:^|/)(?:pods/|pod-logs/|)(?<ns>[a-z0-9-]+)_(?<pod>[a-z0-9.-]+)_(?<uid>[0-9a-f]{8}-[0-9a-f-]{27})/(?<container>[^/]+)/\d+\.log(?:\.[\w.-]+)?$",
        r"(?:^|/)(?<pod>[a-z0-9.-]+)_(?<ns>[a-z0-9-]+)_(?<container>[a-z0-9-]+)-[0-9a-f]{64}\.log$",
        // CloudWatch's exports to S3: a folder for each stream
        r"(?:^|/)(?:[^/]*var\.log\.containers\.)?(?<pod>[a-z0-9][a-z0-9.-]*)_(?<ns>[a-z0-9-]+)_(?<container>[a-z0-9-]+)-[0-9a-f]{64}(?:\.log)?/\d{6}$",
        r"(?:^|/)pod-logs/(?<ns>[^/]+)/(?<pod>[^/]+)/(?<container>[^/]+?)(?<previous>-previous)?\.(?:log|txt)$",
    ]
    .iter()
    .filter_map(|pattern| Regex::new(pattern).ok())
    .collect()
});

/// Names as people save them; a pod is named only where the name looks like
/// one that a controller made.
static LOOSE: LazyLock<Vec<Regex>> = LazyLock::new(|| {
    [
        r"(?:^|/)(?<ns>[a-z0-9-]+)/(?<pod>[a-z0-9.-]+)/(?<container>[a-z0-9-]+?)(?<previous>[-_.]previous)?\.(?:log|txt)$",
        r"(?:^|/)(?<pod>[a-z0-9.-]+?)(?:_(?<container>[a-z0-9-]+?))?(?<previous>[-_.]previous)?\.(?:log|txt)$",
    ]
    .iter()
    .filter_map(|pattern| Regex::new(pattern).ok())
    .collect()
});

/// Reads `name`, a path with `!` before members of archives.
pub(super) fn place(name: &str) -> PathInfo {
    let path = name.replace(['!', '\\'], "/");
    let path = path.trim_end_matches(".gz").trim_end_matches(".zst");
    for pattern in KNOWN.iter() {
        if let Some(found) = pattern.captures(path) {
            return PathInfo {
                is_log: true,
                ..named(&found)
            };
        }
    }
    for pattern in LOOSE.iter() {
        let Some(found) = pattern.captures(path) else {
            continue;
        };
        let place = named(&found);
        if place
            .pod
            .as_deref()
            .is_some_and(crate::contract::looks_made)
        {
            // troubleshoot.sh puts a collector's name where others put the namespace.
            let collector = path.contains("support-bundle");
            let generic = |folder: &String| {
                folder.contains("log")
                    || ["pods", "tmp", "output", "containers"].contains(&folder.as_str())
            };
            let namespace = place
                .namespace
                .filter(|folder| !collector && !generic(folder));
            return PathInfo {
                is_log: true,
                namespace,
                ..place
            };
        }
    }
    let stem = path
        .rsplit('/')
        .next()
        .and_then(|file| file.split('.').next())
        .unwrap_or_default();
    let maybe_pod = (!stem.is_empty() && stem != "-").then(|| stem.to_owned());
    PathInfo {
        maybe_pod,
        ..PathInfo::default()
    }
}

fn named(found: &regex::Captures<'_>) -> PathInfo {
    let get = |name: &str| found.name(name).map(|m| m.as_str().to_owned());
    PathInfo {
        is_log: false,
        namespace: get("ns"),
        pod: get("pod"),
        pod_uid: get("uid"),
        container: get("container"),
        maybe_pod: None,
        previous: get("previous").is_some_and(|word| word.contains("previous")),
    }
}

impl PathInfo {
    /// The source of the log that lies here.
    pub(super) fn source(&self, name: &str) -> LogSource {
        LogSource {
            file: redact(name).into(),
            entities: Entities {
                namespace: self.namespace.clone(),
                pod: self.pod.clone(),
                pod_uid: self.pod_uid.clone(),
                container: self.container.clone(),
                ..Entities::default()
            },
            file_stem: self.maybe_pod.clone(),
            previous: self.previous,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parts(path: &str) -> (String, String, String, bool) {
        let place = place(path);
        let text = |part: Option<String>| part.unwrap_or_default();
        (
            text(place.namespace),
            text(place.pod),
            text(place.container),
            place.previous,
        )
    }

    #[test]
    fn bundles_say_whose_log_it_is() {
        let cases = [
            (
                "mg.tar.gz!must-gather.local.1/quay-io-x/namespaces/ns/pods/p-0/trainer/trainer/logs/current.log",
                false,
            ),
            (
                "namespaces/ns/pods/p-0/trainer/trainer/logs/previous.log",
                true,
            ),
            (
                "b.tgz!support-bundle-2026/cluster-resources/pods/logs/ns/p-0/trainer.log",
                false,
            ),
            (
                "support-bundle-2026/cluster-resources/pods/logs/ns/p-0/trainer-previous.log",
                true,
            ),
            ("sonobuoy.tar.gz!podlogs/ns/p-0/logs/trainer.txt", false),
            (
                "/var/log/pods/ns_p-0_4f0a36c4-7264-4802-b1ca-c0bc9a38ca26/trainer/0.log",
                false,
            ),
            (
                "x/pods/ns_p-0_4f0a36c4-7264-4802-b1ca-c0bc9a38ca26/trainer/0.log.20261121-152000.gz",
                false,
            ),
        ];
        for (path, previous) in cases {
            let want = (
                "ns".to_owned(),
                "p-0".to_owned(),
                "trainer".to_owned(),
                previous,
            );
            assert_eq!(parts(path), want, "{path}");
        }
        let collected = parts("support-bundle-1/app/atari-dqn-42-0-mc2jd/trainer-previous.log");
        assert_eq!(
            (collected.0.as_str(), collected.1.as_str(), collected.3),
            ("", "atari-dqn-42-0-mc2jd", true)
        );
        let id = "0123456789abcdef".repeat(4);
        let want = (
            "ns".to_owned(),
            "p-0".to_owned(),
            "trainer".to_owned(),
            false,
        );
        assert_eq!(
            parts(&format!("/var/log/containers/p-0_ns_trainer-{id}.log")),
            want
        );
        let uid = place("/var/log/pods/ns_p-0_4f0a36c4-7264-4802-b1ca-c0bc9a38ca26/trainer/0.log")
            .pod_uid;
        assert_eq!(uid.as_deref(), Some("4f0a36c4-7264-4802-b1ca-c0bc9a38ca26"));
    }

    #[test]
    fn a_saved_file_names_a_pod_only_if_it_looks_like_one() {
        assert_eq!(parts("atari-dqn-42-0-mc2jd.log").1, "atari-dqn-42-0-mc2jd");
        assert_eq!(
            parts("logs/research/gpt2-worker-3/pytorch.log").1,
            "gpt2-worker-3"
        );
        assert_eq!(parts("atari-dqn-42-0-mc2jd_trainer.log").2, "trainer");
        for path in [
            "kubectl_logs.txt",
            "train.log",
            "-",
            "dmesg-with-xid-119.log",
            "a/b/c.log",
            "out-2.txt",
        ] {
            assert_eq!(parts(path).1, "", "{path}");
        }
        assert_eq!(place("x/train.log").maybe_pod.as_deref(), Some("train"));
    }
}
