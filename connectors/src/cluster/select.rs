//! A large cluster read for one question: names, labels and owners of everything, and of that the
//! objects and Events that the name concerns.
//!
//! What is read is what the store looks for afterwards, so that the answer is the one that full
//! lists give. What rows name beside the run (its machines, who preempted it, its claims) is known
//! only once they were taken in: [`SelectiveList::related`] reads those.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use super::client::RequestError;
use super::connect::{Cluster, Inner};
use super::event_filter::EventFilter;
use super::fetch::{self, ListJob, heads, heads_a_page};
use super::head::METADATA_ONLY;
use super::index::{Index, IndexedList, ObjectRow};
use super::list::{ListOutcome, ListTarget};
use super::plan::Plan;
use super::selector::{self, Selection};
use super::{event_lists, event_memory, page, select_rows};
use crate::connector::FetchRequest;
use crate::coverage::Coverage;
use crate::kind::normal_kind;
use crate::listing::{NameFilter, RelatedNames};
use crate::sink::Sink;

/// Namespaces whose Events are read one by one; those of more are read in one list of all.
const MOST_NAMESPACES: usize = 8;

/// Things whose Events are asked for one by one: the server looks through all of them each time.
const MOST_ASKED: usize = 8;

/// How a cluster was listed.
#[derive(Debug)]
pub enum Listed {
    /// In full.
    Whole(Vec<Coverage>),
    /// As far as the question needs.
    Selective(Box<SelectiveList>),
}

/// A cluster of which only what a question concerns was read.
pub struct SelectiveList {
    inner: Arc<Inner>,
    filter: Arc<dyn NameFilter>,
    request: FetchRequest,
    plan: Plan,
    index: Index,
    /// What became of each target.
    outcomes: BTreeMap<usize, ListOutcome>,
    /// Objects that each target has.
    totals: BTreeMap<usize, u64>,
    /// Numbers of the objects that were read.
    read: BTreeSet<ObjectRow>,
    /// Which Events were taken; `None` before any were read.
    events: Option<EventFilter>,
    /// Things whose own Events were asked for.
    asked: BTreeSet<(String, String)>,
    machines: BTreeSet<String>,
    has_faults: bool,
}

impl fmt::Debug for SelectiveList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SelectiveList").finish_non_exhaustive()
    }
}

impl Cluster {
    /// Lists what a name concerns, or everything where the cluster is small, does not list metadata
    /// alone, or is asked about a machine.
    pub async fn fetch_for(
        &self,
        fetch_request: &FetchRequest,
        filter: Option<Arc<dyn NameFilter>>,
        sink: &mut (dyn Sink + Send),
    ) -> Listed {
        let plan = fetch::planned(&self.inner, fetch_request).await;
        let filter = filter.filter(|_| self.inner.options.selective);
        let Some(filter) = filter else {
            return self.whole(plan, fetch_request, sink).await;
        };
        if !is_large(&self.inner, &plan, fetch_request).await {
            return self.whole(plan, fetch_request, sink).await;
        }
        let mut list = SelectiveList {
            inner: Arc::clone(&self.inner),
            filter,
            request: fetch_request.clone(),
            plan,
            index: Index::default(),
            outcomes: BTreeMap::new(),
            totals: BTreeMap::new(),
            read: BTreeSet::new(),
            events: None,
            asked: BTreeSet::new(),
            machines: BTreeSet::new(),
            has_faults: false,
        };
        list.learn(sink).await;
        if list.is_machine() {
            return self.whole(list.plan, fetch_request, sink).await;
        }
        list.family(sink).await;
        list.remember().await;
        Listed::Selective(Box::new(list))
    }

    async fn whole(
        &self,
        plan: Plan,
        fetch_request: &FetchRequest,
        sink: &mut (dyn Sink + Send),
    ) -> Listed {
        Listed::Whole(fetch::everything(&self.inner, plan, fetch_request, sink).await)
    }
}

/// Whether the pods are more than a page of metadata holds, and metadata alone can be had.
async fn is_large(inner: &Arc<Inner>, plan: &Plan, fetch_request: &FetchRequest) -> bool {
    let limit = heads_a_page(inner);
    let pods = plan.targets.iter().filter(|one| one.resource.is_pods());
    for target in pods {
        let path = format!("{}?limit={limit}", target.path());
        let cap = inner.options.max_page_bytes;
        let wire = &inner.wire;
        let body = wire.get(&path, Some(METADATA_ONLY), cap, fetch_request.deadline);
        // Other trouble is met again, and told, when everything is listed.
        let Ok(body) = body.await else {
            return false;
        };
        let is_more = page::read(&String::from_utf8_lossy(&body)).map(|page| !page.next.is_empty());
        if is_more.unwrap_or(false) {
            return true;
        }
    }
    false
}

