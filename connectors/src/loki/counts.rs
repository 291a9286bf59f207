//! How many lines there are in each minute, by metric queries.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Instant;

use super::client::MINUTE;
use super::logql::Query;
use super::plan::plan;
use super::refusal::{Remedy, remedy};
use super::store::Loki;
use super::window::{GRID, down, sound, up};
use crate::http::HttpError;
use crate::log_store::{Counts, LineSubject, Minute, Span};
use crate::time::Nanos;

/// Points of a metric query, below Loki's 11,000.
const POINTS: i64 = 10_000;

impl Loki {
    pub(super) async fn count(
        &self,
        about: &LineSubject,
        span: Span,
        deadline: Instant,
    ) -> Result<Option<Counts>, HttpError> {
        let Some(span) = sound(span) else {
            return Ok(Some(Counts::default()));
        };
        let schema = self.schema(span, deadline).await?;
        let tiers = plan(about, &self.options.names, &schema);
        // Lines that hold a name are counted by reading them, at its price.
        let tiers = tiers
            .iter()
            .filter(|tier| tier.iter().all(|plan| plan.note.is_none()));
        let mut requested = false;
        let mut all: BTreeMap<Nanos, u64> = BTreeMap::new();
        let mut partial = BTreeSet::new();
        for tier in tiers {
            requested = true;
            for plan in tier {
                if plan.looks_at_all && !self.has_streams(&plan.query, span, deadline).await {
                    continue;
                }
                self.count_plan(&plan.query, span, deadline, &mut all, &mut partial)
                    .await?;
            }
            if !all.is_empty() {
                break;
            }
        }
        Ok(requested.then(|| Counts {
            minutes: all
                .into_iter()
                .map(|(at, lines)| Minute { at, lines })
                .collect(),
            partial: partial.into_iter().collect(),
        }))
    }

    async fn count_plan(
        &self,
        query: &Query,
        span: Span,
        deadline: Instant,
        all: &mut BTreeMap<Nanos, u64>,
        partial: &mut BTreeSet<String>,
    ) -> Result<(), HttpError> {
        let end = up(span.to, MINUTE);
        let mut from = down(span.from, MINUTE);
        let mut width = POINTS * MINUTE;
        while from < end {
            let to = from.saturating_add(width).min(end);
            let text = self.learned.dress(query).to_string();
            let window = Span { from, to };
            match self.wire.minutes(&text, window, deadline).await {
                Ok((minutes, warnings)) => {
                    for minute in minutes.into_iter().filter(|one| one.lines > 0) {
                        *all.entry(minute.at).or_default() += minute.lines;
                    }
                    partial.extend(warnings.iter().map(|text| format!("Loki warns: {text}")));
                    from = to;
                }
                Err(failure) => {
                    let advice = remedy(&failure);
                    let length = to - from;
                    width = match &advice {
                        Remedy::Length(most) if *most < length => down(*most, MINUTE),
                        Remedy::Less if length > GRID => down(length / 2, MINUTE),
                        Remedy::Labels(names)
                            if names
                                .iter()
                                .any(|name| !self.learned.dress(query).names(name)) =>
                        {
                            width
                        }
                        _ => return Err(failure),
                    };
                    self.learned.learn(&advice);
                    if width == 0 || Instant::now() >= deadline {
                        return Err(failure);
                    }
                }
            }
        }
        Ok(())
    }
}
