//! The rank that failed first, by what records say and by their clocks.

use whathappened_core::evidence::SpillError;
use whathappened_core::graph::Fact;
use whathappened_core::signals::SignalClass;
use whathappened_core::signals::named;
use whathappened_model::event::Event;
use whathappened_model::time::rfc3339;

use super::super::record::reported;
use super::{AttemptLogs, numbers};
use crate::answer::{Collective, FailingBy, FirstFailing, MissingBy, Traceback};
use crate::explain::gang::Finding;

/// Exceptions that only tell of another process's end.
const ECHOES: [&str; 8] = [
    "DistBackendError",
    "DistNetworkError",
    "DistStoreError",
    "ChildFailedError",
    "ActorDiedError",
    "RayTaskError",
    "RayActorError",
    "ProcessExitedException",
];

/// Characters of a text that is shown beside a name.
const SHOWN: usize = 300;

/// Longer tracebacks are shown without their middle.
const LINES: usize = 40;

impl AttemptLogs<'_> {
    /// The rank that failed first, and the fact that says so.
    pub(super) fn first_failing(
        &self,
        collective: Option<&Collective>,
    ) -> Result<Option<(Option<&Fact>, FirstFailing)>, SpillError> {
        let by_clock = self.by_clock()?;
        if let Some((own, named)) = self.by_report(collective)? {
            // What the rank itself wrote says more than that others name it.
            let rank =
                |(fact, event): (&Fact, &Event)| event.rank.or_else(|| self.rank_of(fact.pod));
            let itself = by_clock
                .as_ref()
                .is_some_and(|(fact, event, _)| rank((fact, event)) == named.rank);
            if !itself {
                return Ok(Some((own, named)));
            }
        }
        let Some((fact, event, also)) = by_clock else {
            return Ok(None);
        };
        Ok(Some((
            Some(fact),
            FirstFailing {
                rank: event.rank.or_else(|| self.rank_of(fact.pod)),
                pod: self.pod_name(fact.pod),
                by: FailingBy::Clock,
                text: line(&event),
                time: reported(fact.time).map(|time| rfc3339(time.lo)),
                time_hi: reported(fact.time).map(|time| rfc3339(time.hi)),
                also,
                event_id: event.id.to_string(),
            },
        )))
    }

    /// The earliest failure that a process tells of itself, and the pods whose
    /// first failure cannot be told apart from it in time.
    #[expect(clippy::type_complexity, reason = "one use, next door")]
    fn by_clock(&self) -> Result<Option<(&Fact, Event, Vec<String>)>, SpillError> {
        let graph = self.context.graph();
        let own = graph.traits.of(SignalClass::OwnFailure).iter();
        let mut all: Vec<&Fact> = own.flat_map(|signal| self.facts(signal)).collect();
        all.retain(|fact| !graph.survived(fact));
        all.sort_by_key(|fact| (fact.time, fact.pod, fact.id));
        let mut first: Option<(&Fact, Event)> = None;
        let mut also = Vec::new();
        for fact in all {
            match &first {
                None => {
                    let event = self.event(fact)?;
                    if !self.is_echo(&event) && reported(fact.time).is_some() {
                        first = Some((fact, event));
                    }
                }
                Some((one, _)) if !fact.time.overlaps(one.time) => break,
                Some((one, _)) if fact.pod != one.pod => {
                    also.extend(self.pod_name(fact.pod));
                }
                Some(_) => {}
            }
        }
        also.sort();
        also.dedup();
        Ok(first.map(|(fact, event)| (fact, event, also)))
    }

    /// The rank that records name: the one that others waited for, else the one
    /// that all launchers blame.
    fn by_report(
        &self,
        collective: Option<&Collective>,
    ) -> Result<Option<(Option<&Fact>, FirstFailing)>, SpillError> {
        if let Some(collective) =
            collective.filter(|one| one.missing_by == Some(MissingBy::Content))
            && let [rank] = collective.missing.as_slice()
        {
            let records = [
                named::NCCL_RANK_MISSING,
                named::NCCL_NO_DUMP,
                named::JAX_BARRIER_TIMEOUT,
            ];
            let fact = records.iter().flat_map(|signal| self.facts(signal)).next();
            return fact.map(|fact| self.named(fact, *rank)).transpose();
        }
        let mut blamed: Option<(i32, &Fact)> = None;
        // Records of those who look after ranks, or after one another.
        let reports = self.context.graph().traits.of(SignalClass::NamesFailed);
        for fact in reports.iter().flat_map(|signal| self.facts(signal)) {
            let event = self.event(fact)?;
            let Some(rank) = numbers(&event, "failed_rank").first().copied() else {
                continue;
            };
            match blamed {
                // Launchers of several nodes each blame one of their own.
                Some((other, _)) if other != rank => return Ok(None),
                Some(_) => {}
                None => blamed = Some((rank, fact)),
            }
        }
        blamed
            .map(|(rank, fact)| self.named(fact, rank))
            .transpose()
    }

    fn named(&self, fact: &Fact, rank: i32) -> Result<(Option<&Fact>, FirstFailing), SpillError> {
        let event = self.event(fact)?;
        let own = self.context.graph().traits.of(SignalClass::OwnFailure);
        let own = own
            .iter()
            .flat_map(|signal| self.facts(signal))
            .filter(|fact| self.rank_of(fact.pod) == Some(rank))
            .min_by_key(|fact| (fact.time, fact.id));
        let mut pods = self.pods.iter();
        let pod = pods.find(|pod| self.rank_of(**pod) == Some(rank));
        let failing = FirstFailing {
            rank: Some(rank),
            pod: pod.and_then(|pod| self.pod_name(*pod)),
            by: FailingBy::Content,
            text: line(&event),
            time: reported(fact.time).map(|time| rfc3339(time.lo)),
            time_hi: reported(fact.time).map(|time| rfc3339(time.hi)),
            also: Vec::new(),
            event_id: event.id.to_string(),
        };
        Ok((own, failing))
    }

    /// The traceback that is part of the cause, else that of the rank that failed first, or of the
    /// first victim. One that a program worked on after ended nothing.
    pub(super) fn traceback(
        &self,
        failing: Option<&(Option<&Fact>, FirstFailing)>,
        finding: &Finding,
    ) -> Result<Option<Traceback>, SpillError> {
        let graph = self.context.graph();
        let of_cause = finding.candidate.iter().flat_map(|root| &root.path);
        for step in of_cause {
            let Some(cause) = graph.facts.get(step.fact) else {
                continue;
            };
            let is_it = |fact: &&Fact| fact.pod == cause.pod && fact.row == cause.row;
            if let Some(fact) = self.facts(named::LOG_TRACEBACK).find(is_it) {
                return Ok(Some(self.shown(fact, &self.event(fact)?)));
            }
        }
        let of_failing = failing.and_then(|(fact, _)| Some((*fact)?.pod));
        let first = finding
            .first
            .iter()
            .filter_map(|death| self.context.death(*death));
        let pods = of_failing.into_iter().chain(first.map(|death| death.pod));
        for pod in pods {
            let of_pod = |fact: &&Fact| fact.pod == pod && !graph.survived(fact);
            for fact in self.facts(named::LOG_TRACEBACK).filter(of_pod) {
                let event = self.event(fact)?;
                if !self.is_echo(&event) {
                    return Ok(Some(self.shown(fact, &event)));
                }
            }
        }
        Ok(None)
    }

    /// Whether an exception only tells of another process's end.
    fn is_echo(&self, event: &Event) -> bool {
        let exception = event.attribute("exception").unwrap_or_default();
        let traits = &self.context.graph().traits;
        ECHOES.iter().any(|echo| exception.contains(echo))
            || traits.any(&event.signals, SignalClass::PeerGone)
    }

    fn shown(&self, fact: &Fact, event: &Event) -> Traceback {
        let text = event.message.as_deref().unwrap_or_default();
        let lines: Vec<&str> = text.lines().collect();
        let text = if lines.len() > LINES {
            let (head, tail) = (&lines[..LINES / 4], &lines[lines.len() - LINES * 3 / 4..]);
            let left = lines.len() - head.len() - tail.len();
            format!(
                "{}\n  … {left} lines …\n{}",
                head.join("\n"),
                tail.join("\n")
            )
        } else {
            text.to_owned()
        };
        Traceback {
            pod: self.pod_name(fact.pod).unwrap_or_default(),
            rank: event.rank.or_else(|| self.rank_of(fact.pod)),
            time: reported(fact.time).map(|time| rfc3339(time.lo)),
            exception: event.attribute("exception").map(str::to_owned),
            location: event.attribute("location").map(str::to_owned),
            text,
            event_id: event.id.to_string(),
        }
    }
}

/// What a record says in one line: of a traceback its last.
fn line(event: &Event) -> String {
    let text = event.message.as_deref().unwrap_or_default();
    let traceback = event.attribute("exception").is_some();
    let line = if traceback {
        text.lines().rev().find(|line| !line.trim().is_empty())
    } else {
        text.lines().find(|line| !line.trim().is_empty())
    };
    let line = line.unwrap_or_default().trim();
    let mut out: String = line.chars().take(SHOWN).collect();
    if out.len() < line.len() {
        out.push('…');
    }
    out
}