impl SelectiveList {
    /// Names, labels and owners of everything, and who is known from Events alone.
    async fn learn(&mut self, sink: &mut (dyn Sink + Send)) {
        for target in &self.plan.targets {
            let resource = &target.resource;
            self.index.lists.push(IndexedList {
                kind: normal_kind(&resource.kind, &resource.api_version()).into(),
                namespaced: resource.namespaced,
            });
        }
        let targets = (0..).zip(self.plan.targets.iter().cloned());
        let jobs = targets.filter(|(_, target)| !target.resource.is_events());
        let jobs = jobs
            .map(|(of, target)| ListJob::whole(of, target))
            .collect();
        let (index, filter) = (&mut self.index, Arc::clone(&self.filter));
        let listed = heads(&self.inner, jobs, &self.request, &mut |of, page| {
            let Ok(of) = u16::try_from(of) else { return };
            for head in page {
                index.add(of, head, &*filter);
            }
        })
        .await;
        let mut unlisted = Vec::new();
        for (of, mut outcome) in listed {
            // A resource of which metadata alone cannot be had is read in full.
            if matches!(
                outcome.failure.as_ref().and_then(RequestError::code),
                Some(406 | 415)
            ) {
                unlisted.extend(
                    self.plan
                        .targets
                        .get(of)
                        .cloned()
                        .map(|one| ListJob::whole(of, one)),
                );
                continue;
            }
            self.totals.insert(of, outcome.rows);
            (outcome.rows, outcome.shown) = (0, 0);
            self.outcomes.insert(of, outcome);
        }
        self.index.link(&*self.filter);
        self.run(unlisted, sink).await;
        // What is gone may be known from its Events alone.
        if !self.filter.is_pattern() {
            let exact =
                event_lists::about(&self.plan.targets, None, &[("name", self.filter.name())]);
            self.run(exact, sink).await;
        }
        let best = self.index.best();
        if self.filter.is_pattern() || best.is_none_or(|best| best >= self.filter.guessed_from()) {
            let filter = EventFilter {
                filter: Some(Arc::clone(&self.filter)),
                ..EventFilter::default()
            };
            let jobs = event_lists::of(&self.plan.targets, None, &Arc::new(filter));
            self.run(jobs, sink).await;
        }
        // These come again with those of their namespaces, and are counted then.
        for (of, target) in (0..).zip(&self.plan.targets) {
            if target.resource.is_events()
                && let Some(outcome) = self.outcomes.get_mut(&of)
            {
                outcome.rows = 0;
            }
        }
    }

    /// Whether nothing but a machine bears the name: its question needs everything.
    fn is_machine(&self) -> bool {
        let name = self.filter.name();
        let is_node = |number: ObjectRow| {
            self.index
                .get(number)
                .is_some_and(|one| &*one.kind == "Node")
        };
        self.index.best().is_none() && self.index.of_name("", name).any(is_node)
    }

    /// Notes how far back Events go.
    async fn remember(&mut self) {
        for (of, target) in (0..).zip(&self.plan.targets) {
            if target.resource.is_events() {
                let oldest = event_memory::oldest(&self.inner, target, self.request.deadline);
                let seen = ListOutcome {
                    oldest: oldest.await,
                    ..ListOutcome::default()
                };
                self.outcomes.entry(of).or_default().add_outcome(seen);
            }
        }
    }

    /// What the name means, with all it owns and is owned by.
    async fn family(&mut self, sink: &mut (dyn Sink + Send)) {
        let family = self.index.family();
        let names: BTreeSet<(String, String)> = family
            .iter()
            .filter_map(|number| self.index.get(*number))
            .map(|one| (one.namespace.to_string(), one.name.to_string()))
            .collect();
        self.subjects(&names, sink).await;
    }

