//! A finding as the answer shows it.

use whathappened_core::death::DeathState;
use whathappened_core::evidence::SpillError;
use whathappened_core::graph::{Phase, TaskRow};
use whathappened_core::lifecycle::{Mode, State};
use whathappened_core::signals::named;
use whathappened_model::time::rfc3339;

use super::context::ReportContext;
use super::record::reported;
use super::stood_still::instead_of;
use super::summary::full_stop;
use super::victim::gpu_hours;
use crate::answer::{Collective, Incident, IncidentRole, Traceback};
use crate::explain::edge::Role;
use crate::explain::gang::Finding;

/// What is said of a rank that did not join, where nothing tells why.
const UNKNOWN_WHY: &str = "; it is not known why that rank did not join";

/// What to do where that rank's program had ended well.
const IF_DONE_EARLY: &str = "Find out why that rank was done before the others: ranks that are given different numbers of batches end at different steps.";

/// What to do where that rank waited as well, in an operation that the others had behind them.
const IF_BEHIND: &str = "Look at the rank that was behind first: the cause is in that rank, its node or its network, or the ranks do not call the same operations.";

/// What is said of what was deleted and of whose pods nothing is known: people delete what is over as well.
const IF_UNSEEN: &str = "Nothing in the input shows whether it still ran.";

/// What is said of a program of whose end nothing but its exit code is known.
const NO_LOG: &str = "; no log shows why.";

/// The sentence, where it says that no log shows why and the pod's own log has a traceback: clocks that differ, or its place in the
/// log, leave it open whether that is why.
fn with_traceback(summary: &str, traceback: &Traceback) -> String {
    let mut lines = traceback.text.lines().rev();
    let line = lines.find(|line| !line.trim().is_empty());
    match summary.strip_suffix(NO_LOG).zip(line) {
        Some((said, line)) => {
            let at = traceback.time.as_deref().and_then(|time| time.get(11..19));
            let at = at.map_or_else(String::new, |at| format!(" at {at}Z"));
            let line = line.trim();
            format!("{said}; a traceback{at} in its log may show why: {line}")
        }
        None => summary.to_owned(),
    }
}

