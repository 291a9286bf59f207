//! AWS Health: what AWS announced for the machines, and its own outages.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use serde_json::json;

use super::api::{Api, Fields, Pages, ServiceCall};
use super::decode;
use super::instances::KnownInstances;
use super::part::{Kind, KindResult};
use super::question::{AFTER, AwsQuestion, BEFORE};
use crate::cloud::fact::set_message;
use crate::cloud::field;
use crate::event::{Event, Origin};
use crate::log_store::Span;
use crate::observation::Observation;
use crate::time::{Nanos, SECOND, rfc3339};

/// Machines that one filter may name.
const ENTITIES: usize = 99;
/// Events that one request may name.
const ARNS: usize = 10;
/// Records asked for in one page.
const PAGE: u64 = 100;
/// Pages of one question.
const PAGES: u64 = 5;
/// Services without which machines and clusters do not work.
const NEEDED: [&str; 4] = ["EC2", "EBS", "VPC", "EKS"];

/// Asks for events about the machines, and for AWS's own troubles in the region.
pub(super) async fn notices(
    api: &Api,
    question: &AwsQuestion,
    known: &KnownInstances,
    origin: &Origin,
    (now, deadline): (Nanos, Instant),
) -> KindResult {
    let mut part = KindResult::new(Kind::Health, &api.region);
    let wide = Span {
        from: question.span.from.saturating_sub(BEFORE),
        to: question.span.to.saturating_add(AFTER).min(now),
    };
    let Some(span) = part.kind.available(wide, now) else {
        part.expired = true;
        return part;
    };
    let mut reader = Reader {
        api,
        deadline,
        part,
        stopped: false,
    };
    let found = reader.events(question, known, span).await;
    let described = reader.described(&found).await;
    let entities = reader.entities(&found, known).await;
    let mut part = reader.part;
    part.records = found.events.len() as u64;
    for (arn, event) in &found.events {
        let emitted = described.get(arn).unwrap_or(event);
        decode::keep([emitted], origin, &mut part);
    }
    for entity in &entities {
        let event = field::text(entity, &["eventArn"]).and_then(|arn| found.events.get(arn));
        let text = field::text(entity, &["eventArn"]).and_then(|arn| described.get(arn));
        for mut one in decode::emitted(entity, origin, &mut part) {
            if let (Observation::Event(fact), Some(event)) = (&mut one, event) {
                complete(fact, event, text);
            }
            part.observations.push(one);
        }
    }
    part
}

/// Events, and which of them are about machines of the question.
#[derive(Debug, Default)]
struct MatchingNotices {
    /// By ARN.
    events: BTreeMap<String, Fields>,
    /// ARNs of those that have machines to be asked for.
    of_machines: BTreeSet<String>,
}

impl MatchingNotices {
    fn take(&mut self, records: Vec<Fields>, of_machines: bool) {
        for record in records {
            let Some(arn) = field::owned(&record, &["arn"]) else {
                continue;
            };
            if of_machines {
                self.of_machines.insert(arn.clone());
            }
            self.events.entry(arn).or_insert(record);
        }
    }
}

struct Reader<'r> {
    api: &'r Api,
    deadline: Instant,
    part: KindResult,
    /// Asking on is of no use.
    stopped: bool,
}

