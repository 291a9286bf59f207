//! What Auto Scaling did to the instances and their groups, and why.

use std::collections::BTreeSet;
use std::time::Instant;

use super::api::{Api, Fields, ServiceCall};
use super::decode;
use super::instances::KnownInstances;
use super::part::{Kind, KindResult};
use super::question::{AFTER, AwsQuestion};
use crate::cloud::field;
use crate::event::Origin;
use crate::log_store::Span;
use crate::time::{Nanos, SECOND, rfc3339};

/// Activities asked for in one page; AWS gives no more.
const PAGE: &str = "100";
/// Pages of one group, or of all groups together.
const PAGES: u64 = 10;
/// Groups that are asked for one by one.
const MOST_GROUPS: usize = 20;
/// What a group did before that still concerns what it did later.
const BEFORE: Nanos = 3600 * SECOND;

/// Asks for the activities of the machines' groups. Where the group of some is
/// not known, as of machines that are gone, all groups are looked through.
pub(super) async fn activities(
    api: &Api,
    question: &AwsQuestion,
    known: &KnownInstances,
    origin: &Origin,
    (now, deadline): (Nanos, Instant),
) -> KindResult {
    let mut part = KindResult::new(Kind::ScalingActivities, &api.region);
    let wide = Span {
        from: question.span.from.saturating_sub(BEFORE),
        to: question.span.to.saturating_add(AFTER).min(now),
    };
    let Some(span) = part.kind.available(wide, now) else {
        part.expired = true;
        return part;
    };
    let base = call(span);
    let one_by_one = known.all_grouped && known.groups.len() <= MOST_GROUPS;
    let calls: Vec<ServiceCall> = if one_by_one {
        let groups = known.groups.iter();
        groups
            .map(|group| base.clone().with("AutoScalingGroupName", group))
            .collect()
    } else {
        vec![base]
    };
    let mut records = Vec::new();
    for call in calls {
        let pages = api.pages(&call, PAGES, deadline).await;
        part.read(&pages, call.permission, "activities, newest first");
        records.extend(pages.records);
        if pages.failure.is_some() {
            break;
        }
    }
    if !question.is_about_anything() && !one_by_one {
        concerned(&mut records, known, question);
        part.records = records.len() as u64;
    }
    decode::keep(&records, origin, &mut part);
    part
}

fn call(span: Span) -> ServiceCall {
    let seconds = |at: Nanos| rfc3339(at.div_euclid(SECOND) * SECOND);
    ServiceCall::activities()
        .with("MaxRecords", PAGE)
        .with("IncludeDeletedGroups", "true")
        .with("Filters.member.1.Name", "StartTimeLowerBound")
        .with("Filters.member.1.Values.member.1", seconds(span.from))
        .with("Filters.member.2.Name", "StartTimeUpperBound")
        .with(
            "Filters.member.2.Values.member.1",
            seconds(span.to + SECOND),
        )
}

/// Keeps the activities of groups that have, or had, one of the machines.
fn concerned(records: &mut Vec<Fields>, known: &KnownInstances, question: &AwsQuestion) {
    let text = |record: &Fields, key: &str| field::owned(record, &[key]).unwrap_or_default();
    let mut groups: BTreeSet<String> = known.groups.clone();
    groups.extend(question.experiments.iter().cloned());
    for record in records.iter() {
        let description = text(record, "Description");
        if known.ids.iter().any(|id| description.contains(id.as_str())) {
            groups.insert(text(record, "AutoScalingGroupName"));
        }
    }
    records.retain(|record| groups.contains(&text(record, "AutoScalingGroupName")));
}
