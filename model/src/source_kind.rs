//! The kinds of sources.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Hands the list of log stores to another macro: the one line by which a log store is registered.
///
/// `Kind = folder, code;`: the kind of its records, the folder of `connectors/src` (also the name of the section
/// of the configuration, and of the source in tables and answers), and the number by which binary formats know it,
/// which nobody else may have or ever have had. Their order is that of their rank (see
/// [`SourceKind`](crate::event::SourceKind)).
#[macro_export]
macro_rules! log_stores {
    ($then:ident) => {
        $then! {
            Loki = loki, 2;
            Datadog = datadog, 9;
            Elasticsearch = elasticsearch, 10;
            CloudwatchLogs = cloudwatch, 11;
        }
    };
}

/// How many kinds there are beside log stores.
const OTHERS: usize = 12;

macro_rules! source_kinds {
    ($($store:ident = $name:ident, $code:literal;)*) => {
        /// The connector that a record came through. Declaration order is the fixed
        /// rank by which the better of two equal witnesses is kept.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum SourceKind {
            /// Objects and Events of the Kubernetes API.
            Kubernetes,
            /// The API server's audit log.
            KubernetesAudit,
            $(
                #[doc = concat!("A log store: `", stringify!($name), "`.")]
                $store,
            )*
            /// Container logs in files.
            ContainerLog,
            /// Google Cloud's audit and system event logs.
            Gcp,
            /// AWS: `CloudTrail`, Health, EC2, Auto Scaling.
            Aws,
            /// Azure's activity log, resource health and scheduled events.
            Azure,
            /// A machine's own log, and of those who maintain it: kernel, systemd, BMC, tools.
            NodeLog,
            /// Slurm's accounting and control.
            Slurm,
            /// What Prometheus and its kin measured.
            Prometheus,
            /// Alertmanager's alerts and silences.
            Alertmanager,
            /// Grafana's annotations.
            Grafana,
            /// What an experiment tracker's own files say of a run: `TensorBoard`, W&B, `MLflow`.
            Tracker,
        }

        impl SourceKind {
            /// Every kind, in rank order.
            pub const ALL: [Self; OTHERS + Self::LOG_STORES.len()] = [
                Self::Kubernetes,
                Self::KubernetesAudit,
                $(Self::$store,)*
                Self::ContainerLog,
                Self::Gcp,
                Self::Aws,
                Self::Azure,
                Self::NodeLog,
                Self::Slurm,
                Self::Prometheus,
                Self::Alertmanager,
                Self::Grafana,
                Self::Tracker,
            ];

            /// Those that keep lines of many programs and answer questions about them.
            pub const LOG_STORES: &'static [Self] = &[$(Self::$store),*];

            /// The name used in tables and answers.
            #[must_use]
            pub fn as_str(self) -> &'static str {
                self.name_and_code().0
            }

            /// The name, and the number that binary formats write, so that what was stored stays readable: in the
            /// order in which the kinds came to be.
            fn name_and_code(self) -> (&'static str, u8) {
                match self {
                    Self::Kubernetes => ("kubernetes", 0),
                    Self::KubernetesAudit => ("kubernetes_audit", 1),
                    $(Self::$store => (stringify!($name), $code),)*
                    Self::ContainerLog => ("container_log", 3),
                    Self::Gcp => ("gcp", 4),
                    Self::Aws => ("aws", 5),
                    Self::Azure => ("azure", 6),
                    Self::NodeLog => ("node_log", 7),
                    Self::Slurm => ("slurm", 8),
                    Self::Prometheus => ("prometheus", 12),
                    Self::Alertmanager => ("alertmanager", 13),
                    Self::Grafana => ("grafana", 14),
                    Self::Tracker => ("tracker", 15),
                }
            }
        }
    };
}

log_stores!(source_kinds);

impl SourceKind {
    /// The kind of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }

    /// Whether it is a store that keeps lines of many programs and answers questions about them.
    #[must_use]
    pub fn is_log_store(self) -> bool {
        Self::LOG_STORES.contains(&self)
    }
}

impl Serialize for SourceKind {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let (name, code) = self.name_and_code();
        if to.is_human_readable() {
            return to.serialize_str(name);
        }
        to.serialize_u8(code)
    }
}

impl<'de> Deserialize<'de> for SourceKind {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let kind = if from.is_human_readable() {
            Self::parse(&String::deserialize(from)?)
        } else {
            let code = u8::deserialize(from)?;
            Self::ALL
                .into_iter()
                .find(|kind| kind.name_and_code().1 == code)
        };
        kind.ok_or_else(|| de::Error::custom("a kind of source that this version does not know"))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_kind_has_a_name_and_a_code_of_its_own() {
        let own = SourceKind::ALL.map(SourceKind::name_and_code);
        let names: BTreeSet<&str> = own.iter().map(|(name, _)| *name).collect();
        let codes: BTreeSet<u8> = own.iter().map(|(_, code)| *code).collect();
        assert_eq!((names.len(), codes.len()), (own.len(), own.len()));
        assert!(SourceKind::ALL.is_sorted());
        for kind in SourceKind::ALL {
            let text = serde_json::to_string(&kind).unwrap();
            assert_eq!(text, format!("\"{}\"", kind.as_str()));
            assert_eq!(serde_json::from_str::<SourceKind>(&text).unwrap(), kind);
        }
        assert!(serde_json::from_str::<SourceKind>("\"oracle\"").is_err());
    }

    /// What was stored by a version before stays readable.
    #[test]
    fn codes_never_change() {
        let known = [
            "kubernetes",
            "kubernetes_audit",
            "loki",
            "container_log",
            "gcp",
            "aws",
            "azure",
            "node_log",
            "slurm",
            "datadog",
            "elasticsearch",
            "cloudwatch",
            "prometheus",
            "alertmanager",
            "grafana",
            "tracker",
        ];
        for (code, name) in (0..).zip(known) {
            let kind = SourceKind::parse(name).map(SourceKind::name_and_code);
            assert_eq!(kind, Some((name, code)));
        }
    }
}
