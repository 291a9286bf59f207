//! The same things said in the same words everywhere.

#[cfg(test)]
mod tests;

use crate::answer::{Actor, Attempt, ChainLink, CoverageRow, Edge, Incident, Level, Run, Victim};
use whathappened_connectors::LOG_STORES;
use whathappened_core::death::{DeathState, RunState};
use whathappened_model::coverage::Status;

use super::page::{Spans, Tone};

/// A count with its noun: `1 pod`, `2 pods`, `1,204 rows`.
pub(crate) fn count(n: usize, noun: &str) -> String {
    let s = if n == 1 { "" } else { "s" };
    format!("{}\u{a0}{noun}{s}", grouped(n as u64))
}

pub(crate) use crate::answer::grouped;

/// How sure we are, beside a cause.
pub(crate) fn level(level: Level) -> &'static str {
    match level {
        Level::Hypothesis => "hypothesis: likely, unconfirmed",
        Level::Unknown => "could not be determined",
        sure => sure.as_str(),
    }
}

/// What a level means.
pub(crate) fn level_means(level: Level) -> &'static str {
    match level {
        Level::Established => {
            "every step is backed by a record that names both of its ends, the death itself was \
             observed, and there is no evidence against it"
        }
        Level::Supported => {
            "at least one step was inferred from time and place, or rests only on what a component \
             claims"
        }
        Level::Hypothesis => "consistent with the records, but none of them confirms it",
        Level::Unknown => "none of the records explains it",
    }
}

pub(crate) fn level_tone(level: Level) -> Tone {
    match level {
        Level::Established => Tone::Strong,
        Level::Supported => Tone::Plain,
        Level::Hypothesis | Level::Unknown => Tone::Warn,
    }
}

/// What fell short comes in this order: first what was there and could not be asked.
pub(crate) fn urgency(status: Status) -> usize {
    match status {
        Status::Failed => 0,
        Status::Denied => 1,
        Status::Truncated => 2,
        Status::Expired => 3,
        Status::Sampled => 4,
        Status::NotConfigured => 5,
        Status::Complete => 6,
    }
}

/// The sign of a run's or attempt's state and its tone.
pub(crate) fn state_sign(state: RunState) -> (&'static str, Tone) {
    match state {
        RunState::Completed => ("✓", Tone::Good),
        RunState::Failed | RunState::Deleted => ("✗", Tone::Fatal),
        RunState::Running => ("●", Tone::Busy),
        RunState::Deleting | RunState::Pending => ("○", Tone::Warn),
        RunState::Unknown => ("?", Tone::Warn),
    }
}

/// A state with its verb and how long it took.
pub(crate) fn state_took(state: RunState, took: Option<&str>) -> String {
    match (state, took) {
        (RunState::Completed, Some(took)) => format!("completed in {took}"),
        (RunState::Failed, Some(took)) => format!("failed after {took}"),
        (RunState::Deleted, Some(took)) => format!("deleted after {took}"),
        (RunState::Running, Some(took)) => format!("running for {took}"),
        (RunState::Pending, Some(took)) => format!("pending for {took}"),
        (RunState::Deleting, _) => "being deleted".to_owned(),
        (RunState::Unknown, _) => "state unknown".to_owned(),
        (state, None) => state.as_str().to_owned(),
    }
}

/// Whether the incident is a run's good end or an untroubled state.
pub(crate) fn is_calm(incident: &Incident) -> bool {
    incident.cause.starts_with("none.")
}

/// What the level of a run that nothing ended means: no death has to be proven.
pub(crate) fn level_means_of(incident: &Incident) -> &'static str {
    if !is_calm(incident) {
        let asserted = |link: &ChainLink| link.edge.is_none_or(|edge| edge == Edge::Asserted);
        let died = |victim: &Victim| {
            matches!(
                victim.state,
                DeathState::Died | DeathState::Restarted | DeathState::CrashLoop
            )
        };
        return match incident.level {
            Level::Established if !incident.first_victim.iter().all(died) => {
                "every step is backed by a record that names both of its ends, the state itself was \
                 observed, and there is no evidence against it"
            }
            Level::Supported if incident.chain.iter().all(asserted) => {
                "every step is backed by a record that names both of its ends, but only one \
                 component claims it, or a source that could overturn it was not read in full"
            }
            level => level_means(level),
        };
    }
    match incident.level {
        Level::Established => "an object's own status shows it",
        Level::Unknown => "no record shows it",
        Level::Supported | Level::Hypothesis => {
            "the last records suggest it, but no status confirms it"
        }
    }
}

