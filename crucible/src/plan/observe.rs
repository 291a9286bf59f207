//! What was recorded of a world.

use serde::{Deserialize, Serialize};

/// What an audit policy keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names are Kubernetes' own")]
pub enum Policy {
    None,
    Metadata,
    Request,
    RequestResponse,
}

/// When the lists were taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum When {
    /// Seconds to minutes after the first death.
    JustAfter,
    /// Minutes after the end.
    MinutesAfter,
    /// Hours after, when the Events are gone.
    HoursAfter,
}

/// How the containers' logs were kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum LogForm {
    /// Nowhere.
    None,
    /// The files of the kubelet, as a collector takes them.
    Files,
    /// `kubectl logs --timestamps`, and `--previous`, for pods that are still there.
    Kubectl,
    /// `kubectl logs` as the program wrote it.
    Raw,
    /// A `query_range` answer of Loki.
    Loki,
    /// A search answer of Datadog.
    Datadog,
}

/// What happened to the records on their way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Damage {
    /// Written twice.
    Doubled,
    /// In another order.
    Shuffled,
    /// One file ends in the middle of a record.
    Cut,
}

/// What was recorded.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Observe {
    /// When.
    pub when: When,
    /// Lists of the objects.
    pub lists: bool,
    /// Watches of the objects.
    pub watches: bool,
    /// Whether the watches have a gap, from and to in hundredths of the time.
    pub gap: Option<(u8, u8)>,
    /// The audit log.
    pub audit: Policy,
    /// A person's session of kubectl, as text, instead of the lists.
    pub text: bool,
    /// The containers' logs.
    pub logs: LogForm,
    /// The cloud's records.
    pub cloud: bool,
    /// The nodes' own logs.
    pub hosts: bool,
    /// Answers of Prometheus.
    #[serde(default)]
    pub metrics: bool,
    /// Seconds by which the log of one node is off.
    pub skew_s: i64,
    /// Minutes east of UTC that a node's log without a zone is written in.
    pub zone_min: i32,
    /// What happened to the records on their way.
    pub damage: Option<Damage>,
}

impl Observe {
    /// Everything, undamaged.
    #[must_use]
    pub fn all() -> Self {
        Self {
            when: When::MinutesAfter,
            lists: true,
            watches: true,
            gap: None,
            audit: Policy::RequestResponse,
            text: false,
            logs: LogForm::Files,
            cloud: true,
            hosts: true,
            metrics: true,
            skew_s: 0,
            zone_min: 0,
            damage: None,
        }
    }

    /// A short name of the set, for tables.
    #[must_use]
    pub fn name(&self) -> String {
        let mut parts = Vec::new();
        if self.lists {
            parts.push("lists");
        }
        if self.text {
            parts.push("text");
        }
        if self.watches {
            parts.push("watch");
        }
        parts.push(match self.audit {
            Policy::None => "",
            Policy::Metadata => "meta-audit",
            Policy::Request | Policy::RequestResponse => "audit",
        });
        if self.logs != LogForm::None {
            parts.push("logs");
        }
        if self.cloud {
            parts.push("cloud");
        }
        if self.hosts {
            parts.push("hosts");
        }
        if self.metrics {
            parts.push("metrics");
        }
        parts.retain(|part| !part.is_empty());
        if parts.is_empty() {
            "nothing".to_owned()
        } else {
            parts.join("+")
        }
    }
}
