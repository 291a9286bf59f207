//! Dumps of several ranks, from bytes to what they say together.

use whathappened_connectors::flight_recorder::decode;
use whathappened_core::evidence::Evidence;
use whathappened_core::graph::EntityGraph;
use whathappened_core::signals::Ruleset;
use whathappened_model::event::Origin;

#[test]
fn dumps_of_three_ranks_name_the_missing_one() {
    let ruleset = Ruleset::built_in().unwrap();
    let dump = |seq: i64, state: &str| {
        serde_json::json!({
            "version": "2.10",
            "pg_config": { "0": { "name": "0", "desc": "default_pg", "ranks": "[0, 1, 2]" } },
            "entries": [{
                "pg_id": 0, "process_group": ["0", "default_pg"], "is_p2p": false,
                "collective_seq_id": seq, "profiling_name": "nccl:all_reduce",
                "input_sizes": [[8]], "output_sizes": [[8]], "state": state,
                "time_created_ns": 1_795_274_427_000_000_000_i64 + seq,
            }],
        })
        .to_string()
    };
    let mut evidence = Evidence::default();
    for (rank, seq, state) in [
        (0, 7, "scheduled"),
        (1, 6, "completed"),
        (2, 7, "scheduled"),
    ] {
        let origin = Origin {
            file: format!("nccl_trace_rank_{rank}.json").into(),
            line: 1,
        };
        let mut reported = Vec::new();
        decode(dump(seq, state).as_bytes(), &origin, &mut reported).unwrap();
        for observation in reported {
            evidence.observe(observation, &ruleset).unwrap();
        }
    }
    let graph = EntityGraph::build(evidence, &ruleset).unwrap();
    let missing: Vec<_> = graph
        .facts
        .iter()
        .filter(|fact| graph.name(fact.signal) == "nccl.rank_missing")
        .collect();
    assert_eq!(missing.len(), 1);
    let event = graph.evidence.event(missing[0].row).unwrap();
    assert_eq!(event.rank, Some(1));
    assert_eq!(event.attribute("waiting"), Some("0,2"));
}
