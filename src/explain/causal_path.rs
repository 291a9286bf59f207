//! From a death up to what brought it about.
//!
//! Records of one act point at each other where their times cannot be told apart:
//! the Event of a scale-down and the taint that it set. Facts that reach each other
//! are therefore one act with several witnesses, and what is left has no cycles.
//! So every root is found, however many records there are and in whatever order.

use std::collections::{BTreeMap, BTreeSet};

use petgraph::algo::tarjan_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::candidate::Step;
use super::edge::{Edge, Kind};

/// A way from a root to the death.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Path {
    /// The rule of the topmost edge.
    pub(super) rule: usize,
    /// From the root to the death, one fact an act.
    pub(super) steps: Vec<Step>,
    /// Other records of the acts on the way.
    pub(super) witnesses: Vec<Step>,
}

/// How surely one thing brought about another, surest last.
const SURENESS: [Kind; 3] = [Kind::Guess, Kind::Inferred, Kind::Asserted];

/// Which way leads on from an act: the edge, and the sureness of the rest.
#[derive(Clone, Copy)]
struct BestPath {
    /// Number of the edge.
    edge: usize,
    /// Of the rest of the way, `None` at the death.
    rest: Option<usize>,
    /// Acts up to the death, itself included.
    length: usize,
}

/// The acts that edges tell of, and the ways from each down to the death.
struct ActGraph<'a> {
    edges: Vec<&'a Edge>,
    /// The act that each fact is a record of.
    act_of: BTreeMap<usize, usize>,
    /// Facts of each act, effects before their causes.
    acts: Vec<Vec<usize>>,
    /// Numbers of the edges that lead from each act to another or to the death.
    out: Vec<Vec<usize>>,
    /// Whether something brought the act about, and more than a guess says so.
    caused: Vec<bool>,
    /// For each act and least sureness the longest way down.
    ways: Vec<[Option<BestPath>; SURENESS.len()]>,
}

/// The best way from each root, for each rule that names it. `edges` are of one
/// death, possible in time, and in a total order; `twins` are pairs of records of one
/// act. `prefer` puts the record first that tells most of an act.
pub(super) fn paths<K: Ord>(
    edges: &[&Edge],
    twins: &[(usize, usize)],
    prefer: impl Fn(usize) -> K,
) -> Vec<Path> {
    let acts = ActGraph::of(edges.to_vec(), twins);
    let mut found = Vec::new();
    for act in 0..acts.acts.len() {
        if !acts.caused[act] {
            found.extend(acts.from(act, &prefer));
        }
    }
    found
}

impl<'a> ActGraph<'a> {
    fn of(edges: Vec<&'a Edge>, twins: &[(usize, usize)]) -> Self {
        let facts: BTreeSet<usize> = edges
            .iter()
            .flat_map(|edge| [Some(edge.cause), edge.effect])
            .flatten()
            .collect();
        let mut graph: DiGraph<usize, ()> = DiGraph::new();
        let nodes: BTreeMap<usize, NodeIndex> = facts
            .iter()
            .map(|fact| (*fact, graph.add_node(*fact)))
            .collect();
        for edge in &edges {
            if let (Some(cause), Some(effect)) = (
                nodes.get(&edge.cause),
                edge.effect.and_then(|effect| nodes.get(&effect)),
            ) {
                graph.add_edge(*cause, *effect, ());
            }
        }
        for (one, other) in twins {
            if let (Some(one), Some(other)) = (nodes.get(one), nodes.get(other)) {
                graph.add_edge(*one, *other, ());
                graph.add_edge(*other, *one, ());
            }
        }
        // Effects come before their causes.
        let acts: Vec<Vec<usize>> = tarjan_scc(&graph)
            .into_iter()
            .map(|act| {
                let mut facts: Vec<usize> = act.into_iter().map(|node| graph[node]).collect();
                facts.sort_unstable();
                facts
            })
            .collect();
        let act_of: BTreeMap<usize, usize> = acts
            .iter()
            .enumerate()
            .flat_map(|(act, facts)| facts.iter().map(move |fact| (*fact, act)))
            .collect();
        let (mut out, mut caused) = (vec![Vec::new(); acts.len()], vec![false; acts.len()]);
        for (number, edge) in edges.iter().enumerate() {
            let to = edge.effect.and_then(|effect| act_of.get(&effect));
            let Some(from) = act_of.get(&edge.cause).filter(|from| to != Some(from)) else {
                continue;
            };
            out[*from].push(number);
            if let Some(to) = to {
                caused[*to] |= edge.kind != Kind::Guess;
            }
        }
        let mut this = Self {
            edges,
            act_of,
            out,
            caused,
            ways: Vec::with_capacity(acts.len()),
            acts,
        };
        for act in 0..this.acts.len() {
            let ways = this.ways_from(act, &|_| true);
            this.ways.push(ways);
        }
        this
    }