    /// Reads what the rows about the run name beside it, as far as it was not read yet.
    pub async fn related(&mut self, names: &RelatedNames, sink: &mut (dyn Sink + Send)) {
        self.subjects(&names.subjects, sink).await;
        let mut others: BTreeSet<ObjectRow> = BTreeSet::new();
        for uid in &names.uids {
            let found = self.index.of_uid(uid);
            others.extend(
                found
                    .into_iter()
                    .flat_map(|one| self.index.with_owners(one)),
            );
        }
        for (namespace, name) in &names.named {
            let found = self.index.of_name(namespace, name);
            others.extend(found.flat_map(|one| self.index.with_owners(one)));
        }
        let mut asked: BTreeSet<(String, String)> = names.named.clone();
        asked.extend(
            others
                .iter()
                .filter_map(|number| self.index.get(*number))
                .map(|one| (one.namespace.to_string(), one.name.to_string())),
        );
        let claims = names.claims.iter();
        let is_claim = |number: &ObjectRow| {
            let one = self.index.get(*number);
            one.is_some_and(|one| &*one.kind == "PersistentVolumeClaim")
        };
        others.extend(
            claims.flat_map(|(space, name)| self.index.of_name(space, name).filter(is_claim)),
        );
        self.objects(others, sink).await;
        self.events_about_others(&asked, sink).await;
        self.nodes(&names.machines, sink).await;
    }

    /// Reads what tells of faults that others saw, too: warnings of all namespaces, and all nodes.
    pub async fn faults(&mut self, sink: &mut (dyn Sink + Send)) {
        if std::mem::replace(&mut self.has_faults, true) {
            return;
        }
        let mut jobs = event_lists::with(&self.plan.targets, None, "type=Warning");
        jobs.extend(event_lists::about(
            &self.plan.targets,
            None,
            &[("kind", "Node")],
        ));
        let nodes = (0..).zip(&self.plan.targets);
        let nodes = nodes.filter(|(_, target)| target.resource.is_nodes());
        jobs.extend(nodes.map(|(of, target)| ListJob::whole(of, target.clone())));
        self.run(jobs, sink).await;
    }

    /// Reads what is nearest to a name that nothing bears, so that it can be offered.
    pub async fn nearest(&mut self, sink: &mut (dyn Sink + Send)) {
        let near = self.filter.nearest(self.index.names());
        let found = near.iter().flat_map(|name| self.index.called(name));
        let found: BTreeSet<ObjectRow> = found.collect();
        self.objects(found, sink).await;
    }

    /// What became of all lists.
    #[must_use]
    pub fn rows(&self) -> Vec<Coverage> {
        let mut rows = self.plan.rows.clone();
        for (of, target) in (0..).zip(&self.plan.targets) {
            let (Some(listed), total) = (self.outcomes.get(&of), self.totals.get(&of)) else {
                continue;
            };
            let row = fetch::row(&self.inner, target, listed, &self.request);
            rows.push(select_rows::of(row, target, listed, total.copied()));
        }
        rows.sort();
        rows
    }

    /// Objects of some names, and the Events of their namespaces.
    async fn subjects(&mut self, names: &BTreeSet<(String, String)>, sink: &mut (dyn Sink + Send)) {
        let found = names
            .iter()
            .flat_map(|(space, name)| self.index.of_name(space, name));
        let found: BTreeSet<ObjectRow> = found.collect();
        self.objects(found, sink).await;
        let mut known = self.events.take().unwrap_or_default();
        known.filter = Some(Arc::clone(&self.filter));
        // Of namespaces that were looked through, only what was passed over is missing.
        let (old, new): (Vec<_>, Vec<_>) = names
            .iter()
            .filter(|(space, name)| !known.covers(space, name))
            .cloned()
            .partition(|(space, _)| known.namespaces.contains(space));
        for (space, name) in &new {
            known.add(space, name);
            known.namespaces.insert(space.clone());
        }
        let spaces: BTreeSet<String> = new.into_iter().map(|(space, _)| space).collect();
        let keep = Arc::new(known.clone());
        let jobs = if spaces.len() > MOST_NAMESPACES {
            event_lists::of(&self.plan.targets, None, &keep)
        } else {
            let each = spaces.iter();
            each.flat_map(|space| event_lists::of(&self.plan.targets, Some(space), &keep))
                .collect()
        };
        self.events = Some(known);
        self.run(jobs, sink).await;
        self.events_about_others(&old.into_iter().collect(), sink)
            .await;
    }

