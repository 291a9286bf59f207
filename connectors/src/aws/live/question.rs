//! Which machines are asked about, where and when.

use std::collections::{BTreeMap, BTreeSet};

use super::region;
use crate::connector::{Entity, FetchRequest, Window};
use crate::log_store::Span;
use crate::machine::{Cloud, Machine};
use crate::time::{Nanos, SECOND};

/// What is announced lies up to this long before what it announces.
pub(super) const BEFORE: Nanos = 7 * 86_400 * SECOND;
/// What happened just before the end may be recorded somewhat later.
pub(super) const AFTER: Nanos = 900 * SECOND;
/// What is recent where no window is given.
const RECENT: Nanos = 86_400 * SECOND;

/// A machine that is asked about.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MachineTarget {
    /// Its region, where a name of it tells.
    pub(super) region: Option<String>,
    /// Whether something that happened to it is to be explained.
    pub(super) died: bool,
}

/// What a question comes to for AWS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct AwsQuestion {
    /// Machines by id.
    pub(super) machines: BTreeMap<String, MachineTarget>,
    /// Machines of which only a name is known, with the region that it tells.
    pub(super) names: BTreeMap<String, Option<String>>,
    /// Names of experiments, where no machine is known at all.
    pub(super) experiments: BTreeSet<String>,
    /// How many machines are none of AWS's.
    pub(super) elsewhere: usize,
    /// From when to when, as asked.
    pub(super) span: Span,
}

impl AwsQuestion {
    /// Reads a question.
    pub(super) fn of(fetch_request: &FetchRequest) -> Self {
        let mut question = Self {
            machines: BTreeMap::new(),
            names: BTreeMap::new(),
            experiments: BTreeSet::new(),
            elsewhere: 0,
            span: span(fetch_request),
        };
        for entity in fetch_request
            .scope
            .nodes
            .iter()
            .chain(&fetch_request.scope.instances)
        {
            question.take(entity);
        }
        if question.machines.is_empty() && question.names.is_empty() && question.elsewhere == 0 {
            question.experiments = fetch_request.scope.experiments.iter().cloned().collect();
        }
        question
    }

    fn take(&mut self, entity: &Entity) {
        let uid = entity
            .uid
            .as_deref()
            .and_then(|uid| known(uid).map(|machine| (uid, machine)));
        let found = uid
            .map(|(_, machine)| machine)
            .or_else(|| known(&entity.name));
        let by_name = region::of_dns(&entity.name);
        match found {
            Some(machine) if machine.cloud != Cloud::Aws => self.elsewhere += 1,
            Some(machine) => {
                let emitted = machine.zone.as_deref().and_then(region::of_zone);
                // Fargate's machines are AWS's own: nobody is told of them.
                let Some(id) = machine.id.filter(|id| id.starts_with("i-")) else {
                    self.elsewhere += 1;
                    return;
                };
                let wanted = self.machines.entry(id).or_default();
                wanted.region = wanted.region.take().or(emitted).or(by_name);
                wanted.died |= !entity.moments.is_empty();
            }
            // Another kind of provider: `k3s://…`, `kind://…`.
            None if entity.uid.as_deref().is_some_and(|uid| uid.contains("://")) => {
                self.elsewhere += 1;
            }
            None => {
                self.names.entry(entity.name.clone()).or_insert(by_name);
            }
        }
    }

    /// Whether it is about no machine and no experiment: whatever is recent.
    pub(super) fn is_about_anything(&self) -> bool {
        self.machines.is_empty()
            && self.names.is_empty()
            && self.experiments.is_empty()
            && self.elsewhere == 0
    }

    /// Whether AWS can have nothing to do with it.
    pub(super) fn is_elsewhere(&self) -> bool {
        self.elsewhere > 0 && self.machines.is_empty() && self.names.is_empty()
    }

    /// The regions to ask: those of the machines, and the configured ones where
    /// some machine does not tell its own.
    pub(super) fn regions(&self, configured: &[String]) -> BTreeSet<String> {
        let emitted = self.machines.values().map(|wanted| &wanted.region);
        let emitted: BTreeSet<&Option<String>> = emitted.chain(self.names.values()).collect();
        let open = emitted.is_empty() || emitted.contains(&None);
        let mut regions: BTreeSet<String> = emitted.into_iter().flatten().cloned().collect();
        if open {
            regions.extend(configured.iter().cloned());
        }
        regions
    }

