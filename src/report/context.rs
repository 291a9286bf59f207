//! What telling of a finding needs: the case, the verdict, and facts by pod.

use std::cell::{OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap};

use whathappened_core::death::Death;
use whathappened_core::evidence::SpillError;
use whathappened_core::graph::{EntityGraph, Fact, NameTenures, Phase, TaskRow};
use whathappened_core::shared_fault::SharedFaults;
use whathappened_core::symbols::Symbol;
use whathappened_model::event::Event;
use whathappened_model::table::AtRow as _;
use whathappened_model::time::{Nanos, Stamp, rfc3339};

use super::aftermath::Reactions;
use super::record::reported;
use super::victim::victim;
use crate::answer::{Level, Victim};
use crate::case::Case;
use crate::explain::candidate::{Candidate, Step};
use crate::explain::gang::{Finding, NO_RUN};
use crate::explain::{Rule, Verdict};

/// Whether all that is known of a machine's finding is that it was announced.
pub(super) fn is_announced_only(graph: &EntityGraph, finding: &Finding) -> bool {
    let Some(candidate) = &finding.candidate else {
        return false;
    };
    let announced = |step: &Step| {
        let fact = graph.facts.get(step.fact);
        fact.is_some_and(|fact| {
            let no_phase = fact.phase == Phase::Unstated;
            let is_announcement = no_phase && graph.name(fact.signal).ends_with("announced");
            is_announcement || fact.phase == Phase::Announced
        })
    };
    finding.run == NO_RUN
        && candidate
            .path
            .iter()
            .chain(&candidate.context)
            .all(announced)
}

/// Tells of findings.
pub(super) struct ReportContext<'a> {
    pub(super) case: &'a Case,
    pub(super) verdict: &'a Verdict,
    /// Numbers of the facts about each pod, and of those that name it.
    of_pod: HashMap<TaskRow, Vec<usize>>,
    name_tenures: OnceCell<NameTenures>,
    complaints: OnceCell<HashMap<Symbol, Vec<Nanos>>>,
    shared_faults: OnceCell<SharedFaults>,
    reactions: OnceCell<Reactions>,
    /// Runs of whose pods it was asked whether they run several processes each.
    several: RefCell<HashMap<usize, bool>>,
}

impl<'a> ReportContext<'a> {
    pub(super) fn new(case: &'a Case, verdict: &'a Verdict) -> Self {
        let dead: BTreeSet<TaskRow> = verdict
            .deaths
            .iter()
            .filter_map(|death| death.pod)
            .collect();
        let mut of_pod: HashMap<TaskRow, Vec<usize>> = HashMap::new();
        for (number, fact) in case.graph.facts.iter().enumerate() {
            let named = [fact.pod, fact.other].into_iter().flatten();
            for pod in named.filter(|pod| dead.contains(pod)) {
                of_pod.entry(pod).or_default().push(number);
            }
        }
        Self {
            case,
            verdict,
            of_pod,
            name_tenures: OnceCell::new(),
            complaints: OnceCell::new(),
            shared_faults: OnceCell::new(),
            reactions: OnceCell::new(),
            several: RefCell::default(),
        }
    }

    /// Which machine bore which name.
    pub(super) fn name_tenures(&self) -> &NameTenures {
        self.name_tenures
            .get_or_init(|| NameTenures::of(self.graph()))
    }

    /// Who saw which troubles of what several share.
    pub(super) fn shared_faults(&self) -> &SharedFaults {
        self.shared_faults
            .get_or_init(|| SharedFaults::of(self.graph(), &self.case.runs))
    }

    /// Who reacted to what befell workloads, pods and machines.
    pub(super) fn reactions(&self) -> &Reactions {
        self.reactions.get_or_init(|| Reactions::of(self.graph()))
    }

