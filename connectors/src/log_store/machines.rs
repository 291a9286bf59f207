//! Machines' own logs: which lines of which nodes are asked for, and what they tell.
//!
//! A store holds what the kernel, the system and its maintainers said on every
//! machine, all the time. Asked for are the lines that mean something, of the nodes
//! that pods died on, around those deaths and only while the pods were there.

use std::collections::{BTreeMap, BTreeSet};

use super::contract::{Limits, LineFilter, LineQuery, LineSubject, Span, StoredLine};
use super::depth::Depth;
use super::emit::EmitOptions;
use super::plan::{PlannedQuery, ReadReason};
use crate::connector::{Entity, Scope};
use crate::contract::LabelNames;
use crate::event::SourceKind;
use crate::node_log::{Machines, StoredHostLine};
use crate::observation::Observation;
use crate::time::{Nanos, SECOND};

const MINUTE: Nanos = 60 * SECOND;

/// Before a death: a collective waits its timeout before anybody notices, and a
/// machine that failed is only then found out.
const BEFORE: Nanos = 45 * MINUTE;
/// After it: a machine that was lost tells on its next start.
const AFTER: Nanos = 15 * MINUTE;
/// How much is asked of machines on which nothing died.
const LATEST: Nanos = 60 * MINUTE;

/// Questions of overlapping times are one, up to this length.
const TOGETHER: Nanos = 4 * 60 * MINUTE;

/// The machines that are asked about, by every name that a line may bear.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct MachineWatchlist {
    /// By name in lower case: the node, and when its lines count.
    known: BTreeMap<String, (String, Vec<Span>)>,
}

impl MachineWatchlist {
    /// The nodes of a scope, and the machines that are what died.
    pub(super) fn of(scope: &Scope, whole: Span) -> Self {
        let mut nodes: BTreeMap<&str, Vec<Span>> = BTreeMap::new();
        for node in scope.nodes.iter().chain(&scope.instances) {
            let spans = nodes.entry(&node.name).or_default();
            spans.extend(spans_of(node, whole));
        }
        let mut by_name: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
        for node in nodes.keys() {
            for name in names_of(node) {
                by_name.entry(name.to_lowercase()).or_default().insert(node);
            }
        }
        let known = by_name.into_iter().filter_map(|(name, meant)| {
            // A short name that two machines have is nobody's.
            let mut meant = meant.into_iter();
            let (node, None) = (meant.next()?, meant.next()) else {
                return None;
            };
            let spans = nodes.get(node)?.clone();
            (!spans.is_empty()).then(|| (name, (node.to_owned(), spans)))
        });
        Self {
            known: known.collect(),
        }
    }

    /// The questions to ask, the earliest times first.
    pub(super) fn pieces(&self, depth: &Depth, limits: &Limits) -> Vec<PlannedQuery> {
        let mut all: Vec<(Span, &str)> = Vec::new();
        for (node, spans) in self.known.values() {
            all.extend(spans.iter().map(|span| (*span, node.as_str())));
        }
        all.sort_unstable();
        all.dedup();
        let mut pieces = Vec::new();
        let mut rest = all.as_slice();
        while let Some((first, _)) = rest.first() {
            let mut span = *first;
            let together = rest.iter().take_while(|(next, _)| {
                let joins = next.from <= span.to
                    && (*next == *first || next.to.saturating_sub(span.from) <= TOGETHER);
                if joins {
                    span.to = span.to.max(next.to);
                }
                joins
            });
            let together = together.count();
            let (group, later) = rest.split_at(together);
            rest = later;
            let nodes: BTreeSet<&str> = group.iter().map(|(_, node)| *node).collect();
            let nodes: Vec<&str> = nodes.into_iter().collect();
            for lot in nodes.chunks(limits.pods_at_once.max(1)) {
                let mut names: Vec<String> = lot.iter().flat_map(|node| names_of(node)).collect();
                names.sort();
                names.dedup();
                pieces.push(PlannedQuery {
                    why: ReadReason::Machines,
                    query: LineQuery {
                        about: LineSubject::Nodes(names),
                        span,
                        only: LineFilter::Significant,
                        newest: true,
                        limit: depth.machines,
                    },
                });
            }
        }
        pieces
    }

