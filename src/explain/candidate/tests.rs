use super::*;
use crate::explain::made_up::{at, ended, gang, line, rule};

/// The candidates of the end of `llm-0` in second 31, whose own log tells of a failure in second 30, and that of
/// `llm-1`, in second 20, of another.
struct World {
    graph: EntityGraph,
    rules: Vec<Rule>,
    death: Death,
}

impl World {
    fn new() -> Self {
        let (graph, _) = gang("Job", &[30, 20]);
        let death = ended(&graph, "llm-0", 31);
        let rules = vec![
            rule("code.oom_gpu", 40, "established"),
            rule("hw.gpu", 60, "supported"),
            rule("code.exception", 20, "established"),
        ];
        Self {
            graph,
            rules,
            death,
        }
    }

    /// A rule ties the line of a pod to the death.
    fn edge(&self, rule: usize, pod: &str, kind: Kind) -> Edge {
        Edge {
            death: 0,
            cause: line(&self.graph, pod),
            effect: None,
            kind,
            role: Role::Fault,
            rule,
        }
    }

    fn candidates(&self, edges: &[Edge], capped: &dyn Fn(&Rule) -> bool) -> Vec<Candidate> {
        let requests = Requests::of(&self.graph, &[]);
        candidates(
            &self.graph,
            &self.death,
            &self.rules,
            edges,
            &requests,
            capped,
        )
    }

    /// The causes and their levels, best first.
    fn found(&self, edges: &[Edge]) -> Vec<(&str, Level)> {
        let found = self.candidates(edges, &|_| false);
        let named = found
            .iter()
            .map(|one| (self.rules[one.rule].cause.as_str(), one.level));
        named.collect()
    }
}

#[test]
fn a_way_is_as_sure_as_its_least_sure_step_and_as_its_rule_lets_it() {
    let world = World::new();
    for (rule, kind, level) in [
        (0, Kind::Asserted, Level::Established),
        (0, Kind::Inferred, Level::Supported),
        (0, Kind::Guess, Level::Hypothesis),
        (1, Kind::Asserted, Level::Supported),
    ] {
        let found = world.found(&[world.edge(rule, "llm-0", kind)]);
        let cause = world.rules[rule].cause.as_str();
        assert_eq!(found, [(cause, level)], "{cause} {kind:?}");
    }
    assert_eq!(world.found(&[]), []);
}

#[test]
fn what_speaks_against_a_cause_or_is_missing_lowers_it() {
    let world = World::new();
    let edge = world.edge(0, "llm-0", Kind::Asserted);
    let capped = world.candidates(&[edge], &|rule| rule.cause == "code.oom_gpu");
    assert_eq!(capped[0].level, Level::Supported);
    let against = world.edge(0, "llm-1", Kind::Against);
    let found = world.candidates(&[edge, against], &|_| false);
    assert_eq!(found[0].level, Level::Supported);
    assert_eq!(found[0].against, [line(&world.graph, "llm-1")]);
}

#[test]
fn better_proven_comes_first_then_further_upstream() {
    let world = World::new();
    let proven = world.edge(2, "llm-0", Kind::Asserted);
    let guessed = world.edge(1, "llm-0", Kind::Guess);
    assert_eq!(
        world.found(&[guessed, proven]),
        [
            ("code.exception", Level::Established),
            ("hw.gpu", Level::Hypothesis)
        ]
    );
    let alike = world.edge(0, "llm-0", Kind::Asserted);
    let order: Vec<&str> = world
        .found(&[proven, alike])
        .iter()
        .map(|one| one.0)
        .collect();
    assert_eq!(order, ["code.oom_gpu", "code.exception"]);
}

#[test]
fn a_chain_begins_at_its_root() {
    let world = World::new();
    let near = world.edge(2, "llm-0", Kind::Asserted);
    let far = Edge {
        effect: Some(near.cause),
        ..world.edge(0, "llm-1", Kind::Inferred)
    };
    let found = world.candidates(&[near, far], &|_| false);
    let best = found.iter().find(|one| one.rule == 0).unwrap();
    let facts: Vec<usize> = best.path.iter().map(|step| step.fact).collect();
    assert_eq!(facts, [far.cause, near.cause]);
    assert_eq!((best.root(), best.level), (far.cause, Level::Supported));
    assert_eq!(world.graph.facts[best.root()].time, at(20));
}

#[test]
fn what_nobody_knows_the_time_of_may_have_been_after_it() {
    let mut world = World::new();
    world.death.time = Stamp::OPEN;
    let inferred = world.edge(0, "llm-0", Kind::Inferred);
    assert_eq!(
        world.found(&[inferred]),
        [("code.oom_gpu", Level::Hypothesis)]
    );
    let stated = world.edge(0, "llm-0", Kind::Asserted);
    assert_eq!(world.found(&[stated]), [("code.oom_gpu", Level::Supported)]);
}
