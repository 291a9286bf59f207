use std::collections::HashSet;

use super::*;
use crate::explain::candidate::Step;
use crate::explain::edge::{Kind, Role};
use crate::explain::made_up::{at, ended, fault, gang_on, line, rule};
use whathappened_model::time::Stamp;

fn candidate(rule: usize, fact: usize, level: Level) -> Candidate {
    Candidate {
        rule,
        path: vec![fault(fact)],
        context: Vec::new(),
        against: Vec::new(),
        level,
    }
}

/// What is known of a made-up gang beside its deaths.
struct World {
    graph: EntityGraph,
    runs: Vec<Run>,
    rules: Vec<Rule>,
}

impl World {
    /// Pods of a workload whose logs tell of a failure in these seconds.
    fn of(kind: &str, fails: &[u32]) -> Self {
        Self::with_silent(kind, fails, &[])
    }

    /// The same, some of whose nodes were found to be silent.
    fn with_silent(kind: &str, fails: &[u32], silent: &[(usize, u32)]) -> Self {
        let (graph, runs) = gang_on(kind, fails, silent);
        let rules = vec![
            rule("code.oom_gpu", 40, "established"),
            rule("hang.collective_timeout", 10, "hypothesis"),
            rule("node.not_ready", 58, "established"),
        ];
        Self { graph, runs, rules }
    }

    /// Groups the ends of its pods, `llm-0` first, each with what explains it.
    fn group(&self, ends: &[(u32, Option<Candidate>)], lost_touch: &[&str]) -> Vec<Finding> {
        let deaths: Vec<Death> = ends
            .iter()
            .enumerate()
            .map(|(number, (second, _))| ended(&self.graph, &format!("llm-{number}"), *second))
            .collect();
        let candidates: Vec<Vec<Candidate>> = ends
            .iter()
            .map(|(_, one)| one.iter().cloned().collect())
            .collect();
        self.group_deaths(&deaths, &candidates, lost_touch)
    }

    fn group_deaths(
        &self,
        deaths: &[Death],
        candidates: &[Vec<Candidate>],
        lost_touch: &[&str],
    ) -> Vec<Finding> {
        let lost = lost_touch.iter();
        let lost_touch = lost.map(|name| crate::explain::made_up::pod(&self.graph, name));
        let grouping = Grouping {
            graph: &self.graph,
            runs: &self.runs,
            rules: &self.rules,
            deaths,
            candidates,
            torn_down: &HashSet::new(),
            lost_touch: &lost_touch.collect(),
        };
        let mut order: Vec<usize> = (0..deaths.len()).collect();
        order.sort_by_key(|death| (deaths[*death].time, *death));
        grouping.group(0, 1, &order)
    }

    fn proven(&self, name: &str) -> Option<Candidate> {
        let fact = line(&self.graph, name);
        Some(candidate(0, fact, Level::Supported))
    }

    fn waited(&self, name: &str) -> Option<Candidate> {
        let fact = line(&self.graph, name);
        Some(candidate(1, fact, Level::Hypothesis))
    }
}

#[test]
fn who_ends_without_a_reason_of_its_own_follows_the_first() {
    let world = World::of("Job", &[30, 40, 50]);
    let found = world.group(&[(31, world.proven("llm-0")), (41, None), (51, None)], &[]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (&*found[0].victims, &*found[0].collateral),
        (&[0][..], &[1, 2][..])
    );
    assert_eq!(found[0].level(), Level::Supported);
    assert!(!found[0].recovered && !found[0].follows);
}

#[test]
fn pods_that_do_not_work_as_one_fail_each_by_itself() {
    let world = World::of("Deployment", &[30, 40]);
    let found = world.group(&[(31, world.proven("llm-0")), (41, None)], &[]);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(found.iter().all(|one| one.collateral.is_empty()));
}

#[test]
fn who_only_missed_another_was_not_the_first() {
    // The container of the one that gave up waiting ended before that of the one that had failed.
    let world = World::of("Job", &[35, 30]);
    let ends = [(36, world.waited("llm-0")), (38, world.proven("llm-1"))];
    let found = world.group(&ends, &["llm-0"]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (&*found[0].victims, &*found[0].collateral),
        (&[1][..], &[0][..])
    );
}