    /// The node that wrote a line, where the line counts.
    fn node(&self, names: &LabelNames, line: &StoredLine) -> Option<&str> {
        let host = names.machine(&line.all_labels())?.to_lowercase();
        let short = || host.split('.').next();
        let (node, spans) = self.known.get(&host).or_else(|| self.known.get(short()?))?;
        let counts = spans.iter().any(|span| span.holds(line.stamp.lo));
        counts.then_some(node)
    }
}

/// The full name, and the short one that the machine calls itself.
fn names_of(node: &str) -> Vec<String> {
    let short = node.split_once('.').map(|(short, _)| short);
    // An address is no name.
    let short = short.filter(|short| short.contains(|c: char| c.is_ascii_alphabetic()));
    let names = std::iter::once(node).chain(short);
    names
        .filter(|name| !name.is_empty())
        .map(str::to_owned)
        .collect()
}

/// When a machine's lines are of interest.
fn spans_of(node: &Entity, whole: Span) -> Vec<Span> {
    let there = Span {
        from: node.window.from.unwrap_or(whole.from),
        to: node.window.to.unwrap_or(whole.to),
    };
    let Some(there) = there.cut(whole) else {
        return Vec::new();
    };
    // It is the machine itself that is asked about.
    if node.window.from.is_none() && node.moments.is_empty() {
        return vec![there];
    }
    let around = node.moments.iter().map(|at| Span {
        from: at.saturating_sub(BEFORE),
        to: at.saturating_add(AFTER),
    });
    let mut spans: Vec<Span> = around.filter_map(|span| span.cut(there)).collect();
    if node.moments.is_empty() {
        let from = there.to.saturating_sub(LATEST).max(there.from);
        spans.push(Span { from, ..there });
    }
    spans
}

/// Tells what lines of these machines mean; others are left out.
pub(super) fn emit(
    mut lines: Vec<StoredLine>,
    watching: &MachineWatchlist,
    how: &EmitOptions<'_>,
    out: &mut Vec<Observation>,
) {
    lines.sort_by(|a, b| {
        (a.stamp, &a.labels, a.order, &a.id).cmp(&(b.stamp, &b.labels, b.order, &b.id))
    });
    let mut evidence = MachineLines::new(how);
    for line in &lines {
        if let Some(node) = watching.node(how.names, line) {
            evidence.push(line, Some(node), out);
        }
    }
    evidence.finish(out);
}

/// Tells lines of machines as what they mean.
pub(super) struct MachineLines<'h> {
    how: &'h EmitOptions<'h>,
    machines: Machines,
}

impl<'h> MachineLines<'h> {
    pub(super) fn new(how: &'h EmitOptions<'h>) -> Self {
        Self {
            how,
            machines: Machines::new(std::sync::Arc::clone(&how.file)),
        }
    }

    /// Takes the next line, of a node where it is known by another name than the
    /// line bears. Whether it is one of a machine's own log.
    pub(super) fn push(
        &mut self,
        line: &StoredLine,
        node: Option<&str>,
        out: &mut Vec<Observation>,
    ) -> bool {
        let labels = line.all_labels();
        let Some(host) = self.how.names.machine(&labels) else {
            return false;
        };
        let stored = StoredHostLine {
            text: &line.text,
            host: Some(&host),
            stream: format!("{host} {}", self.how.names.identity(&labels)),
            program: LabelNames::program(&labels),
            unit: LabelNames::unit(&labels),
            boot_id: LabelNames::boot_id(&labels),
            number: line.number,
        };
        if !Machines::is_of_machine(&stored) {
            return false;
        }
        let cluster = self.how.names.entities(&labels).cluster;
        for mut emitted in self.machines.push(stored, line.stamp) {
            place(&mut emitted, self.how);
            if let Observation::Event(event) = &mut emitted {
                // Daemons speak of other machines than their own.
                let own =
                    event.entities.node.is_some() && event.entities.node == event.entities.host;
                if let Some(node) = node.filter(|_| own) {
                    event.entities.node = Some(node.to_owned());
                }
                event.entities.cluster.clone_from(&cluster);
            }
            out.push(emitted);
        }
        true
    }