    /// What of it is asked in one region.
    pub(super) fn within(&self, region: &str) -> Self {
        let here =
            |emitted: &Option<String>| emitted.as_deref().is_none_or(|emitted| emitted == region);
        let mut question = self.clone();
        question.machines.retain(|_, wanted| here(&wanted.region));
        question.names.retain(|_, emitted| here(emitted));
        question
    }
}

/// A machine of which a name tells the cloud.
fn known(name: &str) -> Option<Machine> {
    Machine::parse_provider_id(name)
}

/// From when to when: the window, else when the machines were there, else of late.
fn span(fetch_request: &FetchRequest) -> Span {
    let entities = || {
        fetch_request
            .scope
            .nodes
            .iter()
            .chain(&fetch_request.scope.instances)
    };
    let all = || entities().map(|entity| entity.window);
    let open = |side: fn(Window) -> Option<Nanos>| all().any(|window| side(window).is_none());
    let from = fetch_request.window.from.or_else(|| {
        let emitted = all().filter_map(|window| window.from).min();
        emitted.filter(|_| !open(|window| window.from))
    });
    let to = fetch_request.window.to.or_else(|| {
        let emitted = all().filter_map(|window| window.to).max();
        emitted.filter(|_| !open(|window| window.to))
    });
    let to = to.unwrap_or(fetch_request.now).min(fetch_request.now);
    let from = from.unwrap_or_else(|| to.saturating_sub(RECENT)).min(to);
    Span { from, to }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;
    use crate::connector::Scope;

    fn fetch_request(nodes: &[(&str, Option<&str>)], experiments: &[&str]) -> FetchRequest {
        let nodes = nodes.iter().map(|(name, uid)| Entity {
            name: (*name).to_owned(),
            uid: uid.map(str::to_owned),
            ..Entity::default()
        });
        FetchRequest {
            scope: Scope {
                nodes: nodes.collect(),
                experiments: experiments.iter().map(|name| (*name).to_owned()).collect(),
                ..Scope::default()
            },
            window: Window::default(),
            now: 1_000_000 * SECOND,
            deadline: Instant::now(),
        }
    }

    #[test]
    fn machines_are_known_by_whatever_names_them() {
        let question = AwsQuestion::of(&fetch_request(
            &[
                ("gpu-1", Some("aws:///us-east-1a/i-0123456789abcdef0")),
                ("gpu-2", Some("i-0123456789abcdef1")),
                ("i-0123456789abcdef2.eu-west-1.compute.internal", None),
                ("ip-10-0-0-1.us-west-2.compute.internal", None),
                ("gpu-3", Some("gce://lab/us-central1-a/gpu-3")),
                ("gpu-4", Some("k3s://gpu-4")),
                ("gpu-5", None),
            ],
            &["e1"],
        ));
        let machines: Vec<_> = question
            .machines
            .iter()
            .map(|(id, wanted)| (id.as_str(), wanted.region.as_deref()))
            .collect();
        assert_eq!(
            machines,
            [
                ("i-0123456789abcdef0", Some("us-east-1")),
                ("i-0123456789abcdef1", None),
                ("i-0123456789abcdef2", Some("eu-west-1")),
            ]
        );
        assert_eq!(question.names.len(), 2);
        assert_eq!(question.elsewhere, 2);
        assert!(question.experiments.is_empty());
        let regions = question.regions(&["ap-south-1".to_owned()]);
        let regions: Vec<&str> = regions.iter().map(String::as_str).collect();
        assert_eq!(
            regions,
            ["ap-south-1", "eu-west-1", "us-east-1", "us-west-2"]
        );
        let here = question.within("us-east-1");
        assert_eq!((here.machines.len(), here.names.len()), (2, 1));
    }

    #[test]
    fn questions_without_machines_of_aws() {
        let elsewhere = AwsQuestion::of(&fetch_request(&[("a", Some("gce://p/z/a"))], &["e1"]));
        assert!(elsewhere.is_elsewhere() && elsewhere.experiments.is_empty());
        let named = AwsQuestion::of(&fetch_request(&[], &["e1"]));
        assert!(!named.is_about_anything() && !named.is_elsewhere());
        let anything = AwsQuestion::of(&fetch_request(&[], &[]));
        assert!(anything.is_about_anything());
        assert_eq!(anything.span.length(), RECENT);
        assert!(anything.regions(&[]).is_empty());
    }
}
