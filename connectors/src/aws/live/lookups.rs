//! `CloudTrail`: who did what to the machines and their groups.
//!
//! AWS allows two lookups a second and one attribute in each. So few machines
//! are looked up one by one; of many, or where none is known by id, each of the
//! event names that matter is read once and what is about others is left out.

use std::collections::BTreeSet;
use std::time::Instant;

use serde_json::{Value, json};

use super::api::{Api, Fields, ServiceCall};
use super::decode;
use super::instances::KnownInstances;
use super::part::{Kind, KindResult};
use super::question::{AFTER, AwsQuestion, BEFORE};
use crate::aws::GROUP_TAG;
use crate::cloud::field;
use crate::event::Origin;
use crate::log_store::Span;
use crate::observation::Observation;
use crate::time::{Nanos, SECOND};

/// Machines that are looked up one by one.
const ONE_BY_ONE: usize = 12;
/// Pages of one lookup.
const PAGES: u64 = 10;
/// What was done before that still concerns what came of it. Calls are not
/// announced as maintenance is.
const SHORTLY: Nanos = 3600 * SECOND;

/// The spot reclaim, a service's event: it may name its machine nowhere but in
/// its own body, so that it is looked up by name in any case.
const RECLAIM: &str = "BidEvictedEvent";

/// The call that made a machine; its answer has the machine's names and tags.
const MADE: &str = "RunInstances";

/// What is read where machines are not looked up one by one; the most telling first.
const NAMES: [&str; 14] = [
    RECLAIM,
    "TerminateInstances",
    "StopInstances",
    "RebootInstances",
    "TerminateInstanceInAutoScalingGroup",
    "SetDesiredCapacity",
    "UpdateAutoScalingGroup",
    MADE,
    "UpdateNodegroupVersion",
    "UpdateNodegroupConfig",
    "DetachVolume",
    "StartInstances",
    "CreateFleet",
    "CompleteLifecycleAction",
];

/// What is done to node groups and clusters of EKS.
const OF_EKS: [&str; 4] = [
    "UpdateNodegroupVersion",
    "UpdateNodegroupConfig",
    "DeleteNodegroup",
    "UpdateClusterVersion",
];

/// Asks who did what.
pub(super) async fn activity(
    api: &Api,
    question: &AwsQuestion,
    known: &KnownInstances,
    origin: &Origin,
    (budget, now, deadline): (u64, Nanos, Instant),
) -> KindResult {
    let mut part = KindResult::new(Kind::Activity, &api.region);
    let reach = |before: Nanos| {
        let wide = Span {
            from: question.span.from.saturating_sub(before),
            to: question.span.to.saturating_add(AFTER).min(now),
        };
        Kind::Activity.available(wide, now)
    };
    let (Some(wide), Some(near)) = (reach(BEFORE), reach(SHORTLY)) else {
        part.expired = true;
        return part;
    };
    let mut scan = LookupScan {
        api,
        deadline,
        left: budget,
        not_made: 0,
        stopped: false,
        seen: BTreeSet::new(),
        records: Vec::new(),
        part,
    };
    let mut about = RecordFilter::new(question, known);
    let by_name = !known.names.is_empty();
    if by_name {
        // A machine that is gone is known by name to the call that made it.
        scan.look(LookupAttribute::Name(MADE), wide).await;
        about.learn(&scan.records, origin);
    }
    if about.ids.is_empty() || about.ids.len() > ONE_BY_ONE {
        for name in NAMES.iter().filter(|name| !by_name || **name != MADE) {
            scan.look(LookupAttribute::Name(name), near).await;
        }
        about.learn(&scan.records, origin);
    } else {
        scan.look(LookupAttribute::Name(RECLAIM), near).await;
        for id in about.ids_in_order(question) {
            scan.look(LookupAttribute::Resource(&id), wide).await;
        }
        for group in &about.groups {
            scan.look(LookupAttribute::Resource(group), near).await;
        }
        for name in OF_EKS.iter().filter(|_| !about.eks.is_empty()) {
            scan.look(LookupAttribute::Name(name), near).await;
        }
    }
    scan.finish(&about, origin)
}

/// The one attribute of a lookup.
#[derive(Clone, Copy, Debug)]
enum LookupAttribute<'b> {
    /// The event's name.
    Name(&'b str),
    /// An instance's id, a group's name.
    Resource(&'b str),
}

impl LookupAttribute<'_> {
    fn call(self, span: Span) -> ServiceCall {
        let (key, value) = match self {
            Self::Name(name) => ("EventName", name),
            Self::Resource(name) => ("ResourceName", name),
        };
        let mut fields = Fields::new();
        let end = span.to.div_euclid(SECOND) + i64::from(span.to.rem_euclid(SECOND) > 0);
        for (key, value) in [
            (
                "LookupAttributes",
                json!([{ "AttributeKey": key, "AttributeValue": value }]),
            ),
            ("StartTime", json!(span.from.div_euclid(SECOND))),
            ("EndTime", json!(end)),
            ("MaxResults", json!(50)),
        ] {
            fields.insert(key.to_owned(), value);
        }
        ServiceCall::lookup(fields)
    }
}

/// Lookups one after the other, while the budget lasts.
struct LookupScan<'s> {
    api: &'s Api,
    deadline: Instant,
    left: u64,
    not_made: u64,
    /// Asking on is of no use: denied, or no time is left.
    stopped: bool,
    seen: BTreeSet<String>,
    records: Vec<Fields>,
    part: KindResult,
}

