//! From cause to effect, step by step.

use std::collections::BTreeSet;
use whathappened_core::death::DeathState;
use whathappened_core::signals::named;

use whathappened_core::describe::describe;
use whathappened_core::evidence::SpillError;
use whathappened_core::graph::{Fact, TaskKind};
use whathappened_core::timeline::{is_undated, undated_words};
use whathappened_model::time::{Nanos, SECOND, Stamp, rfc3339};

use super::context::ReportContext;
use super::record::reported;
use crate::answer::{ChainLink, StepRole, grouped};
use crate::explain::candidate::{Candidate, Step};
use crate::explain::edge::Kind;
use crate::explain::gang::Finding;

/// Most announcements that a chain shows.
const CITED: usize = 16;

/// What is reported this soon after a death is shown when it was reported, and so is what may have
/// begun long before.
const SOON: Nanos = 60 * SECOND;
const LONG: Nanos = 120 * SECOND;

/// Whether a fact that was reported well after a death was so before it, as far as is known.
fn was_before(fact: &Fact, died: Nanos) -> bool {
    let late = fact.time.lo.saturating_sub(fact.onset);
    fact.onset <= died && died.saturating_add(SOON) < fact.time.lo && late <= LONG
}

impl ReportContext<'_> {
    fn link(
        &self,
        fact: usize,
        role: StepRole,
        edge: Option<Kind>,
        died: Option<Nanos>,
    ) -> Result<Option<ChainLink>, SpillError> {
        let Some(event) = self.event(fact)? else {
            return Ok(None);
        };
        let about = event
            .entities
            .pod
            .as_deref()
            .or(event.entities.workload.as_deref())
            .or(event.entities.node.as_deref())
            .or(event.entities.instance.as_deref());
        let text = match about {
            Some(about) if !describe(&event).contains(about) => {
                format!("{about}: {}", describe(&event))
            }
            _ => describe(&event),
        };
        let time = match self.fact(fact) {
            // What was reported only after the death that it brought about was so before it.
            Some(fact) if died.is_some_and(|died| was_before(fact, died)) => Stamp {
                lo: fact.onset,
                hi: fact.time.hi,
            },
            // A folded Event is of several times.
            Some(fact) if event.count.is_some_and(|count| count > 1) => fact.time,
            Some(fact) if is_undated(&event) => fact.time,
            _ => event.time,
        };
        let text = if is_undated(&event) && time != Stamp::OPEN {
            undated_words(&text)
        } else {
            text
        };
        Ok(Some(ChainLink {
            time: reported(time).map(|time| rfc3339(time.lo)),
            time_hi: reported(time)
                .filter(|time| time.hi.saturating_sub(time.lo) > SECOND && time.hi != Nanos::MAX)
                .map(|time| rfc3339(time.hi)),
            role,
            text,
            edge,
            event_ids: vec![event.id.to_string()],
        }))
    }

    /// From the root to the deaths and what they brought down.
    pub(super) fn chain(&self, finding: &Finding) -> Result<Vec<ChainLink>, SpillError> {
        let mut links = Vec::new();
        let died = finding
            .victims
            .iter()
            .filter_map(|death| self.death(*death));
        let died = died
            .filter(|death| !death.goes_on())
            .map(|death| death.time.hi);
        let died = died.min();
        if let Some(candidate) = &finding.candidate {
            let root_time = self.fact(candidate.root()).map(|fact| fact.time);
            let mut context: Vec<&Step> = candidate.context.iter().collect();
            context.sort_by_key(|step| self.fact(step.fact).map(|fact| (fact.time, fact.id)));
            context.dedup_by_key(|step| self.fact(step.fact).map(|fact| fact.id));
            // A record that is a step itself is told once.
            let row = |step: &Step| self.fact(step.fact).map(|fact| fact.row);
            let steps: Vec<_> = candidate.path.iter().map(row).collect();
            context.retain(|step| row(step).is_none() || !steps.contains(&row(step)));
            let before = |step: &&&Step| self.fact(step.fact).map(|fact| fact.time) <= root_time;
            for step in context.iter().filter(before).take(CITED) {
                links.extend(self.link(
                    step.fact,
                    StepRole::Announcement,
                    Some(Kind::Context),
                    None,
                )?);
            }
            let (mut into, mut shown): (Option<Kind>, _) = (None, BTreeSet::new());
            for (index, step) in candidate.path.iter().enumerate() {
                // One record may mean several things, and is no step to itself.
                if !shown.insert(row(step)) {
                    into = Some(step.kind);
                    continue;
                }
                let role = if index == 0 {
                    StepRole::Cause
                } else {
                    StepRole::Mechanism
                };
                links.extend(self.link(step.fact, role, into, died)?);
                into = Some(step.kind);
            }
            links.extend(self.deaths(finding, into));
        } else {
            links.extend(self.deaths(finding, None));
        }
        // Told in the order it happened; of one time, causes before effects.
        // Whole seconds, since many records know no more; a step without a time stays with the one before it.
        let mut last = None;
        let mut timed: Vec<(Option<String>, ChainLink)> = Vec::with_capacity(links.len());
        for link in links {
            let time = link.time.as_deref();
            let second = time.map(|time| time.chars().take(19).collect::<String>());
            last = second.or(last);
            timed.push((last.clone(), link));
        }
        // A cause that was reported after the death stands before it all the same.
        let is_death = |(_, link): &&(_, ChainLink)| link.role == StepRole::Death;
        let death = timed.iter().find(is_death).and_then(|(at, _)| at.clone());
        for (at, link) in &mut timed {
            if link.role == StepRole::Cause && death.is_some() && *at > death {
                at.clone_from(&death);
                link.text.push_str(" (reported only then)");
            }
        }
        timed.sort_by(|(a, _), (b, _)| a.cmp(b));
        let mut links: Vec<ChainLink> = timed.into_iter().map(|(_, link)| link).collect();
        if let Some(outcome) = self.outcome(finding)? {
            links.push(outcome);
        }
        Ok(links)
    }

    fn deaths(&self, finding: &Finding, edge: Option<Kind>) -> Vec<ChainLink> {
        let mut links = Vec::new();
        let victims = self.victims(finding, &finding.victims);
        if let Some(first) = victims.first() {
            let others = victims.len() - 1;
            let more = if others > 0 {
                format!(", and {others} more like it")
            } else {
                String::new()
            };
            let rank = first
                .rank
                .map(|rank| format!(" (rank {rank})"))
                .unwrap_or_default();
            links.push(ChainLink {
                time: first.time.clone(),
                // To the second it is known.
                time_hi: first
                    .time_hi
                    .clone()
                    .filter(|_| first.time_width() > Some(SECOND)),
                role: match first.state {
                    DeathState::NotRecorded
                    | DeathState::CrashLoop
                    | DeathState::Died
                    | DeathState::Failed
                    | DeathState::Restarted => StepRole::Death,
                    _ => StepRole::Stuck,
                },
                text: format!("{}{rank} {}{more}", first.pod, first.how),
                edge,
                event_ids: Vec::new(),
            });
        }
        let collateral = self.victims(finding, &self.followed(finding));
        if let Some(first) = collateral.first() {
            // Of some it is only known that they wrote until then; they ended for the cause.
            let root = finding.candidate.as_ref().map(Candidate::root);
            let cause = root.and_then(|root| reported(self.fact(root)?.time));
            let cause = cause.map(|cause| rfc3339(cause.lo));
            let since = first.time.clone();
            let time = since.map(|since| cause.map_or(since.clone(), |cause| cause.max(since)));
            let second = |time: &Option<String>| time.as_deref()?.get(..19).map(str::to_owned);
            let ended = victims.first().and_then(|victim| second(&victim.time));
            // Who failed may hang on in its cleanup while the others are stopped already.
            let is_earlier = second(&time)
                .zip(ended)
                .is_some_and(|(these, it)| these < it);
            let text = match (collateral.len(), is_earlier) {
                (1, false) => format!("{} followed: its gang was torn down", first.pod),
                (1, true) => format!("{} ended first: its gang was torn down", first.pod),
                (many, false) => {
                    let (many, members) = (grouped(many as u64), self.members(finding));
                    format!("{many} more {members} followed: the gang was torn down")
                }
                (many, true) => {
                    let (many, members) = (grouped(many as u64), self.members(finding));
                    format!("{many} other {members} ended first: the gang was torn down")
                }
            };
            links.push(ChainLink {
                time,
                time_hi: None,
                role: StepRole::Teardown,
                text,
                edge: None,
                event_ids: Vec::new(),
            });
        }
        links
    }

    /// What the members of a run are, in the plural.
    fn members(&self, finding: &Finding) -> &'static str {
        let first = finding.victims.first().and_then(|one| self.death(*one));
        let task = first.and_then(|death| self.graph().pods.get(death.pod));
        match task.map(|task| task.kind) {
            Some(TaskKind::Instance) => "instances",
            Some(TaskKind::Job) => "jobs",
            Some(TaskKind::Log) => "members",
            Some(TaskKind::Pod) | None => "pods",
        }
    }

    /// The deaths that followed the first ones: none of a pod that was among those, whatever became of it afterwards.
    pub(super) fn followed(&self, finding: &Finding) -> Vec<usize> {
        let pod = |death: &usize| self.death(*death).map(|death| death.pod);
        let first: BTreeSet<_> = finding.first.iter().filter_map(pod).collect();
        let followed = finding.collateral.iter().copied();
        followed
            .filter(|death| pod(death).is_none_or(|pod| !first.contains(&pod)))
            .collect()
    }

    /// What the workload's controller made of it.
    fn outcome(&self, finding: &Finding) -> Result<Option<ChainLink>, SpillError> {
        if finding.recovered {
            return Ok(None);
        }
        let cited: BTreeSet<usize> = finding
            .candidate
            .iter()
            .flat_map(|candidate| candidate.path.iter().map(|step| step.fact))
            .collect();
        let failed = self.failures(finding).filter(|fact| !cited.contains(fact));
        match failed.last() {
            Some(number) => self.link(number, StepRole::Outcome, None, None),
            None => Ok(None),
        }
    }

    /// The facts by which the workload of a run says that it failed, in order of time.
    pub(super) fn failures(&self, finding: &Finding) -> impl Iterator<Item = usize> {
        let graph = self.graph();
        let run = self.case.runs.get(finding.run);
        let root = run.and_then(|run| run.root.workload());
        let says_so = move |(_, fact): &(usize, &Fact)| {
            let signal = graph.name(fact.signal);
            let means = [
                named::K8S_WORKLOAD_FAILED,
                named::K8S_WORKLOAD_BACKOFF_LIMIT,
            ];
            root.is_some() && root == fact.workload && means.contains(&signal)
        };
        let facts = graph.facts.iter().enumerate();
        facts.filter(says_so).map(|(number, _)| number)
    }
}