    /// When the kernel or a GPU of a machine complained.
    pub(super) fn complaints(&self, machine: Symbol) -> &[Nanos] {
        let all = self.complaints.get_or_init(|| {
            let mut found: HashMap<Symbol, Vec<Nanos>> = HashMap::new();
            let graph = self.graph();
            for fact in graph.facts.iter().filter(|fact| fact.node.is_some()) {
                let signal = graph.name(fact.signal);
                if signal.starts_with("gpu.") || signal.starts_with("kernel.") {
                    found.entry(fact.node).or_default().push(fact.time.lo);
                }
            }
            found
        });
        all.get(&machine).map_or(&[], Vec::as_slice)
    }

    pub(super) fn graph(&self) -> &'a EntityGraph {
        &self.case.graph
    }

    pub(super) fn death(&self, number: usize) -> Option<&'a Death> {
        self.verdict.deaths.get(number)
    }

    pub(super) fn rule(&self, candidate: &Candidate) -> Option<&'a Rule> {
        self.case.rules.causes.get(candidate.rule)
    }

    pub(super) fn fact(&self, number: usize) -> Option<&'a Fact> {
        self.graph().facts.get(number)
    }

    /// Facts about a pod, in time order.
    pub(super) fn facts_of(&self, pod: Option<TaskRow>) -> impl Iterator<Item = &'a Fact> + '_ {
        let numbers = self.of_pod.at(pod).into_iter().flatten();
        numbers
            .filter_map(|number| self.fact(*number))
            .filter(move |fact| fact.pod == pod)
    }

    /// Facts about others that name a pod, in time order.
    pub(super) fn facts_naming(&self, pod: Option<TaskRow>) -> impl Iterator<Item = &'a Fact> + '_ {
        let numbers = self.of_pod.at(pod).into_iter().flatten();
        numbers
            .filter_map(|number| self.fact(*number))
            .filter(move |fact| fact.other == pod)
    }

    pub(super) fn event(&self, fact: usize) -> Result<Option<Event>, SpillError> {
        self.fact(fact)
            .map(|fact| self.graph().evidence.event(fact.row))
            .transpose()
    }

    /// The pods of some deaths of a finding, each once.
    pub(super) fn victims(&self, finding: &Finding, deaths: &[usize]) -> Vec<Victim> {
        // What is only likely to have ended them tells not when they ended.
        let proven = finding.candidate.as_ref();
        let proven = proven.filter(|best| best.level >= Level::Supported);
        let root = proven.map(Candidate::root);
        let cause = root.and_then(|root| reported(self.fact(root)?.time));
        let runs_several = self.runs_several(finding.run);
        let mut seen = BTreeSet::new();
        let named = deaths.iter().filter_map(|death| self.death(*death));
        named
            .filter(|death| seen.insert(death.pod))
            .filter_map(|death| {
                let mut victim = victim(self.graph(), death, self.facts_of(death.pod))?;
                // Of some it is only known that they were well until some time before; they ended after the cause.
                let within = |cause: &Stamp| death.time.lo < cause.lo && cause.lo < death.time.hi;
                if let Some(cause) = cause.filter(within) {
                    victim.time = Some(rfc3339(cause.lo));
                }
                // Where a pod runs several processes their ranks are none of the pods.
                victim.rank = victim.rank.filter(|_| !runs_several);
                Some(victim)
            })
            .collect()
    }

    /// Whether the processes of a run's pods have other ranks than the pods have numbers.
    fn runs_several(&self, run: usize) -> bool {
        /// Pods that are looked at.
        const MOST: usize = 64;
        if let Some(known) = self.several.borrow().get(&run) {
            return *known;
        }
        let pods = self.case.runs.get(run).map(|run| run.pods.as_slice());
        let pods = pods.unwrap_or_default();
        let many = i32::try_from(pods.len()).unwrap_or(i32::MAX);
        let looked_at = pods.iter().take(MOST);
        let several = looked_at
            .flat_map(|pod| self.facts_of(Some(*pod)))
            .any(|fact| fact.is_line && fact.rank.is_some_and(|rank| rank >= many));
        self.several.borrow_mut().insert(run, several);
        several
    }
}
