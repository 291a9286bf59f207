//! Plays on a real control plane that were answered wrongly once (`tests/plays`): what is the cause, and of what nobody may be
//! blamed for certain.

use serde_json::Value;

use super::whathappened;

/// Levels, the weakest first.
const LEVELS: [&str; 4] = ["unknown", "hypothesis", "supported", "established"];

/// The answer to a question about a play: its run bears the play's name.
fn main_incident(play: &str) -> Value {
    let folder = format!("{}/tests/plays/{play}", env!("CARGO_MANIFEST_DIR"));
    let run = play.split_once("-after-").or(play.split_once("-during-"));
    let run = format!("x-{}", run.map_or(play, |(run, _)| run));
    let (_, out, err) = whathappened(&[&run, "--from", &folder, "--format", "json"]);
    let answer: Value =
        serde_json::from_str(&out).unwrap_or_else(|error| panic!("{play}: {error}: {out}{err}"));
    answer["incidents"][0].clone()
}

#[track_caller]
fn is(play: &str, cause: &str) {
    assert_eq!(main_incident(play)["cause"], cause, "{play}");
}

/// A cause is not the main one, or is no better proven than this.
#[track_caller]
fn is_at_most(play: &str, cause: &str, level: &str) {
    let main = main_incident(play);
    let rank = |level: &str| LEVELS.iter().position(|one| *one == level);
    let found = rank(main["level"].as_str().unwrap_or_default());
    assert!(
        main["cause"] != cause || found <= rank(level),
        "{play}: {} {}",
        main["cause"],
        main["level"]
    );
}

#[test]
fn a_rollout_that_was_undone_left_nothing_that_waits() {
    is("bad-image-undone-after-le", "none.running");
}

#[test]
fn an_image_that_is_not_to_be_had_keeps_a_changed_pod_from_starting_again() {
    is("image-of-running-pod-after-lea", "dep.image_pull");
}

#[test]
fn a_cron_job_whose_jobs_are_gone_hides_none_of_their_pods() {
    let main = main_incident("cron-history-zero-after-le");
    assert!(main["summary"].is_string(), "{main:#}");
}

#[test]
fn a_dry_run_ends_nothing_at_whatever_level_it_is_audited() {
    is("dry-drain-then-oom-during-lm", "code.host_oom");
    is_at_most(
        "dry-drain-then-oom-after-em",
        "ops.manual_delete",
        "unknown",
    );
}

#[test]
fn what_is_deleted_with_a_namespace_is_not_what_was_made_in_the_next_of_its_name() {
    is("ns-recreated-after-lm", "none.running");
}

#[test]
fn who_deletes_what_is_on_a_silent_node_is_not_blamed_for_certain() {
    is_at_most(
        "lost-then-job-deleted-after-lea",
        "ops.manual_delete",
        "hypothesis",
    );
    is("autoscaler-removes-unready-after-lm", "node.not_ready");
}

#[test]
fn nor_is_a_node_that_falls_silent_when_its_pods_are_being_stopped() {
    is_at_most("deleted-then-lost-after-l", "node.not_ready", "hypothesis");
    is_at_most("deleted-then-lost-after-le", "node.not_ready", "unknown");
}

#[test]
fn nor_who_took_a_member_in_the_second_in_which_another_ended() {
    is_at_most(
        "raise-then-preemptor-after-e",
        "sched.preempted",
        "hypothesis",
    );
    is_at_most(
        "raise-then-taint-after-le",
        "ops.node_drained",
        "hypothesis",
    );
}

#[test]
fn who_deletes_what_was_counted_before_ended_nothing() {
    is_at_most(
        "shutdown-then-deleted-after-em",
        "ops.manual_delete",
        "unknown",
    );
}

#[test]
fn that_a_pod_ran_is_known_before_its_deletion_is_established() {
    is_at_most(
        "secret-missing-then-deleted-after-lm",
        "ops.manual_delete",
        "supported",
    );
}

#[test]
fn a_sidecar_that_was_started_again_ended_no_pod() {
    is_at_most(
        "sidecar-loops-then-deleted-during-le",
        "code.host_oom",
        "unknown",
    );
}
