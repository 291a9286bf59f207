//! Which instances there are: their states, their groups, and who has which name.

use std::collections::BTreeSet;
use std::time::Instant;

use super::api::{Api, Fields, ServiceCall};
use super::decode;
use super::part::{Kind, KindResult};
use super::question::AwsQuestion;
use super::region;
use crate::aws::{GROUP_TAG, tags};
use crate::cloud::field;
use crate::event::Origin;

/// Values that one filter may have.
const VALUES: usize = 200;
/// Instances asked for in one page.
const PAGE: &str = "1000";
/// Pages of one question.
const PAGES: u64 = 5;
/// Tags that name an experiment, and the one that names an instance.
const NAMED_BY: [&str; 4] = [
    "tag:experiment",
    "tag:experiment-name",
    "tag:experiment_name",
    "tag:Name",
];

/// What is known of the machines of a question, in one region.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct KnownInstances {
    /// Instances that the question is about.
    pub(super) ids: BTreeSet<String>,
    /// Those of them that EC2 still lists.
    pub(super) listed: BTreeSet<String>,
    /// Whether EC2 said which it lists.
    pub(super) is_list: bool,
    /// Names of which no instance is known.
    pub(super) names: BTreeSet<String>,
    /// Their Auto Scaling groups.
    pub(super) groups: BTreeSet<String>,
    /// Of each of them a group is known.
    pub(super) all_grouped: bool,
    /// Their clusters and node groups of EKS.
    pub(super) eks: BTreeSet<String>,
}

/// Asks which instances of the question there are.
pub(super) async fn instances(
    api: &Api,
    question: &AwsQuestion,
    origin: &Origin,
    deadline: Instant,
) -> (KindResult, KnownInstances) {
    let mut part = KindResult::new(Kind::Instances, &api.region);
    let mut known = KnownInstances {
        ids: question.machines.keys().cloned().collect(),
        names: question.names.keys().cloned().collect(),
        ..KnownInstances::default()
    };
    let mut records = Vec::new();
    let mut failed = false;
    for call in calls(question) {
        let pages = api.pages(&call, PAGES, deadline).await;
        part.read(&pages, call.permission, "instances");
        failed |= pages.failure.is_some();
        records.extend(pages.records);
        if failed {
            break;
        }
    }
    known.is_list = !failed;
    let mut grouped = BTreeSet::new();
    for record in &records {
        for instance in field::objects(record, &["Instances"]) {
            known.learn(instance, &mut grouped);
        }
    }
    known.all_grouped = !known.ids.is_empty() && known.ids.is_subset(&grouped);
    part.records = known.listed.len() as u64;
    decode::keep(&records, origin, &mut part);
    known.emit(&mut part);
    (part, known)
}

/// The requests. Filters are used where ids could be named: an id that is no
/// longer known would fail the whole request.
fn calls(question: &AwsQuestion) -> Vec<ServiceCall> {
    let base = || {
        ServiceCall::ec2("DescribeInstances", "ec2:DescribeInstances", "Reservations")
            .with("MaxResults", PAGE)
    };
    let by = |filter: &str, values: &[&str]| -> Vec<ServiceCall> {
        let chunks = values.chunks(VALUES);
        chunks
            .map(|chunk| base().filter(1, filter, chunk.iter().copied()))
            .collect()
    };
    if question.is_about_anything() {
        return vec![base()];
    }
    let ids: Vec<&str> = question.machines.keys().map(String::as_str).collect();
    let (dns, other): (Vec<&str>, Vec<&str>) = question
        .names
        .keys()
        .map(String::as_str)
        .partition(|name| region::of_dns(name).is_some());
    let mut calls = by("instance-id", &ids);
    calls.extend(by("private-dns-name", &dns));
    calls.extend(by("tag:Name", &other));
    let experiments: Vec<&str> = question.experiments.iter().map(String::as_str).collect();
    calls.extend(NAMED_BY.iter().flat_map(|tag| by(tag, &experiments)));
    calls
}

impl KnownInstances {
    fn learn(&mut self, instance: &Fields, grouped: &mut BTreeSet<String>) {
        let Some(id) = field::text(instance, &["InstanceId"]) else {
            return;
        };
        self.ids.insert(id.to_owned());
        self.listed.insert(id.to_owned());
        let tags = tags(field::objects(instance, &["Tags"]));
        for name in [
            field::text(instance, &["PrivateDnsName"]),
            tags.get("Name").map(String::as_str),
        ] {
            self.names.remove(name.unwrap_or_default());
        }
        if let Some(group) = tags.get(GROUP_TAG) {
            self.groups.insert(group.clone());
            grouped.insert(id.to_owned());
        }
        for tag in ["eks:cluster-name", "eks:nodegroup-name"] {
            self.eks.extend(tags.get(tag).cloned());
        }
    }

    /// Says which machines are not there any more.
    fn emit(&self, part: &mut KindResult) {
        let wanted = self.ids.len() + self.names.len();
        let missing = wanted - self.listed.len();
        if !self.is_list || missing == 0 {
            return;
        }
        part.expired = self.listed.is_empty() && !self.ids.is_empty();
        part.note(format!(
            "{missing} of {wanted} machines are not listed: EC2 drops terminated ones after about an hour, or they are in another account"
        ));
    }
}