impl LookupScan<'_> {
    async fn look(&mut self, by: LookupAttribute<'_>, span: Span) {
        if self.stopped || self.left == 0 {
            self.not_made += 1;
            return;
        }
        let call = by.call(span);
        let pages = self
            .api
            .pages(&call, self.left.min(PAGES), self.deadline)
            .await;
        self.left = self.left.saturating_sub(pages.requests);
        self.stopped = pages.failure.is_some();
        let what = match by {
            LookupAttribute::Name(name) => format!("calls of {name}, newest first"),
            LookupAttribute::Resource(name) => format!("calls about {name}, newest first"),
        };
        self.part.read(&pages, call.permission, &what);
        for record in pages.records {
            // Found by two attributes, it is still one call.
            let new =
                field::text(&record, &["EventId"]).is_none_or(|id| self.seen.insert(id.to_owned()));
            if new {
                self.records.push(record);
            }
        }
    }

    fn finish(mut self, about: &RecordFilter<'_>, origin: &Origin) -> KindResult {
        if self.not_made > 0 && self.part.came.answered {
            self.part.left(format!(
                "{} lookups were skipped: no requests or no time was left",
                self.not_made
            ));
        }
        self.records.retain(|record| about.concerns(record));
        self.part.records = self.records.len() as u64;
        for record in &self.records {
            let emitted = decode::emitted(record, origin, &mut self.part);
            let matching = emitted.into_iter().filter(|one| about.keeps(one));
            self.part.observations.extend(matching);
        }
        self.part
    }
}

/// What a record must be about.
struct RecordFilter<'q> {
    question: &'q AwsQuestion,
    ids: BTreeSet<String>,
    names: &'q BTreeSet<String>,
    groups: BTreeSet<String>,
    eks: &'q BTreeSet<String>,
}

impl<'q> RecordFilter<'q> {
    fn new(question: &'q AwsQuestion, known: &'q KnownInstances) -> Self {
        Self {
            question,
            ids: known.ids.clone(),
            names: &known.names,
            groups: known.groups.clone(),
            eks: &known.eks,
        }
    }

    /// Learns ids from calls that made machines of which only a name is known.
    fn learn(&mut self, records: &[Fields], origin: &Origin) {
        let named = || self.names.iter().chain(&self.question.experiments);
        let mut aside = KindResult::new(Kind::Activity, "");
        let mut made = Vec::new();
        for record in records {
            let text = text(record);
            if named().any(|name| text.contains(&quoted(name))) {
                made.extend(decode::emitted(record, origin, &mut aside));
            }
        }
        for one in made {
            let Observation::Object(version) = one else {
                continue;
            };
            let labels = &version.body.labels;
            let experiments = &self.question.experiments;
            let emitted = [version.body.experiment(), labels.get("Name").map(|n| &**n)];
            let ours = self.names.contains(&version.key.name)
                || emitted
                    .into_iter()
                    .flatten()
                    .any(|name| experiments.contains(name) || self.names.contains(name));
            if ours {
                self.groups.extend(labels.get(GROUP_TAG).cloned());
                self.ids.insert(version.key.uid);
            }
        }
    }

    /// Those that died first, so that the budget does not end before them.
    fn ids_in_order(&self, question: &AwsQuestion) -> Vec<String> {
        let died = |id: &String| question.machines.get(id).is_some_and(|wanted| wanted.died);
        let (first, rest): (Vec<String>, Vec<String>) = self.ids.iter().cloned().partition(died);
        first.into_iter().chain(rest).collect()
    }

    /// Whether a record names something of the question.
    fn concerns(&self, record: &Fields) -> bool {
        if self.question.is_about_anything() {
            return true;
        }
        let text = text(record);
        let names = self.groups.iter().chain(&self.question.experiments);
        let of_eks = field::text(record, &["EventSource"]) == Some("eks.amazonaws.com");
        self.ids.iter().any(|id| text.contains(id.as_str()))
            || names.into_iter().any(|name| text.contains(&quoted(name)))
            || (of_eks && self.eks.iter().any(|name| text.contains(&quoted(name))))
    }

    /// Whether a fact is about something of the question: a call often names
    /// several machines.
    fn keeps(&self, one: &Observation) -> bool {
        if self.question.is_about_anything() {
            return true;
        }
        match one {
            Observation::Event(event) => {
                let id = event.entities.instance.as_ref();
                let group = event.attribute("group");
                let experiment = event.entities.experiment.as_ref();
                id.is_none_or(|id| self.ids.contains(id))
                    || group.is_some_and(|group| self.groups.contains(group))
                    || experiment.is_some_and(|name| self.question.experiments.contains(name))
            }
            Observation::Object(version) => {
                let group = version.body.labels.get(GROUP_TAG);
                self.ids.contains(&version.key.uid)
                    || group.is_some_and(|group| self.groups.contains(group))
            }
            Observation::EventGrew { .. } => true,
        }
    }
}

/// The record itself, which a lookup gives as text.
fn text(record: &Fields) -> &str {
    let text = record.get("CloudTrailEvent").and_then(Value::as_str);
    text.unwrap_or_default()
}

/// A name as JSON has it.
fn quoted(name: &str) -> String {
    Value::from(name).to_string()
}