    /// There are no more.
    pub(super) fn finish(self, out: &mut Vec<Observation>) {
        let how = self.how;
        for mut emitted in self.machines.finish() {
            place(&mut emitted, how);
            out.push(emitted);
        }
    }
}

/// Says which store a fact is from.
fn place(emitted: &mut Observation, how: &EmitOptions<'_>) {
    if let Observation::Event(event) = emitted {
        event.observed = how.observed;
        if event.source_kind == SourceKind::NodeLog {
            event.source_kind = how.source_kind;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::connector::Window;

    const HOUR: Nanos = 3_600 * SECOND;
    const WHOLE: Span = Span {
        from: 0,
        to: 100 * HOUR,
    };
    const LIMITS: Limits = Limits {
        pods_at_once: 4,
        questions_at_once: 1,
        metered: true,
        lag: 0,
    };

    fn node(name: &str, window: (Option<Nanos>, Option<Nanos>), moments: &[Nanos]) -> Entity {
        Entity {
            name: name.to_owned(),
            window: Window {
                from: window.0,
                to: window.1,
            },
            moments: moments.to_vec(),
            ..Entity::default()
        }
    }

    fn requested(nodes: Vec<Entity>) -> Vec<(Vec<String>, Span)> {
        let scope = Scope {
            nodes,
            ..Scope::default()
        };
        let pieces = MachineWatchlist::of(&scope, WHOLE).pieces(&Depth::default(), &LIMITS);
        let emitted = pieces.into_iter().map(|piece| match piece.query.about {
            LineSubject::Nodes(names) => (names, piece.query.span),
            other => panic!("{other:?}"),
        });
        emitted.collect()
    }

    #[test]
    fn nodes_are_asked_around_deaths_and_only_while_pods_were_there() {
        let dead = 50 * HOUR;
        let emitted = requested(vec![
            node(
                "g-1.lab",
                (Some(49 * HOUR + 1_800 * SECOND), Some(dead + MINUTE)),
                &[dead],
            ),
            node("g-2.lab", (Some(0), Some(60 * HOUR)), &[dead + SECOND]),
            // Another attempt's, a day before.
            node(
                "g-1.lab",
                (Some(20 * HOUR), Some(22 * HOUR)),
                &[22 * HOUR - MINUTE],
            ),
        ]);
        let names = |names: &[&str]| {
            names
                .iter()
                .map(|name| (*name).to_owned())
                .collect::<Vec<_>>()
        };
        assert_eq!(emitted.len(), 2);
        assert_eq!(emitted[0].0, names(&["g-1", "g-1.lab"]));
        assert_eq!(
            (emitted[0].1.from, emitted[0].1.to),
            (21 * HOUR + 14 * MINUTE, 22 * HOUR)
        );
        assert_eq!(emitted[1].0, names(&["g-1", "g-1.lab", "g-2", "g-2.lab"]));
        assert_eq!(emitted[1].1.to, dead + SECOND + AFTER);
    }

    #[test]
    fn a_machine_asked_for_is_asked_for_all_and_a_living_runs_for_the_last_hour() {
        let emitted = requested(vec![node("g-1", (None, None), &[])]);
        assert_eq!(emitted[0].1, WHOLE);
        let emitted = requested(vec![node("g-1", (Some(0), Some(100 * HOUR)), &[])]);
        assert_eq!(
            (emitted[0].1.from, emitted[0].1.to),
            (99 * HOUR, 100 * HOUR)
        );
    }

    #[test]
    fn many_nodes_are_several_questions() {
        let nodes = (0..10).map(|n| node(&format!("g-{n}"), (Some(0), None), &[HOUR]));
        let emitted = requested(nodes.collect());
        let counts: Vec<usize> = emitted.iter().map(|(names, _)| names.len()).collect();
        assert_eq!(counts, [4, 4, 2]);
    }
}