/// Who did it: `bob@lab.example (user), the experiment's own owner`.
pub(crate) fn actor(actor: &Actor) -> Spans {
    let spans = Spans::new().data(Tone::Strong, &actor.name);
    // Who is called what it is need not be told twice.
    let spans = if actor.kind.as_str() == actor.name {
        spans
    } else {
        spans
            .say(" (")
            .data(Tone::Plain, actor.kind.as_str())
            .say(")")
    };
    if actor.is_owner {
        return spans.say(", the experiment’s own owner");
    }
    spans
}

/// A pod with its rank and place: `trainer-1-qp9zc (rank 1) on node-4`.
pub(crate) fn victim(victim: &Victim) -> Spans {
    let mut spans = Spans::new().data(Tone::Name, &victim.pod);
    if let Some(rank) = victim.rank {
        spans = spans.say(format!(" (rank\u{a0}{rank})"));
    }
    if let Some(node) = &victim.node {
        spans = spans.say(" on ").data(Tone::Name, node);
    }
    spans
}

/// Which pods, in a few words: their ranks where all have one, else some names.
pub(crate) fn which(victims: &[Victim]) -> Spans {
    const NAMED: usize = 3;
    if let [only] = victims {
        let spans = Spans::new().data(Tone::Name, &only.pod);
        return match only.rank {
            Some(rank) => spans.say(format!(" (rank\u{a0}{rank})")),
            None => spans,
        };
    }
    let ranks: Option<Vec<i32>> = victims.iter().map(|victim| victim.rank).collect();
    if let Some(ranks) = ranks {
        return Spans::new().say(format!("ranks {}", ranges(ranks)));
    }
    let mut names: Vec<&str> = victims.iter().map(|victim| victim.pod.as_str()).collect();
    names.sort_unstable();
    let mut spans = Spans::new();
    for (at, name) in names.iter().take(NAMED).enumerate() {
        let before = match at {
            0 => "",
            _ if at + 1 == names.len() => " and ",
            _ => ", ",
        };
        spans = spans.say(before).data(Tone::Name, name);
    }
    match names.len().saturating_sub(NAMED) {
        0 => spans,
        more => spans.say(format!(" and {} more", grouped(more as u64))),
    }
}

/// What a member of a run is called, by the run's kind.
pub(crate) fn member(run: Option<&Run>) -> &'static str {
    match run.map(|run| run.kind.as_str()) {
        Some("Instance" | "Experiment") => "instance",
        Some("SlurmJob") => "job",
        Some("Log" | "Gang") => "member",
        _ => "pod",
    }
}

/// How many members of a run, which, and how they ended.
pub(crate) fn crowd(victims: &[Victim], member: &str) -> Spans {
    match victims {
        [only] if only.how.is_empty() => which(victims),
        [only] => which(victims).say(", ").data(Tone::Plain, &only.how),
        many => Spans::new()
            .say(format!("{}: ", count(many.len(), member)))
            .and(which(many))
            .and(how(many)),
    }
}

