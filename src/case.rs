//! A case: everything read from some input, tied together and ready for questions.

use std::collections::BTreeSet;
use std::sync::Arc;

use whathappened_connectors::log_store::look_for;
use whathappened_connectors::recording::{self, Input, Options, Summary};
use whathappened_core::evidence::{Counts, Evidence, SpillError};
use whathappened_core::graph::{EntityGraph, Task};
use whathappened_core::lifecycle::{End, ends};
use whathappened_core::resolve::{Run, rank_names, runs};
use whathappened_core::signals::{Ruleset, SignalError};
use whathappened_model::coverage::Coverage;
use whathappened_model::observation::Observation;
use whathappened_model::sink::Sink;
use whathappened_model::table::Table;
use whathappened_model::time::Nanos;

pub use crate::coverage::StoreExtent;

use crate::coverage;
use crate::explain::{self, Rule, RuleError};

/// Why a case could not be opened. Bad records and files are no reason: they are counted.
#[derive(Debug, thiserror::Error)]
pub enum CaseError {
    /// A signal rule is wrong.
    #[error(transparent)]
    Signals(#[from] SignalError),
    /// A cause rule is wrong.
    #[error(transparent)]
    Rules(#[from] RuleError),
    /// Facts could not be kept.
    #[error(transparent)]
    Spill(#[from] SpillError),
}

/// The rules that a case is read and explained with.
#[derive(Debug)]
pub struct Rules {
    /// What records mean.
    pub signals: Ruleset,
    /// What causes what.
    pub causes: Vec<Rule>,
    /// A hash of both.
    pub version: String,
    /// Whether some signals are a person's own.
    pub own_signals: bool,
}

impl Rules {
    /// The built-in rules and a user's own, given as (file name, text); names
    /// end in `.toml` for signals and in `.sql` for causes.
    ///
    /// # Errors
    /// Names the file that is wrong.
    pub fn load(own: &[(String, String)]) -> Result<Self, CaseError> {
        let (sql, toml): (Vec<_>, Vec<_>) = own
            .iter()
            .cloned()
            .partition(|(name, _)| name.ends_with(".sql"));
        let own_signals = !toml.is_empty();
        let signals = Ruleset::load(toml)?;
        look_for(signals.machine_words(), signals.program_words())
            .map_err(SignalError::TooLarge)?;
        let files: Vec<String> = sql.iter().map(|(name, _)| name.clone()).collect();
        let causes = explain::load(sql)?;
        needed(&causes, &files, &signals)?;
        explain::plan(causes.iter().filter(|rule| files.contains(&rule.file)))?;
        let version = explain::ruleset_version(&causes, signals.version());
        Ok(Self {
            signals,
            causes,
            version,
            own_signals,
        })
    }
}

/// Refuses a rule of one's own that needs a signal which nothing ever gives: it would
/// stay silent for ever.
fn needed(causes: &[Rule], own: &[String], signals: &Ruleset) -> Result<(), RuleError> {
    let is_own = |rule: &&Rule| own.contains(&rule.file);
    // Some signals are made of several records, which no entry of a file describes.
    let built_in = causes.iter().filter(|rule| !is_own(rule));
    let made = built_in.flat_map(|rule| {
        let compared = rule.compared().into_iter().map(|(_, name)| name);
        let named = rule.needs.iter().chain(&rule.alone).cloned();
        named.chain(compared)
    });
    let known: BTreeSet<String> = signals
        .signals()
        .map(|signal| signal.name.clone())
        .chain(made)
        .collect();
    let is_known = |name: &str| match name.strip_suffix('*') {
        Some(stem) => known.iter().any(|known| known.starts_with(stem)),
        None => known.contains(name),
    };
    for rule in causes.iter().filter(is_own) {
        let of_header = rule.needs.iter().chain(&rule.alone).map(|name| {
            let line = rule.text.lines().position(|line| line.contains(name));
            (line.unwrap_or(0) + 1, name.clone())
        });
        let mut named = of_header.chain(rule.compared());
        let Some((line, unknown)) = named.find(|(_, name)| !is_known(name)) else {
            continue;
        };
        // Whoever wrote a whole name meant one.
        let whole = known.iter().filter(|name| !name.ends_with('*'));
        let near = rank_names(&unknown, whole.cloned());
        let near = near
            .first()
            .map_or_else(|| ";".to_owned(), |near| format!("; did you mean {near}?"));
        return Err(RuleError {
            file: rule.file.clone(),
            line,
            why: format!(
                "there is no signal named {unknown}{near} `whathappened rules list --signals` lists them"
            ),
        });
    }
    Ok(())
}

/// Everything read from some input.
#[derive(Debug)]
pub struct Case {
    /// What the evidence speaks of.
    pub graph: EntityGraph,
    /// How each pod ended.
    pub ends: Table<Task, End>,
    /// All runs, oldest first.
    pub runs: Vec<Run>,
    /// What each source could and could not show.
    pub coverage: Vec<Coverage>,
    /// What became of each file.
    pub summary: Summary,
    /// Facts told and told again.
    pub counts: Counts,
    /// Facts and versions of after the moment that is spoken from, which are left out.
    pub later: u64,
    /// What the store holds beside the evidence, where it is of one.
    pub held: StoreExtent,
    /// Pods on the machine that was asked about whose runs were not loaded: there were too many.
    pub earlier_pods: usize,
    /// The rules.
    pub rules: Arc<Rules>,
}

/// Takes in what the reader finds.
struct CaseSink<'a> {
    evidence: Evidence,
    signals: &'a Ruleset,
    failed: Option<SpillError>,
    progress: &'a mut dyn FnMut(u64, Option<u64>),
}

impl Sink for CaseSink<'_> {
    fn observe(&mut self, observations: Vec<Observation>) {
        for observation in observations {
            if self.failed.is_none()
                && let Err(error) = self.evidence.observe(observation, self.signals)
            {
                self.failed = Some(error);
            }
        }
    }

    fn progress(&mut self, done: u64, total: Option<u64>) {
        (self.progress)(done, total);
    }
}

impl Case {
    /// Reads the inputs.
    ///
    /// # Errors
    /// Only when facts cannot be kept; bad input is counted in the summary.
    pub fn read(
        inputs: &[Input],
        options: &Options,
        rules: Arc<Rules>,
        progress: &mut dyn FnMut(u64, Option<u64>),
    ) -> Result<Self, CaseError> {
        let mut taker = CaseSink {
            evidence: Evidence::default(),
            signals: &rules.signals,
            failed: None,
            progress,
        };
        let summary = recording::read(inputs, options, &mut taker);
        let CaseSink {
            evidence, failed, ..
        } = taker;
        if let Some(error) = failed {
            return Err(error.into());
        }
        Ok(Self::link(
            evidence,
            summary,
            &[],
            StoreExtent::default(),
            rules,
        )?)
    }

