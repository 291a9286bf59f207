//! A finding as the answer shows it.

use std::collections::BTreeSet;

use serde_json::Value;
use whathappened_connectors::event::Event;
use whathappened_connectors::time::rfc3339;
use whathappened_core::death::Death;
use whathappened_core::evidence::SpillError;
use whathappened_core::life::Mode;
use whathappened_core::resolve::Run;
use whathappened_core::words::say;
use whathappened_core::world::{Fact, NO, World};

use super::actor;
use super::record::{record, told};
use super::victim::{gpu_hours, victim};
use crate::answer::{Actor, Against, Alternative, ChainLink, Incident, Victim};
use crate::case::Case;
use crate::explain::candidate::{Candidate, Step};
use crate::explain::edge::{Kind, Role};
use crate::explain::gang::Finding;
use crate::explain::{Level, Rule, Verdict};

/// Most records of one kind that an incident cites.
const CITED: usize = 64;

/// What is needed to tell of a finding.
pub(super) struct Teller<'a> {
    pub(super) case: &'a Case,
    pub(super) verdict: &'a Verdict,
}

impl<'a> Teller<'a> {
    fn world(&self) -> &'a World {
        &self.case.world
    }

    fn death(&self, number: usize) -> Option<&'a Death> {
        self.verdict.deaths.get(number)
    }

    fn rule(&self, candidate: &Candidate) -> Option<&'a Rule> {
        self.case.rules.causes.get(candidate.rule)
    }

    fn fact(&self, number: usize) -> Option<&'a Fact> {
        self.world().facts.get(number)
    }

    fn event(&self, fact: usize) -> Result<Option<Event>, SpillError> {
        self.fact(fact)
            .map(|fact| self.world().evidence.event(fact.row))
            .transpose()
    }

    fn victims(&self, deaths: &[usize]) -> Vec<Victim> {
        let mut seen = BTreeSet::new();
        let named = deaths.iter().filter_map(|death| self.death(*death));
        named
            .filter(|death| seen.insert(death.pod))
            .filter_map(|death| victim(self.world(), death))
            .collect()
    }

    /// The finding as an incident.
    pub(super) fn tell(&self, finding: &Finding, role: &str) -> Result<Incident, SpillError> {
        let run = self.case.runs.get(finding.run);
        let rule = finding
            .candidate
            .as_ref()
            .and_then(|candidate| self.rule(candidate));
        let root = finding
            .candidate
            .as_ref()
            .and_then(|candidate| self.fact(candidate.root()));
        let root_event = finding
            .candidate
            .as_ref()
            .map(|candidate| self.event(candidate.root()))
            .transpose()?
            .flatten();
        let first = finding.first.first().and_then(|death| self.death(*death));
        let time = root
            .map(|root| root.time)
            .or(first.map(|first| first.time))
            .and_then(told);
        let mut acted = self.actor(finding, run)?;
        let deliberate = finding
            .candidate
            .as_ref()
            .is_some_and(|candidate| candidate.path.iter().any(|step| step.role == Role::Act));
        if !deliberate && first.is_some_and(|first| matches!(first.mode, Mode::Exited | Mode::None))
        {
            acted = None;
        }
        let unseen = acted.is_none() && deliberate;
        let victims = self.victims(&finding.victims);
        let collateral = self.victims(&finding.collateral);
        let first_victims = self.victims(&finding.first);
        let summary = match (rule, &root_event) {
            (Some(rule), Some(event)) => {
                self.fill(&rule.summary, event, root, finding, acted.as_ref(), unseen)
            }
            _ => self.unexplained(finding),
        };
        let all = finding
            .victims
            .iter()
            .chain(&finding.collateral)
            .filter_map(|death| self.death(*death));
        Ok(Incident {
            cause: rule
                .map_or("unknown", |rule| rule.cause.as_str())
                .to_owned(),
            level: finding.level().as_str().to_owned(),
            title: rule
                .map_or("Could not be determined", |rule| rule.title.as_str())
                .to_owned(),
            summary,
            time: time.map(|time| rfc3339(time.lo)),
            time_hi: time.map(|time| rfc3339(time.hi)),
            announced_at: self.announced(finding),
            run_id: run.map(|run| run.id(self.world())),
            attempt: Some(finding.attempt),
            role: role.to_owned(),
            actor: acted,
            actor_unseen: unseen,
            first_victim: first_victims.first().cloned(),
            first_victims,
            victims,
            collateral,
            chain: self.chain(finding)?,
            evidence: self.evidence(finding)?,
            against: self.against(finding)?,
            alternatives: self.alternatives(finding),
            advice: rule.map_or_else(Vec::new, |rule| rule.advice.clone()),
            gpu_hours_lost: gpu_hours(self.world(), all),
            would_have_told: self.would_have_told(rule),
        })
    }

    /// The principal of the earliest deliberate act, else who deleted the first victim.
    fn actor(&self, finding: &Finding, run: Option<&Run>) -> Result<Option<Actor>, SpillError> {
        let Some(run) = run else { return Ok(None) };
        let world = self.world();
        let path = finding
            .candidate
            .as_ref()
            .map_or(&[][..], |candidate| candidate.path.as_slice());
        let acts: Vec<&Step> = path.iter().filter(|step| step.role == Role::Act).collect();
        for step in &acts {
            if let Some(fact) = self.fact(step.fact).filter(|fact| fact.actor.is_some()) {
                return Ok(Some(actor::actor(world, run, world.name(fact.actor))));
            }
        }
        let Some(first) = finding.first.first().and_then(|death| self.death(*death)) else {
            return Ok(None);
        };
        if first.mode == Mode::None {
            return Ok(None);
        }
        // Another record of the same act may name who did it.
        let told_act = acts
            .first()
            .and_then(|step| self.fact(step.fact))
            .map(|fact| fact.signal);
        let of_victim = || {
            world
                .facts
                .iter()
                .filter(|fact| fact.pod == first.pod && first.pod != NO && fact.actor.is_some())
        };
        let twin = of_victim().find(|fact| Some(fact.signal) == told_act);
        let deleter = || {
            of_victim().find(|fact| {
                let signal = world.name(fact.signal);
                (signal.starts_with("k8s.pod.deleted_by_")
                    || signal.starts_with("k8s.pod.evicted_by_"))
                    && signal != "k8s.pod.deleted_by_kubelet"
            })
        };
        let controller = || {
            world.facts.iter().find(|fact| {
                fact.other == first.pod
                    && first.pod != NO
                    && fact.actor.is_some()
                    && world.name(fact.signal) == "k8s.workload.pod_deleted"
            })
        };
        let found = twin.or_else(deleter).or_else(controller);
        Ok(found.map(|fact| actor::actor(world, run, world.name(fact.actor))))
    }

    fn announced(&self, finding: &Finding) -> Option<String> {
        let candidate = finding.candidate.as_ref()?;
        let steps = candidate.path.iter().chain(&candidate.context);
        let announced = steps
            .filter_map(|step| self.fact(step.fact))
            .find(|fact| self.world().name(fact.signal).ends_with(".announced"))?;
        told(announced.time).map(|time| rfc3339(time.lo))
    }

    /// The sentence of a rule with its places filled.
    fn fill(
        &self,
        template: &str,
        event: &Event,
        root: Option<&Fact>,
        finding: &Finding,
        who: Option<&Actor>,
        unseen: bool,
    ) -> String {
        let world = self.world();
        let first = finding.first.first().and_then(|death| self.death(*death));
        let pod = first.and_then(|first| world.pods.get(first.pod as usize));
        let run = self.case.runs.get(finding.run);
        let workload = run.map_or("", |run| run.names(world).3);
        let name = match (pod, finding.victims.len()) {
            (Some(pod), 1) => world.name(pod.name).to_owned(),
            (Some(pod), many) => format!("{} (and {} more)", world.name(pod.name), many - 1),
            (None, _) => workload.to_owned(),
        };
        let node = event.entities.node.clone().or_else(|| {
            pod.map(|pod| world.name(pod.node).to_owned())
                .filter(|node| !node.is_empty())
        });
        let other = root.and_then(|root| world.pods.get(root.other as usize));
        let other_name = other.map(|other| {
            let run = world
                .workloads
                .get(other.root as usize)
                .map(|one| world.name(one.name));
            match run {
                Some(run) => format!("{} of {run}", world.name(other.name)),
                None => world.name(other.name).to_owned(),
            }
        });
        let by = match who {
            Some(who) if who.is_owner => format!(" by {}, its own owner", who.name),
            Some(who) => format!(" by {}", who.name),
            None if unseen => " by an unseen actor".to_owned(),
            None => String::new(),
        };
        let code = first
            .and_then(|first| first.exit_code)
            .map(|code| code.to_string());
        template
            .replace("{pod}", &name)
            .replace("{node}", node.as_deref().unwrap_or("its node"))
            .replace(
                "{other}",
                other_name
                    .as_deref()
                    .or(event.attribute("preemptor"))
                    .unwrap_or("another pod"),
            )
            .replace("{workload}", workload)
            .replace("{by}", &by)
            .replace("{exit_code}", code.as_deref().unwrap_or("unknown"))
            .replace("{message}", &say(event))
    }

    /// What is known of a death that nothing explains.
    fn unexplained(&self, finding: &Finding) -> String {
        let victims = self.victims(&finding.victims);
        let Some(first) = victims.first() else {
            let workload = self
                .case
                .runs
                .get(finding.run)
                .map_or("it", |run| run.names(self.world()).3);
            return format!("{workload} never got a pod, and nothing in the input says why.");
        };
        format!(
            "{} {}; nothing in the input says why.",
            first.pod, first.how
        )
    }

    fn link(
        &self,
        fact: usize,
        role: &str,
        edge: Option<Kind>,
    ) -> Result<Option<ChainLink>, SpillError> {
        let Some(event) = self.event(fact)? else {
            return Ok(None);
        };
        let about = event
            .entities
            .pod
            .as_deref()
            .or(event.entities.workload.as_deref())
            .or(event.entities.node.as_deref());
        let text = match about {
            Some(about) if !say(&event).contains(about) => format!("{about}: {}", say(&event)),
            _ => say(&event),
        };
        Ok(Some(ChainLink {
            time: told(event.time).map(|time| rfc3339(time.lo)),
            role: role.to_owned(),
            text,
            edge: edge.map(|edge| edge.as_str().to_owned()),
            event_ids: vec![event.id.to_string()],
        }))
    }

    /// From the root to the deaths and what they brought down.
    fn chain(&self, finding: &Finding) -> Result<Vec<ChainLink>, SpillError> {
        let mut links = Vec::new();
        if let Some(candidate) = &finding.candidate {
            let root_time = self.fact(candidate.root()).map(|fact| fact.time);
            let mut context: Vec<&Step> = candidate.context.iter().collect();
            context.sort_by_key(|step| self.fact(step.fact).map(|fact| (fact.time, fact.id)));
            context.dedup_by_key(|step| self.fact(step.fact).map(|fact| fact.id));
            let before = |step: &&&Step| self.fact(step.fact).map(|fact| fact.time) <= root_time;
            for step in context.iter().filter(before).take(CITED) {
                links.extend(self.link(step.fact, "announcement", Some(Kind::Context))?);
            }
            let mut into: Option<Kind> = None;
            for (index, step) in candidate.path.iter().enumerate() {
                let role = if index == 0 { "cause" } else { "mechanism" };
                links.extend(self.link(step.fact, role, into)?);
                into = Some(step.kind);
            }
            links.extend(self.deaths(finding, into));
        } else {
            links.extend(self.deaths(finding, None));
        }
        if let Some(outcome) = self.outcome(finding)? {
            links.push(outcome);
        }
        Ok(links)
    }

    fn deaths(&self, finding: &Finding, edge: Option<Kind>) -> Vec<ChainLink> {
        let mut links = Vec::new();
        let victims = self.victims(&finding.victims);
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
                role: "death".to_owned(),
                text: format!("{}{rank} {}{more}", first.pod, first.how),
                edge: edge.map(|edge| edge.as_str().to_owned()),
                event_ids: Vec::new(),
            });
        }
        let collateral = self.victims(&finding.collateral);
        if let Some(first) = collateral.first() {
            let text = match collateral.len() {
                1 => format!("{} followed: its gang was torn down", first.pod),
                many => format!("{many} more pods followed: the gang was torn down"),
            };
            links.push(ChainLink {
                time: first.time.clone(),
                role: "teardown".to_owned(),
                text,
                edge: None,
                event_ids: Vec::new(),
            });
        }
        links
    }

    /// What the workload's controller made of it.
    fn outcome(&self, finding: &Finding) -> Result<Option<ChainLink>, SpillError> {
        let world = self.world();
        let Some(whathappened_core::resolve::Root::Workload(root)) =
            self.case.runs.get(finding.run).map(|run| run.root)
        else {
            return Ok(None);
        };
        if finding.recovered {
            return Ok(None);
        }
        let cited: BTreeSet<usize> = finding
            .candidate
            .iter()
            .flat_map(|candidate| candidate.path.iter().map(|step| step.fact))
            .collect();
        let failed = world.facts.iter().enumerate().filter(|(number, fact)| {
            fact.workload == root
                && !cited.contains(number)
                && matches!(
                    world.name(fact.signal),
                    "k8s.workload.failed" | "k8s.workload.backoff_limit"
                )
        });
        match failed.map(|(number, _)| number).next_back() {
            Some(number) => self.link(number, "outcome", None),
            None => Ok(None),
        }
    }

    /// The records that the verdict rests on: the chain's first, then each victim's own.
    fn evidence(&self, finding: &Finding) -> Result<Vec<Value>, SpillError> {
        let mut facts: Vec<usize> = Vec::new();
        if let Some(candidate) = &finding.candidate {
            facts.extend(candidate.path.iter().map(|step| step.fact));
            facts.extend(candidate.context.iter().take(CITED).map(|step| step.fact));
        }
        let cause = finding
            .candidate
            .as_ref()
            .and_then(|candidate| self.rule(candidate))
            .map(|rule| &rule.cause);
        for death in finding.victims.iter().take(CITED) {
            let own = self.verdict.candidates.get(*death).into_iter().flatten();
            for candidate in own.filter(|own| self.rule(own).map(|rule| &rule.cause) == cause) {
                facts.extend(candidate.path.iter().map(|step| step.fact));
            }
        }
        self.records(&facts)
    }

    fn records(&self, facts: &[usize]) -> Result<Vec<Value>, SpillError> {
        let mut seen = BTreeSet::new();
        let mut rows = Vec::new();
        for fact in facts.iter().filter_map(|number| self.fact(*number)) {
            if seen.insert(fact.id) {
                let event = self.world().evidence.event(fact.row)?;
                let witnesses = self.world().evidence.rows().get(fact.row as usize);
                let seen_by: Vec<String> = witnesses
                    .into_iter()
                    .flat_map(|row| row.seen_by())
                    .map(|kind| kind.as_str().to_owned())
                    .collect();
                rows.push(record(&event, &seen_by));
            }
        }
        Ok(rows)
    }

    fn against(&self, finding: &Finding) -> Result<Vec<Against>, SpillError> {
        let Some(candidate) = &finding.candidate else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        for fact in &candidate.against {
            if let Some(event) = self.event(*fact)? {
                found.push(Against {
                    text: say(&event),
                    event_ids: vec![event.id.to_string()],
                });
            }
        }
        Ok(found)
    }

    fn alternatives(&self, finding: &Finding) -> Vec<Alternative> {
        let Some(winner) = &finding.candidate else {
            return Vec::new();
        };
        finding
            .others
            .iter()
            .filter_map(|other| {
                let rule = self.rule(other)?;
                Some(Alternative {
                    cause: rule.cause.clone(),
                    level: other.level.as_str().to_owned(),
                    why_not: self.why_not(winner, other),
                })
            })
            .collect()
    }

    fn why_not(&self, winner: &Candidate, other: &Candidate) -> String {
        let title = self
            .rule(winner)
            .map_or("the cause above", |rule| rule.title.as_str());
        if other.level < winner.level {
            let how = match other.level {
                Level::Hypothesis => "nothing but its absence of rivals speaks for it",
                _ => "a link of its chain is only inferred",
            };
            return format!("less well proven than “{title}”: {how}");
        }
        let (a, b) = (self.fact(winner.root()), self.fact(other.root()));
        if winner.path.iter().any(|step| {
            other
                .path
                .first()
                .is_some_and(|root| root.fact == step.fact)
        }) {
            return format!("a step on the way from “{title}”");
        }
        match (a, b) {
            (Some(a), Some(b)) if a.time.lo < b.time.lo => {
                format!("as well proven, but later and further downstream than “{title}”")
            }
            _ => format!("as well proven, but further downstream than “{title}”"),
        }
    }

    /// Sources that are not there and could have told more or otherwise.
    fn would_have_told(&self, rule: Option<&Rule>) -> Vec<String> {
        let missing = |source: &str| {
            !self
                .case
                .coverage
                .iter()
                .any(|row| row.source == source && row.rows > 0)
        };
        match rule {
            Some(rule) => rule
                .overturned_by
                .iter()
                .filter(|line| missing(line.split(':').next().unwrap_or(line).trim()))
                .filter(|line| {
                    // One log store is enough.
                    let log = line.starts_with("loki") || line.starts_with("container_log");
                    !log || (missing("loki")
                        && missing("container_log")
                        && line.starts_with("container_log"))
                })
                .cloned()
                .collect(),
            None => self
                .case
                .coverage
                .iter()
                .filter_map(|row| {
                    Some(format!(
                        "{}: {}",
                        row.source,
                        row.would_have_shown.as_ref()?
                    ))
                })
                .collect(),
        }
    }
}