/// How they ended, the most frequent way first; at most two ways.
fn how(victims: &[Victim]) -> Spans {
    let mut ways: Vec<(&str, usize)> = Vec::new();
    for victim in victims.iter().filter(|victim| !victim.how.is_empty()) {
        match ways.iter_mut().find(|(how, _)| *how == victim.how) {
            Some((_, times)) => *times += 1,
            None => ways.push((&victim.how, 1)),
        }
    }
    ways.sort_by_key(|(how, times)| (std::cmp::Reverse(*times), *how));
    match ways.as_slice() {
        [] => Spans::new(),
        [(how, _)] => {
            let many = plural(how);
            let all = match victims.len() {
                // In parentheses, others would be hard to read.
                2 if how.contains('(') => {
                    return Spans::new().say("; both ").data(Tone::Plain, &many);
                }
                _ if how.contains('(') => {
                    return Spans::new().say("; all ").data(Tone::Plain, &many);
                }
                _ if many == *how || many.contains("never ") => " (",
                2 => " (both ",
                _ => " (all ",
            };
            Spans::new().say(all).data(Tone::Plain, &many).say(")")
        }
        [(first, n), (second, m), rest @ ..] => {
            let some = |way: &str, times: usize| {
                let way = if times == 1 {
                    way.to_owned()
                } else {
                    plural(way)
                };
                let spans = Spans::new().say(format!("{}\u{a0}", grouped(times as u64)));
                spans.data(Tone::Plain, &way)
            };
            let spans = Spans::new().say(" (").and(some(first, *n));
            let spans = spans.say(", ").and(some(second, *m));
            if rest.is_empty() {
                spans.say(")")
            } else {
                spans.say(", …)")
            }
        }
    }
}

/// The same of several: `was deleted` is `were deleted` then.
fn plural(how: &str) -> String {
    const VERBS: [(&str, &str); 7] = [
        ("was ", "were "),
        ("is running but not ready", "are running but not ready"),
        (
            "is running, but its log shows",
            "are running, but their logs show",
        ),
        ("keeps ", "keep "),
        ("is running but makes", "are running but make"),
        ("shut itself", "shut themselves"),
        ("runs", "run"),
    ];
    for (one, many) in VERBS {
        if let Some(rest) = how.strip_prefix(one) {
            let rest = rest
                .replace(" with its ", " with their ")
                .replace(" of its ", " of their ")
                .replace(" on its ", " on their ");
            return format!("{many}{rest}");
        }
    }
    how.to_owned()
}

/// Ranks, in a few words: `rank 3`, `ranks 0–6, 8`.
pub(crate) fn ranks(ranks: &[i32]) -> String {
    match ranks {
        [only] => format!("rank\u{a0}{only}"),
        many => format!("ranks {}", ranges(many.to_vec())),
    }
}

/// Whole numbers folded to ranges, `0, 2–7, 9`; what is beyond eight parts is left out.
fn ranges(mut numbers: Vec<i32>) -> String {
    const PARTS: usize = 8;
    numbers.sort_unstable();
    numbers.dedup();
    let mut parts: Vec<(i32, i32)> = Vec::new();
    for n in numbers {
        match parts.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(n) => *last = n,
            _ => parts.push((n, n)),
        }
    }
    let mut shown: Vec<String> = Vec::new();
    for (first, last) in parts.iter().take(PARTS) {
        shown.push(match last.saturating_sub(*first) {
            0 => first.to_string(),
            1 => format!("{first}, {last}"),
            _ => format!("{first}–{last}"),
        });
    }
    if parts.len() > PARTS {
        shown.push("…".to_owned());
    }
    shown.join(", ")
}

/// `0.04 GPU-hours`, `16,384 GPU-hours`.
#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates"
)]
pub(crate) fn gpu_hours(hours: f64) -> String {
    if hours < 10.0 {
        return format!("{hours:.2}\u{a0}GPU-hours");
    }
    format!("{}\u{a0}GPU-hours", grouped(hours.round() as u64))
}

/// `run 2 of 3`, counted from the oldest.
pub(crate) fn run_of_runs(run: &Run) -> String {
    format!("run\u{a0}{} of\u{a0}{}", run.number, run.of)
}

/// `3 pods, 2 died`.
pub(crate) fn pods_died(run: &Run, attempt: &Attempt) -> String {
    let pods = count(attempt.pods, member(Some(run)));
    match attempt.died {
        0 => pods,
        died if died == attempt.pods && died > 1 => format!("all {pods} died"),
        died => format!("{pods}, {} died", grouped(died as u64)),
    }
}