    /// A case of evidence that was gathered elsewhere, with what its sources
    /// could and could not show, and what is held beside it.
    ///
    /// # Errors
    /// Only when facts cannot be kept.
    pub fn of_evidence(
        evidence: Evidence,
        coverage: &[Coverage],
        held: StoreExtent,
        rules: Arc<Rules>,
    ) -> Result<Self, CaseError> {
        Ok(Self::link(
            evidence,
            Summary::default(),
            coverage,
            held,
            rules,
        )?)
    }

    fn link(
        evidence: Evidence,
        summary: Summary,
        stored: &[Coverage],
        held: StoreExtent,
        rules: Arc<Rules>,
    ) -> Result<Self, SpillError> {
        let counts = evidence.counts();
        let graph = EntityGraph::build_of_part(evidence, &rules.signals, held.known_until)?;
        let ends = ends(&graph);
        let runs = runs(&graph, &ends);
        let coverage = coverage::of_case(&graph, &summary, stored, &held);
        Ok(Self {
            graph,
            ends,
            runs,
            coverage,
            summary,
            counts,
            later: 0,
            held,
            earlier_pods: 0,
            rules,
        })
    }

    /// The case as it was known at a moment; what came later is only counted.
    ///
    /// # Errors
    /// Only when facts cannot be read back or kept.
    pub fn as_of(&self, moment: Nanos) -> Result<Self, CaseError> {
        let (evidence, later) = self.graph.evidence.as_of(moment)?;
        let mut graph = EntityGraph::build(evidence, &self.rules.signals)?;
        graph.elsewhere.clone_from(&self.graph.elsewhere);
        graph.elsewhere.retain(|fault| fault.time <= moment);
        graph.now = Some(moment);
        let ends = ends(&graph);
        let runs = runs(&graph, &ends);
        Ok(Self {
            graph,
            ends,
            runs,
            coverage: self.coverage.clone(),
            summary: self.summary.clone(),
            counts: self.counts,
            later,
            held: StoreExtent {
                known_until: Some(moment),
                cluster_until: self.held.cluster_until.map(|until| until.min(moment)),
                ..self.held.clone()
            },
            earlier_pods: self.earlier_pods,
            rules: Arc::clone(&self.rules),
        })
    }
}