    fn out(&self, act: usize) -> impl Iterator<Item = (usize, &'a Edge)> + '_ {
        let numbers = self.out.get(act).into_iter().flatten();
        numbers.filter_map(|number| Some((*number, *self.edges.get(*number)?)))
    }

    /// For each least sureness the longest way down that begins with an edge of choice.
    fn ways_from(
        &self,
        act: usize,
        choose: &dyn Fn(&Edge) -> bool,
    ) -> [Option<BestPath>; SURENESS.len()] {
        let mut best: [Option<BestPath>; SURENESS.len()] = [None; SURENESS.len()];
        for (number, edge) in self.out(act).filter(|(_, edge)| choose(edge)) {
            for (least, slot) in best.iter_mut().enumerate() {
                if SURENESS.iter().position(|kind| *kind == edge.kind) < Some(least) {
                    continue;
                }
                let way = match edge.effect.and_then(|effect| self.act_of.get(&effect)) {
                    None if edge.effect.is_none() => BestPath {
                        edge: number,
                        rest: None,
                        length: 1,
                    },
                    Some(to) => {
                        let Some(rest) = self.ways.get(*to).and_then(|ways| ways[least]) else {
                            continue;
                        };
                        BestPath {
                            edge: number,
                            rest: Some(least),
                            length: rest.length + 1,
                        }
                    }
                    None => continue,
                };
                // Of ways as long the first edge counts: edges are in a total order.
                if slot.is_none_or(|known| way.length > known.length) {
                    *slot = Some(way);
                }
            }
        }
        best
    }

    /// The surest way from a root for each rule that names it.
    fn from<K: Ord>(&self, act: usize, prefer: &impl Fn(usize) -> K) -> Vec<Path> {
        let rules: BTreeSet<usize> = self.out(act).map(|(_, edge)| edge.rule).collect();
        rules
            .into_iter()
            .filter_map(|rule| {
                let ways = self.ways_from(act, &|edge| edge.rule == rule);
                let way = ways.into_iter().rev().flatten().next()?;
                Some(self.path(rule, way, prefer))
            })
            .collect()
    }

    fn path<K: Ord>(&self, rule: usize, from: BestPath, prefer: &impl Fn(usize) -> K) -> Path {
        let (mut steps, mut witnesses) = (Vec::new(), Vec::new());
        let mut next = Some(from);
        while let Some(way) = next {
            let Some(edge) = self.edges.get(way.edge) else {
                break;
            };
            let act = self.act_of.get(&edge.cause).copied();
            let facts = act.and_then(|act| self.acts.get(act));
            let facts = facts.map_or(&[][..], Vec::as_slice);
            let step = |fact: usize| Step {
                fact,
                kind: edge.kind,
                role: edge.role,
            };
            // The record that tells most speaks for the act, and the others are witnesses.
            let speaks = facts
                .iter()
                .copied()
                .min_by_key(|fact| (prefer(*fact), *fact))
                .unwrap_or(edge.cause);
            steps.push(step(speaks));
            witnesses.extend(
                facts
                    .iter()
                    .filter(|fact| **fact != speaks)
                    .map(|fact| Step {
                        kind: Kind::Context,
                        ..step(*fact)
                    }),
            );
            let to = edge.effect.and_then(|effect| self.act_of.get(&effect));
            next = match (to, way.rest) {
                (Some(to), Some(least)) => self.ways.get(*to).and_then(|ways| ways[least]),
                _ => None,
            };
        }
        Path {
            rule,
            steps,
            witnesses,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explain::edge::Role;

    fn edge(cause: usize, effect: Option<usize>, kind: Kind, rule: usize) -> Edge {
        Edge {
            death: 0,
            cause,
            effect,
            kind,
            role: Role::Act,
            rule,
        }
    }

    /// The paths of some edges: rule, facts from the root down, and witnesses.
    fn found(edges: &[Edge]) -> Vec<(usize, Vec<usize>, Vec<usize>)> {
        found_with(edges, &[])
    }

    fn found_with(
        edges: &[Edge],
        twins: &[(usize, usize)],
    ) -> Vec<(usize, Vec<usize>, Vec<usize>)> {
        let edges: Vec<&Edge> = edges.iter().collect();
        let facts = |steps: &[Step]| steps.iter().map(|step| step.fact).collect();
        let mut found: Vec<_> = paths(&edges, twins, |fact| fact)
            .iter()
            .map(|path| (path.rule, facts(&path.steps), facts(&path.witnesses)))
            .collect();
        found.sort();
        found
    }

    #[test]
    fn records_of_one_act_that_point_at_each_other_are_one_act() {
        use Kind::{Asserted, Inferred};
        let edges = [
            edge(1, Some(2), Inferred, 0),
            edge(2, Some(1), Inferred, 0),
            edge(2, Some(3), Inferred, 0),
            edge(3, None, Asserted, 0),
        ];
        assert_eq!(found(&edges), [(0, vec![1, 3], vec![2])]);
        // Nothing but a cycle, each record of which leads on to the death.
        let edges = [
            edge(1, Some(2), Inferred, 0),
            edge(1, None, Inferred, 0),
            edge(2, Some(1), Inferred, 0),
            edge(2, None, Inferred, 0),
        ];
        assert_eq!(found(&edges), [(0, vec![1], vec![2])]);
    }

    #[test]
    fn what_is_told_twice_has_the_causes_of_either_record() {
        use Kind::{Asserted, Inferred};
        let edges = [
            edge(1, Some(2), Inferred, 0),
            edge(2, None, Asserted, 1),
            edge(3, None, Asserted, 1),
        ];
        assert_eq!(found_with(&edges, &[(3, 2)]), [(0, vec![1, 2], vec![3])]);
    }

    #[test]
    fn a_guess_further_up_does_not_take_the_place_of_what_is_known() {
        let edges = [
            edge(1, Some(2), Kind::Guess, 0),
            edge(2, None, Kind::Asserted, 1),
        ];
        assert_eq!(
            found(&edges),
            [(0, vec![1, 2], vec![]), (1, vec![2], vec![])]
        );
        let edges = [
            edge(1, Some(2), Kind::Inferred, 0),
            edge(2, None, Kind::Asserted, 1),
        ];
        assert_eq!(found(&edges), [(0, vec![1, 2], vec![])]);
    }

    #[test]
    fn the_surest_way_is_taken_and_of_these_the_longest() {
        use Kind::{Asserted, Inferred};
        let edges = [
            edge(1, None, Inferred, 0),
            edge(1, Some(2), Asserted, 0),
            edge(1, Some(4), Inferred, 0),
            edge(2, Some(3), Asserted, 1),
            edge(2, None, Asserted, 1),
            edge(3, None, Asserted, 1),
            edge(4, Some(2), Inferred, 1),
        ];
        assert_eq!(found(&edges), [(0, vec![1, 2, 3], vec![])]);
    }

    #[test]
    fn no_root_is_lost_among_thousands_of_records() {
        let mut edges = Vec::new();
        for fact in 0..3_000 {
            edges.push(edge(fact, Some(fact + 1), Kind::Inferred, 0));
            edges.push(edge(fact, None, Kind::Inferred, 0));
            edges.push(edge(fact, Some(9_000), Kind::Inferred, 0));
        }
        edges.push(edge(3_000, None, Kind::Inferred, 0));
        edges.push(edge(9_000, None, Kind::Asserted, 1));
        edges.push(edge(9_001, None, Kind::Asserted, 2));
        let found = found(&edges);
        assert_eq!(found.len(), 2);
        assert_eq!(found[1], (2, vec![9_001], vec![]));
    }
}