#[test]
fn what_one_root_struck_are_victims_and_no_collateral() {
    let world = World::of("Job", &[30, 30]);
    let root = line(&world.graph, "llm-0");
    let both = || Some(candidate(0, root, Level::Established));
    let found = world.group(&[(31, both()), (31, both())], &[]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (&*found[0].victims, &*found[0].collateral),
        (&[0, 1][..], &[][..])
    );
    assert_eq!(found[0].first, [0, 1]);
}

#[test]
fn what_ends_long_after_the_teardown_for_a_reason_of_its_own_is_another_incident() {
    let late = 31 + 1_200;
    let world = World::of("Job", &[30, late - 1]);
    let found = world.group(
        &[(31, world.proven("llm-0")), (late, world.proven("llm-1"))],
        &[],
    );
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(
        (&*found[0].victims, &*found[1].victims),
        (&[0][..], &[1][..])
    );
}

#[test]
fn an_act_beside_an_end_of_its_own_in_one_moment_is_a_guess() {
    let world = World::of("Job", &[30, 30]);
    let act = Candidate {
        path: vec![Step {
            kind: Kind::Asserted,
            role: Role::Act,
            ..fault(line(&world.graph, "llm-0"))
        }],
        ..candidate(0, line(&world.graph, "llm-0"), Level::Established)
    };
    assert!(is_act(&act));
    let found = world.group(&[(31, Some(act)), (31, None)], &[]);
    assert_eq!(found[0].victims, [0]);
    assert_eq!(found[0].level(), Level::Hypothesis);
}

/// The member on a machine that fell silent, which ended at some time between a last word and the request for its end; and one
/// that ended by itself for a proven reason meanwhile, in second 90.
fn lost_beside_a_failure(found_silent: u32) -> Vec<Finding> {
    let world = World::with_silent("Job", &[5, 90], &[(0, found_silent)]);
    let silent = world.graph.facts.iter().position(|fact| {
        world.graph.name(fact.signal) == whathappened_core::signals::named::K8S_NODE_SILENT
    });
    let lost = Death {
        mode: whathappened_core::lifecycle::Mode::Lost,
        time: Stamp {
            lo: at(30).lo,
            hi: at(95).hi,
        },
        exit_code: None,
        ..ended(&world.graph, "llm-0", 95)
    };
    let deaths = [lost, ended(&world.graph, "llm-1", 91)];
    let of_lost = candidate(2, silent.unwrap(), Level::Supported);
    let of_failed = world.proven("llm-1").unwrap();
    world.group_deaths(&deaths, &[vec![of_lost], vec![of_failed]], &[])
}

#[test]
fn who_was_gone_before_its_node_was_found_to_be_silent_leads() {
    // A kubelet of which nothing was heard for forty seconds by second 110 had said its last word by second 81.
    let found = lost_beside_a_failure(110);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (&*found[0].victims, &*found[0].collateral),
        (&[0][..], &[1][..])
    );
}

#[test]
fn who_may_have_been_there_still_when_another_failed_does_not_lead() {
    let found = lost_beside_a_failure(125);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        found[0].level(),
        Level::Hypothesis,
        "it may have been first"
    );
    assert_eq!(
        (&*found[0].victims, &*found[0].collateral),
        (&[1][..], &[0][..])
    );
}

#[test]
fn who_is_taken_away_within_the_second_of_the_first_follows_it() {
    // A kubelet writes whole seconds, and the API server microseconds: of two that waited, the one that was taken away is
    // told more closely, and the third was taken away a moment before that.
    let exact = |second, micros: i64| {
        let lo = at(second).lo + micros * 1_000;
        Stamp { lo, hi: lo + 1_000 }
    };
    let world = World::of("Job", &[30, 30, 30]);
    let taken = |name: &str, micros| Death {
        mode: whathappened_core::lifecycle::Mode::Killed,
        time: exact(31, micros),
        exit_code: None,
        ..ended(&world.graph, name, 31)
    };
    let deaths = [
        ended(&world.graph, "llm-0", 31),
        taken("llm-1", 923_428),
        taken("llm-2", 922_922),
    ];
    let root = line(&world.graph, "llm-0");
    let waited = || vec![candidate(1, root, Level::Hypothesis)];
    let candidates = [waited(), waited(), Vec::new()];
    let found = world.group_deaths(&deaths, &candidates, &[]);
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!(
        (&*found[0].victims, &*found[0].collateral),
        (&[0, 1][..], &[2][..])
    );
}