    async fn events_about_others(
        &mut self,
        names: &BTreeSet<(String, String)>,
        sink: &mut (dyn Sink + Send),
    ) {
        let mut spaces: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
        for (space, name) in names {
            let known = self.events.as_ref();
            let is_known = known.is_some_and(|known| known.covers(space, name));
            if !is_known && self.asked.insert((space.clone(), name.clone())) {
                spaces.entry(space).or_default().push(name);
            }
        }
        let targets = &self.plan.targets;
        let mut jobs = Vec::new();
        for (space, names) in spaces {
            if names.len() > MOST_ASKED {
                let mut keep = EventFilter::default();
                names.iter().for_each(|name| keep.add(space, name));
                jobs.extend(event_lists::of(targets, Some(space), &Arc::new(keep)));
                continue;
            }
            let each = names.iter();
            jobs.extend(
                each.flat_map(|name| event_lists::about(targets, Some(space), &[("name", name)])),
            );
        }
        self.run(jobs, sink).await;
    }

    async fn nodes(&mut self, names: &BTreeSet<String>, sink: &mut (dyn Sink + Send)) {
        let new: BTreeSet<String> = names.difference(&self.machines).cloned().collect();
        let found = new.iter().flat_map(|name| self.index.of_name("", name));
        let found: BTreeSet<ObjectRow> = found.collect();
        // Instances and machines elsewhere are no nodes, and a node may be gone but for its Events.
        let can_be_listed = self.plan.targets.iter().any(|one| one.resource.is_nodes());
        self.objects(found, sink).await;
        self.machines.extend(new.iter().cloned());
        if new.is_empty() || self.has_faults || !can_be_listed && new.len() > MOST_ASKED {
            return;
        }
        let jobs = if new.len() <= MOST_ASKED {
            let each = new.iter();
            each.flat_map(|name| {
                event_lists::about(
                    &self.plan.targets,
                    None,
                    &[("kind", "Node"), ("name", name)],
                )
            })
            .collect()
        } else {
            let filter = Arc::new(EventFilter {
                nodes: new,
                ..EventFilter::default()
            });
            let mut jobs = event_lists::about(&self.plan.targets, None, &[("kind", "Node")]);
            jobs.iter_mut()
                .for_each(|job| job.keep = Some(Arc::clone(&filter)));
            jobs
        };
        self.run(jobs, sink).await;
    }

    /// Reads objects in full.
    async fn objects(&mut self, wanted: BTreeSet<ObjectRow>, sink: &mut (dyn Sink + Send)) {
        let new: BTreeSet<ObjectRow> = wanted.difference(&self.read).copied().collect();
        self.read.extend(&new);
        let jobs = selector::selections(&self.index, &new, self.filter.labels());
        let jobs = jobs
            .into_iter()
            .filter_map(|selection| self.of_selection(selection));
        let jobs = jobs.collect();
        self.run(jobs, sink).await;
    }

    fn of_selection(&self, selection: Selection) -> Option<ListJob> {
        let of = usize::from(selection.list);
        let target = self.plan.targets.get(of)?;
        let whole = ListJob::whole(of, target.clone());
        let namespace = Some(selection.namespace).filter(|name| !name.is_empty());
        Some(ListJob {
            target: ListTarget {
                resource: target.resource.clone(),
                namespace,
            },
            select: selection.select,
            ..whole
        })
    }

    /// Reads lists, notes what became of them, and who is known from Events alone.
    async fn run(&mut self, jobs: Vec<ListJob>, sink: &mut (dyn Sink + Send)) {
        if jobs.is_empty() {
            return;
        }
        let mut seen: BTreeSet<(String, String, String)> = BTreeSet::new();
        let filter = &self.filter;
        let listed = fetch::read(&self.inner, jobs, &self.request, &mut |page| {
            seen.extend(
                page.iter()
                    .filter_map(|one| event_lists::bearer(one, &**filter)),
            );
            sink.observe(page);
        })
        .await;
        for (of, outcome) in listed {
            self.outcomes.entry(of).or_default().add_outcome(outcome);
        }
        let is_new = |(kind, space, name): &&(String, String, String)| {
            let mut known = self.index.of_name(space, name);
            !known.any(|one| self.index.get(one).is_some_and(|one| *one.kind == **kind))
        };
        let new: Vec<_> = seen.iter().filter(is_new).cloned().collect();
        for (kind, space, name) in &new {
            self.index.add_unlisted((kind, space, name), &*self.filter);
        }
        if !new.is_empty() {
            self.index.sort();
        }
    }
}
