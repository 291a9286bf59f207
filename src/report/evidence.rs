//! What speaks for a verdict, what against it, and what could have told more.

use std::collections::BTreeSet;

use serde_json::Value;
use whathappened_core::describe::describe;
use whathappened_core::evidence::SpillError;
use whathappened_model::coverage::EvidenceKind;

use super::context::ReportContext;
use super::record::record;
use crate::answer::{Alternative, Counterevidence};
use crate::coverage::is_beside_the_point;
use crate::explain::candidate::Candidate;
use crate::explain::gang::Finding;
use crate::explain::{Level, Rule};

/// Most records of one kind that an incident cites.
const CITED: usize = 64;

impl ReportContext<'_> {
    /// The records that the verdict rests on: the chain's first, then each victim's own.
    pub(super) fn evidence(&self, finding: &Finding) -> Result<Vec<Value>, SpillError> {
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
                let event = self.graph().evidence.event(fact.row)?;
                let witnesses = self.graph().evidence.rows().get(fact.row);
                let seen_by: Vec<String> = witnesses
                    .into_iter()
                    .flat_map(whathappened_core::evidence::Row::seen_by)
                    .map(|kind| kind.as_str().to_owned())
                    .collect();
                rows.push(record(&event, &seen_by));
            }
        }
        Ok(rows)
    }

    pub(super) fn against(&self, finding: &Finding) -> Result<Vec<Counterevidence>, SpillError> {
        let Some(candidate) = &finding.candidate else {
            return Ok(Vec::new());
        };
        let mut found = Vec::new();
        for fact in &candidate.against {
            if let Some(event) = self.event(*fact)? {
                found.push(Counterevidence {
                    text: describe(&event),
                    event_ids: vec![event.id.to_string()],
                });
            }
        }
        Ok(found)
    }

    pub(super) fn alternatives(&self, finding: &Finding) -> Vec<Alternative> {
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
                    level: other.level,
                    why_not: self.why_not(winner, other),
                })
            })
            .collect()
    }

    fn why_not(&self, winner: &Candidate, other: &Candidate) -> String {
        let root = self.fact(winner.root());
        let signal = root.map_or("", |root| self.graph().name(root.signal));
        let title = self
            .rule(winner)
            .map_or("the cause above", |rule| rule.title_of(signal));
        if other.level < winner.level {
            let how = match other.level {
                Level::Hypothesis => "it rests only on the lack of other explanations",
                _ => "one link of its chain is only inferred",
            };
            return format!("less well supported than “{title}”: {how}");
        }
        let (a, b) = (self.fact(winner.root()), self.fact(other.root()));
        if winner.path.iter().any(|step| {
            other
                .path
                .first()
                .is_some_and(|root| root.fact == step.fact)
        }) {
            return format!("an intermediate step in the chain from “{title}”");
        }
        match (a, b) {
            (Some(a), Some(b)) if a.time.lo < b.time.lo => {
                format!("equally well supported, but later and further downstream than “{title}”")
            }
            _ => format!("equally well supported, but further downstream than “{title}”"),
        }
    }

    /// Sources that are not there and could have told more or otherwise.
    pub(super) fn missing_evidence(&self, rule: Option<&Rule>) -> Vec<String> {
        let there = |kind: EvidenceKind| {
            let mut rows = self.case.coverage.iter();
            rows.any(|row| row.rows > 0 && row.shows() == Some(kind))
        };
        let apart = |kind: EvidenceKind| {
            let mut rows = self.case.coverage.iter();
            rows.any(|row| row.shows() == Some(kind) && is_beside_the_point(row))
        };
        match rule {
            Some(rule) => rule
                .overturned_by
                .iter()
                .filter(|overturning| !there(overturning.by) && !apart(overturning.by))
                .map(|overturning| overturning.line.clone())
                .collect(),
            None => {
                let mut seen = BTreeSet::new();
                let rows = self.case.coverage.iter();
                rows.filter_map(|row| {
                    let shown = row.would_have_shown.as_ref()?;
                    Some(format!("{}: {shown}", row.source))
                })
                // A source is asked for each namespace, and would have shown the same of each.
                .filter(|line| seen.insert(line.clone()))
                .collect()
            }
        }
    }
}