impl Reader<'_> {
    async fn pages(&mut self, call: &ServiceCall, what: &str) -> Pages {
        if self.stopped {
            return Pages::default();
        }
        let pages = self.api.pages(call, PAGES, self.deadline).await;
        self.part.read(&pages, call.permission, what);
        self.stopped = pages.failure.is_some();
        pages
    }

    async fn events(
        &mut self,
        question: &AwsQuestion,
        known: &KnownInstances,
        span: Span,
    ) -> MatchingNotices {
        let mut found = MatchingNotices::default();
        let anything = question.is_about_anything();
        // Those that were updated since, whenever they began.
        let filter = |categories: &[&str]| {
            json!({
                "services": ["EC2"],
                "regions": [self.api.region],
                "eventTypeCategories": categories,
                "lastUpdatedTimes": [{ "from": span.from.div_euclid(SECOND) }],
            })
        };
        let of_machines = filter(&["issue", "scheduledChange"]);
        let mut of_region = filter(&["issue"]);
        of_region["services"] = json!(NEEDED);
        let ids: Vec<&str> = known.ids.iter().map(String::as_str).collect();
        for chunk in ids.chunks(ENTITIES).filter(|_| !anything) {
            let mut filter = of_machines.clone();
            filter["entityValues"] = json!(chunk);
            let pages = self.pages(&list(&filter), "events").await;
            found.take(pages.records, true);
        }
        let others = if anything { of_machines } else { of_region };
        let mut pages = self.pages(&list(&others), "events of the region").await;
        pages.records.retain(|event| concerns(event, question.span));
        found.take(pages.records, anything);
        found
    }

    /// The events with their texts, by ARN.
    async fn described(&mut self, found: &MatchingNotices) -> BTreeMap<String, Fields> {
        let mut described = BTreeMap::new();
        let arns: Vec<&String> = found.events.keys().collect();
        for chunk in arns.chunks(ARNS) {
            let mut fields = Fields::new();
            fields.insert("eventArns".to_owned(), json!(chunk));
            let call = ServiceCall::health(
                "DescribeEventDetails",
                "health:DescribeEventDetails",
                "successfulSet",
                fields,
            );
            let pages = self.pages(&call, "texts of events").await;
            for record in pages.records {
                if let Some(arn) = field::owned(&record, &["event", "arn"]) {
                    described.insert(arn, record);
                }
            }
        }
        described
    }

    /// The machines of events.
    async fn entities(&mut self, found: &MatchingNotices, known: &KnownInstances) -> Vec<Fields> {
        let mut entities = Vec::new();
        let arns: Vec<&String> = found.of_machines.iter().collect();
        let ids: Vec<&String> = known.ids.iter().collect();
        for arns in arns.chunks(ARNS) {
            let mut filters = Vec::new();
            for ids in ids.chunks(ENTITIES) {
                filters.push(json!({ "eventArns": arns, "entityValues": ids }));
            }
            if filters.is_empty() {
                filters.push(json!({ "eventArns": arns }));
            }
            for filter in filters {
                let call = paged(
                    "DescribeAffectedEntities",
                    "health:DescribeAffectedEntities",
                    "entities",
                    &filter,
                );
                entities.extend(self.pages(&call, "machines of events").await.records);
            }
        }
        entities
    }
}

fn list(filter: &serde_json::Value) -> ServiceCall {
    paged("DescribeEvents", "health:DescribeEvents", "events", filter)
}

fn paged(
    action: &'static str,
    permission: &'static str,
    items: &'static str,
    filter: &serde_json::Value,
) -> ServiceCall {
    let mut fields = Fields::new();
    fields.insert("filter".to_owned(), filter.clone());
    fields.insert("maxResults".to_owned(), json!(PAGE));
    ServiceCall::health(action, permission, items, fields)
}

/// Whether an event of the region lies in the time asked about. What is
/// scheduled was announced and may lie ahead.
fn concerns(event: &Fields, span: Span) -> bool {
    let at = |key: &str| field::time(event, &[key]).map(|read| read.stamp.lo);
    let scheduled = field::text(event, &["eventTypeCategory"]) == Some("scheduledChange");
    let begun = at("startTime").is_none_or(|start| start <= span.to.saturating_add(AFTER));
    let lasted = at("endTime").is_none_or(|end| end >= span.from.saturating_sub(AFTER));
    scheduled || (begun && lasted)
}

/// A machine's part in an event does not say when the event is due, nor what it
/// is about: the event does.
fn complete(fact: &mut Event, event: &Fields, described: Option<&Fields>) {
    let at = |key: &str| field::time(event, &[key]).map(|read| rfc3339(read.stamp.lo));
    fact.set_attribute("not_before", at("startTime"));
    fact.set_attribute("not_after", at("endTime"));
    let description =
        described.and_then(|text| field::text(text, &["eventDescription", "latestDescription"]));
    if let Some(description) = description {
        set_message(fact, description);
    }
}
