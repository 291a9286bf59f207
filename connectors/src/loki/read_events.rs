//! Reads the Kubernetes Events that an agent sent there.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Instant;

use super::events;
use super::read::{ReadRequest, in_order, read};
use super::store::Loki;
use super::window::sound;
use crate::coverage::{Coverage, Status};
use crate::event::SourceKind;
use crate::http::HttpError;
use crate::log_store::{LineSubject, Span, emit_events};
use crate::sink::Sink;

/// Kubernetes Events are read up to this many.
const EVENTS: usize = 20_000;

fn failed(row: Coverage, failure: &HttpError) -> Coverage {
    let why = format!("{failure}; {}", failure.hint());
    row.ended(failure.status(), &[why])
        .lacking("Kubernetes Events that an agent sent there")
}

impl Loki {
    pub(super) async fn read_events(
        &self,
        about: &LineSubject,
        span: Span,
        deadline: Instant,
        sink: &mut (dyn Sink + Send),
    ) -> Option<Coverage> {
        let span = sound(span)?;
        let asked = Some((span.from, span.to));
        let mut row = Coverage::new(&self.options.name, "events").asked(asked);
        let schema = match self.schema(span, deadline).await {
            Ok(schema) => schema,
            Err(failure) => return Some(failed(row, &failure)),
        };
        let mut lines = Vec::new();
        let (mut partial, mut failure) = (BTreeSet::new(), None);
        let mut requested = false;
        for query in events::queries(about, &schema) {
            if !self.has_streams(&query, span, deadline).await {
                continue;
            }
            requested = true;
            let read = read(&ReadRequest {
                wire: &self.wire,
                learned: &self.learned,
                query: &query,
                span,
                newest: false,
                enough: EVENTS,
                slice: Some(self.options.slice),
                deadline,
                keep: &|_| true,
            })
            .await;
            if read.lines.len() >= EVENTS {
                partial.insert(format!("only the first {EVENTS} Events were read"));
            }
            lines.extend(read.lines);
            partial.extend(read.partial);
            failure = failure.or(read.failure);
        }
        if !requested {
            return None;
        }
        if let Some(failure) = failure.filter(|_| lines.is_empty()) {
            return Some(failed(row, &failure));
        }
        lines.sort_by(in_order);
        let mut emitted = Vec::new();
        let place: Arc<str> = self.place.as_str().into();
        let none = emit_events(
            &lines,
            SourceKind::Loki,
            &self.options.names,
            &place,
            &mut emitted,
        );
        row.rows = emitted.len() as u64;
        let status = match partial.is_empty() {
            true => Status::Complete,
            false => Status::Truncated,
        };
        if none > 0 {
            partial.insert(format!("{none} lines are not Events in a known format"));
        }
        let details: Vec<String> = partial.into_iter().collect();
        if !emitted.is_empty() {
            sink.observe(emitted);
        }
        Some(row.got(asked).ended(status, &details))
    }
}