impl ReportContext<'_> {
    /// The finding as an incident.
    pub(super) fn incident_of(
        &self,
        finding: &Finding,
        role: IncidentRole,
    ) -> Result<Incident, SpillError> {
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
            .or_else(|| {
                let mut followed = finding.collateral.iter().chain(&finding.victims);
                Some(self.death(*followed.next()?)?.time)
            })
            .and_then(reported);
        let mut acted = self.culprit(finding);
        let deliberate = finding
            .candidate
            .as_ref()
            .is_some_and(|candidate| candidate.path.iter().any(|step| step.role == Role::Act));
        if !deliberate && first.is_some_and(|first| matches!(first.mode, Mode::Exited | Mode::None))
        {
            acted = None;
        }
        let unseen = acted.is_none() && deliberate && !self.is_cleared_away(finding);
        let victims = self.victims(finding, &finding.victims);
        let collateral = self.victims(finding, &self.followed(finding));
        let mut first_victims = self.victims(finding, &finding.first);
        for (death, victim) in finding.first.iter().zip(&mut first_victims) {
            let node = self.node_of_fault(*death, root);
            victim.node = victim.node.take().or(node);
        }
        let signal = root.map_or("", |root| self.graph().name(root.signal));
        let summary = match (rule, &root_event) {
            (Some(rule), Some(event)) => {
                let template = rule.summary_of(signal);
                self.fill(template, event, root, finding, acted.as_ref(), unseen)
            }
            _ => self.unexplained(finding),
        };
        let advice: Vec<String> = match (rule, &root_event) {
            (Some(rule), Some(event)) => {
                let of = |text: &String| self.advise(text, event, root, finding, acted.as_ref());
                rule.advice_of(signal).into_iter().map(of).collect()
            }
            (rule, _) => rule.map_or_else(Vec::new, |rule| rule.advice.clone()),
        };
        let shared = self.shared(finding);
        let summary = match &shared {
            Some(shared) => {
                let ended = summary.trim_end().trim_end_matches('.');
                format!("{ended}. {}", shared.sentence())
            }
            None => summary,
        };
        let (output, saved) = self.process_output(finding)?;
        let summary = match output.traceback.as_ref() {
            Some(traceback)
                if first_victims
                    .first()
                    .is_some_and(|first| first.pod == traceback.pod) =>
            {
                with_traceback(&summary, traceback)
            }
            _ => summary,
        };
        let waited = rule.is_some_and(|rule| rule.cause == "hang.collective_timeout");
        let absent = output.collective.as_ref().filter(|_| waited);
        let done = absent.and_then(|waited| self.who_was_done(waited, finding));
        let (summary, advice) = match (
            done,
            absent.and_then(|waited| self.who_was_missing(waited, finding)),
        ) {
            (Some(done), _) => {
                let summary = summary.replace(UNKNOWN_WHY, "");
                (
                    format!("{} {done}", summary.trim_end()),
                    vec![IF_DONE_EARLY.to_owned()],
                )
            }
            (None, Some(who)) => {
                let behind = absent.is_some_and(|waited| self.is_behind(waited, finding));
                let advice = match behind {
                    true => vec![IF_BEHIND.to_owned()],
                    false => advice,
                };
                (format!("{} {who}", summary.trim_end()), advice)
            }
            (None, None) => (summary, advice),
        };
        let (summary, advice) = match self.stood_still(finding, rule) {
            Some(still) => (
                format!("{} {still}", full_stop(&summary)),
                instead_of(advice, rule),
            ),
            None => (summary, advice),
        };
        let summary = match self.never_created(finding) {
            Some(beside) => format!("{} {beside}", full_stop(&summary)),
            None => summary,
        };
        let is_unseen =
            first.is_some_and(|first| first.state == DeathState::Deleted && first.pod.is_none());
        let summary = match is_unseen && rule.is_some() {
            true => format!("{} {IF_UNSEEN}", full_stop(&summary)),
            false => summary,
        };
        let all = finding.deaths().filter_map(|death| self.death(death));
        Ok(Incident {
            id: None,
            page: None,
            cause: rule
                .map_or("unknown", |rule| rule.cause.as_str())
                .to_owned(),
            level: finding.level(),
            title: rule
                .map_or("Could not be determined", |rule| rule.title_of(signal))
                .to_owned(),
            summary,
            time: time.map(|time| rfc3339(time.lo)),
            time_hi: time.map(|time| rfc3339(time.hi)),
            until: finding
                .deaths()
                .filter_map(|death| self.death(death))
                .find(|death| death.state == DeathState::Slowed)
                .and_then(|slowed| reported(slowed.until?))
                .map(|until| rfc3339(until.lo)),
            announced_at: self.announced(finding),
            run_id: run.map(|run| run.id(self.graph())),
            attempt: run.map(|_| finding.attempt),
            role,
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
            advice,
            gpu_hours_lost: gpu_hours(self.graph(), all, saved),
            aftermath: self.aftermath(finding),
            would_have_told: self.missing_evidence(rule),
            said: output,
            machines: self.machines(finding, rule, root.zip(root_event.as_ref())),
            before: None,
            shared,
        })
    }

    /// The one rank that did not come to a collective, and its pod.
    fn missing_one(&self, waited: &Collective, finding: &Finding) -> Option<(i32, TaskRow)> {
        let [rank] = waited.missing.as_slice() else {
            return None;
        };
        let run = self.case.runs.get(finding.run)?;
        let mut pods = run.attempt(finding.attempt)?.pods.iter().copied();
        let pod = pods.find(|pod| {
            let pod = self.graph().pods.get(*pod);
            pod.is_some_and(|pod| pod.rank == Some(*rank))
        })?;
        Some((*rank, pod))
    }

    /// Whether the one that did not come to a collective waited in another one itself.
    fn is_behind(&self, waited: &Collective, finding: &Finding) -> bool {
        let pod = self.missing_one(waited, finding).map(|(_, pod)| pod);
        pod.is_some()
            && self
                .facts_of(pod)
                .any(|fact| self.graph().name(fact.signal) == named::NCCL_TIMEOUT)
    }

    /// Who did not come to a collective since its program had ended well by then, as its container shows.
    fn who_was_done(&self, waited: &Collective, finding: &Finding) -> Option<String> {
        let (rank, pod) = self.missing_one(waited, finding)?;
        let end = self.case.ends.get(pod)?;
        let pod = self.graph().pods.get(pod)?;
        let exits = pod.exits.iter().filter(|exit| !exit.init);
        let exit = exits.max_by_key(|exit| exit.time)?;
        let first = finding.first.first().and_then(|death| self.death(*death))?;
        let is_done = end.state == State::Completed && exit.exit_code == Some(0);
        if !is_done || exit.time.lo > first.time.hi {
            return None;
        }
        let step = pod.progress.as_deref().and_then(|progress| progress.step);
        let step = step.map_or_else(String::new, |step| format!(", after step {step}"));
        let at = reported(exit.time).map(|at| rfc3339(at.lo));
        let at: Option<String> = at.map(|at| at.chars().skip(11).take(8).collect());
        let at = at.map_or_else(String::new, |at| format!(" at {at}Z"));
        Some(format!(
            "The missing one is rank {rank}; its program had ended with exit code 0{at}{step}."
        ))
    }

    /// Who did not come to a collective, and what is known of it last.
    fn who_was_missing(&self, waited: &Collective, finding: &Finding) -> Option<String> {
        let (rank, pod) = self.missing_one(waited, finding)?;
        if self.is_behind(waited, finding) {
            return Some(format!(
                "The missing one is rank {rank}: it waited in an earlier operation itself."
            ));
        }
        let pod = self.graph().pods.get(pod)?;
        let last = reported(pod.last_line?)?;
        let step = pod.progress.as_deref().and_then(|progress| progress.step);
        let step = step.map_or_else(String::new, |step| format!(", after step {step}"));
        // As people write it: to the second.
        let time = rfc3339(last.lo);
        let time: String = time.chars().skip(11).take(8).collect();
        Some(format!(
            "The missing one is rank {rank}; its log ends at {time}Z{step}."
        ))
    }

    fn announced(&self, finding: &Finding) -> Option<String> {
        let candidate = finding.candidate.as_ref()?;
        let steps = candidate.path.iter().chain(&candidate.context);
        let announced = steps.filter_map(|step| self.fact(step.fact)).find(|fact| {
            fact.phase == Phase::Announced || self.graph().name(fact.signal).ends_with(".announced")
        })?;
        reported(announced.time).map(|time| rfc3339(time.lo))
    }
}
