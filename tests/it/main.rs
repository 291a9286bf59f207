//! The tool from outside. One binary for all of it, so that it is linked once.
#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot set itself up must fail"
)]

mod accuracy;
mod afterwards;
mod api;
mod bad_input;
mod ballista;
mod batch_ends;
mod batch_jobs;
mod busy_caller;
mod came_to_nothing;
mod canary;
mod carried;
mod cli;
mod clouds;
mod compared_ranks;
mod configuration;
mod cross_site;
mod damaged_day;
mod deletions;
mod described;
mod ends;
mod goes_on;
mod golden;
mod gone_silent;
mod got_over;
mod hardening;
mod held_back;
mod history;
mod hostile;
mod how_members_ended;
mod html;
mod invariants;
mod journal_programs;
mod kept;
mod kept_elsewhere;
mod known_until;
mod lab;
mod lake;
mod large_cluster;
mod last_words;
mod later_attempts;
mod launchers;
mod leaks;
mod leaks_of_kinds;
mod left_over;
mod leftovers;
mod live;
mod log_store_names;
mod log_tags;
mod loggers;
mod logs;
mod lone_logs;
mod machines_and_peers;
mod metrics;
mod missed_members;
mod mixed;
mod newcomer;
mod outwaited;
mod own_machines;
mod pages;
mod parity;
mod pasted;
mod peers_gone;
mod plain_words;
mod play;
mod played;
mod printed;
mod quiet;
mod readme;
mod real_clusters;
mod refused_members;
mod remote;
mod rules;
mod s3;
mod said_and_done;
mod saved_output;
mod secrets;
mod sent_away;
mod serve;
mod service;
mod services;
mod slack;
mod slurm;
mod slurm_states;
mod store;
mod told_twice;
mod trackers;
mod unheard;
mod unseen;
mod upcoming;
mod users;
mod whose_and_when;
mod whose_members;
#[cfg(any(feature = "flight", feature = "postgres"))]
mod wires;

/// Runs the command; gives its exit code, its output and its errors.
fn whathappened(args: &[&str]) -> (Option<i32>, String, String) {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_whathappened"))
        .args(args)
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", "/nonexistent")
        .output()
        .unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (
        output.status.code(),
        text(&output.stdout),
        text(&output.stderr),
    )
}