/// What evidence that is lacking would have told, as people call that evidence: the first
/// word of `kernel: why the machine stopped responding` is one of rules, that of `node_logs: …` a
/// source's.
pub(crate) fn missing_evidence(line: &str) -> String {
    let known = [
        ("activity", "the cloud activity log"),
        ("audit", "the audit log"),
        ("cloud", "the cloud activity log"),
        ("container_log", "container logs"),
        ("kernel", "machine logs"),
        ("kubernetes", "Kubernetes"),
        ("kubernetes_audit", "the audit log"),
        ("logs", "container logs"),
        ("node_logs", "machine logs"),
    ];
    let reported = line.split_once(": ").and_then(|(kind, what)| {
        let (_, words) = known.iter().find(|(known, _)| *known == kind)?;
        Some(format!("{words}: {what}"))
    });
    reported.unwrap_or_else(|| line.to_owned())
}

/// Whether nothing of what a row is of was left out: a file of it that is cut off, or could not be read, is told of by a row of
/// its own.
pub(crate) fn is_read_in_full<'a>(
    row: &CoverageRow,
    rows: impl IntoIterator<Item = &'a CoverageRow>,
) -> bool {
    let in_part = |other: &CoverageRow| {
        other.resource == "file"
            && other.status != Status::Complete
            && other.status != Status::NotConfigured
            && (other.source == row.source || other.source == "recording")
    };
    row.status == Status::Complete && !rows.into_iter().any(in_part)
}

/// A product as it writes itself; a name that a person gave stays.
fn brand(source: &str) -> &str {
    let mut stores = LOG_STORES.iter();
    if let Some((_, store)) = stores.find(|(kind, _)| kind.as_str() == source) {
        return store.product;
    }
    match source {
        "alertmanager" => "Alertmanager",
        "aws" => "AWS",
        "azure" => "Azure",
        "gcp" => "GCP",
        "grafana" => "Grafana",
        "prometheus" => "Prometheus",
        "slurm" => "Slurm",
        other => other,
    }
}

/// A source and what it has, as people call it.
pub(crate) fn source(source: &str, resource: &str) -> String {
    match (source, resource) {
        ("cloud", "activity") => "the cloud activity log".to_owned(),
        ("container_log", "logs") => "container logs".to_owned(),
        ("kubernetes", "events") => "Kubernetes Events".to_owned(),
        ("kubernetes", "workloads") => "jobs and other workloads".to_owned(),
        (of, "file") => match of {
            "kubernetes" => "a file of Kubernetes objects".to_owned(),
            "kubernetes_audit" => "a file of the audit log".to_owned(),
            "container_log" => "a file of container logs".to_owned(),
            "node_log" => "a file of machine logs".to_owned(),
            "tracker" => "a file of an experiment tracker".to_owned(),
            "recording" => "one input".to_owned(),
            other => format!("a file of {}", brand(other)),
        },
        ("kubernetes", resource) => resource.to_owned(),
        ("kubernetes_audit", "audit") => "the audit log".to_owned(),
        ("node_log" | "node_logs", "kernel") => "machine logs".to_owned(),
        ("tracker", "trackers") => "experiment trackers".to_owned(),
        ("node_log", "maintenance") => "the maintenance calendar".to_owned(),
        (source, resource) if resource.is_empty() || resource == source => brand(source).to_owned(),
        (source, resource) => format!("{} {}", brand(source), resource.replace('_', " ")),
    }
}

/// The kind of a run for people: that of no object of Kubernetes is a word of theirs.
pub(crate) fn kind(kind: &str) -> &str {
    match kind {
        "Gang" => "Group",
        "SlurmJob" => "Slurm job",
        kind => kind,
    }
}

/// A kind of fact as words: `k8s.node.taint` as `node taint`.
pub(crate) fn fact(name: &str) -> String {
    let name = name.strip_prefix("k8s.").unwrap_or(name);
    name.replace(['.', '_'], " ")
}
