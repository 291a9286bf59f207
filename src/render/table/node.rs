//! A machine's history for a reader at a terminal.

use std::io;
use whathappened_core::signals::{MachineEventKind, named};

use crate::answer::{HostedRun, MachineEvent, MachineTenure, NodeHistory, PastFault};

use super::super::clock::{Clock, duration, seconds_between};
use super::super::error::RenderError;
use super::super::machine_history::{gpu_name, sources_of};
use super::super::page::{Page, Spans, Tone};
use super::super::style::Style;
use super::super::wording;
use super::coverage;

/// Lines of each part that are shown, the latest.
const SHOWN: usize = 60;
/// Victims of a run that are named.
const NAMED: usize = 3;

/// Writes the history.
pub(crate) fn node(
    history: &NodeHistory,
    style: &Style,
    out: &mut dyn io::Write,
) -> Result<(), RenderError> {
    let mut page = Page::new(style);
    head(&mut page, history);
    for note in &history.notes {
        page.hang(
            Spans::new().own(Tone::Dim, "  Note  "),
            Spans::new().data(Tone::Warn, note),
        );
    }
    what_happened(&mut page, history);
    guests(&mut page, history);
    coverage::show(&mut page, &sources_of(history), None);
    foot(&mut page, history);
    page.write(out)
}

fn head(page: &mut Page<'_>, history: &NodeHistory) {
    let faults: usize = history.machines.iter().map(|one| one.faults.len()).sum();
    let (own, done) = causes(history);
    let down = not_ready(history);
    let (sign, tone) = match (faults + own.len(), done.len()) {
        _ if down => ("✗", Tone::Fatal),
        (0, 0) => ("✓", Tone::Good),
        (0, _) => ("!", Tone::Warn),
        _ => ("✗", Tone::Fatal),
    };
    let clock = Clock(page.style.tz);
    let mut line = Spans::new()
        .data(Tone::Strong, &history.name)
        .own(Tone::Dim, " · ");
    let listed = |runs: &[&str]| {
        let mut causes = runs.to_vec();
        causes.sort_unstable();
        causes.dedup();
        let runs = wording::count(runs.len(), "run");
        format!("ended {runs}: {}", causes.join(", "))
    };
    line = match (faults, own.as_slice(), done.as_slice()) {
        (0, [], []) if down => line.own(tone, "not ready"),
        (0, [], []) => line.say("no known faults"),
        (0, [], done) => line
            .say("no known faults of its own; ")
            .own(tone, format!("operations on it {}", listed(done))),
        (0, own, _) => line.own(tone, format!("it {}", listed(own))),
        (n, ..) => line.own(tone, wording::count(n, "fault")),
    };
    if let Some(from) = &history.from {
        let to = history.to.as_ref().or(history.now.as_ref());
        let to = to.and_then(|to| clock.day(to)).unwrap_or_default();
        let from = clock.day(from).unwrap_or_default();
        line = line.own(Tone::Dim, format!(" · {from} to {to}"));
    }
    page.hang(Spans::new().own(tone, sign).say(" "), line);
    page.gap();
    for one in &history.machines {
        machine(page, one, history.machines.len() > 1);
    }
    if history.machines.len() > 1 {
        let note = "Several machines had this name, one after another.";
        page.prose(Spans::new().say("  "), Spans::new().own(Tone::Dim, note));
    }
}

/// Whether the last word on the node is that it is not ready.
fn not_ready(history: &NodeHistory) -> bool {
    let says = |event: &MachineEvent, known: &[&str]| {
        let mut signals = event.signals.iter();
        signals.any(|signal| known.contains(&signal.as_str()))
    };
    let down = [
        named::K8S_NODE_NOT_READY,
        named::K8S_NODE_SILENT,
        named::SLURM_NODE_DOWN,
        named::SLURM_NODE_NOT_RESUMED,
    ];
    let up = [named::K8S_NODE_READY, named::SLURM_NODE_BACK];
    let mut events = history.happened.iter().rev();
    events
        .find(|event| says(event, &down) || says(event, &up))
        .is_some_and(|event| says(event, &down))
}

/// Causes of the ends of runs on it: its own faults, and what was done to it.
fn causes(history: &NodeHistory) -> (Vec<&str>, Vec<&str>) {
    let incidents = history.runs.iter().filter_map(|run| run.incident.as_ref());
    let (own, rest): (Vec<_>, Vec<_>) = incidents.partition(|one| one.of_this_machine);
    let done = rest.iter().filter(|one| one.by_this_machine);
    (
        own.iter().map(|one| one.cause.as_str()).collect(),
        done.map(|one| one.cause.as_str()).collect(),
    )
}

/// One that bore the name: which, when, and how often it failed.
fn machine(page: &mut Page<'_>, one: &MachineTenure, several: bool) {
    let clock = Clock(page.style.tz);
    let day = |time: &Option<String>| time.as_deref().and_then(|time| clock.day(time));
    let mut line = Spans::new();
    match &one.instance {
        Some(id) => line = line.say("instance ").data(Tone::Name, id),
        None if several => line = line.say("an unidentified instance"),
        None => {}
    }
    match (day(&one.from), day(&one.to)) {
        (Some(from), Some(to)) => line = line.own(Tone::Dim, format!(" from {from} to {to}")),
        (Some(from), None) => line = line.own(Tone::Dim, format!(" since {from}")),
        (None, Some(to)) => line = line.own(Tone::Dim, format!(" until {to}")),
        (None, None) => {}
    }
    if !one.by_cause.is_empty() {
        let mut causes: Vec<String> = Vec::new();
        for (cause, count) in &one.by_cause {
            causes.push(times(cause, *count));
        }
        let separator = if line.is_empty() { "" } else { ": " };
        line = line.say(separator).data(Tone::Bad, &causes.join(", "));
    }
    let again: Vec<String> = one
        .by_gpu
        .iter()
        .filter(|of| of.count > 1)
        .map(|of| times(&gpu_name(&of.gpu), of.count))
        .collect();
    if !again.is_empty() {
        line = line.say("; ").data(Tone::Warn, &again.join(", "));
    }
    if !line.is_empty() {
        page.prose(Spans::new().say("  "), line);
    }
    for fault in &one.faults {
        page.prose(
            Spans::new().own(Tone::Dim, "    • "),
            fault_line(fault, clock),
        );
    }
}

fn times(what: &str, count: usize) -> String {
    match count {
        1 => what.to_owned(),
        n => format!("{what} ×{n}"),
    }
}

fn fault_line(fault: &PastFault, clock: Clock) -> Spans {
    let at = clock.full(&fault.time).replace(' ', "\u{a0}");
    let mut line = Spans::new()
        .own(Tone::Dim, format!("{at}  "))
        .data(Tone::Bad, &fault.cause);
    if let Some(what) = &fault.what {
        line = line.say(" ").data(Tone::Plain, what);
    }
    if let Some(gpu) = &fault.gpu {
        line = line.say(" on ").data(Tone::Plain, &gpu_name(gpu));
    }
    let lasted = seconds_between(Some(&fault.time), Some(&fault.end)).filter(|s| *s >= 60.0);
    if let Some(lasted) = lasted {
        line = line.own(Tone::Dim, format!(", reported for {}", duration(lasted)));
    }
    line
}

fn what_happened(page: &mut Page<'_>, history: &NodeHistory) {
    if history.happened.is_empty() {
        return;
    }
    page.section("History", Spans::new());
    let left_out = history.happened.len().saturating_sub(SHOWN);
    more(page, left_out, "line");
    for one in history.happened.iter().skip(left_out) {
        happened(page, one);
    }
}

fn more(page: &mut Page<'_>, left_out: usize, noun: &str) {
    if left_out > 0 {
        let text = format!(
            "⋯ {} omitted: --format\u{a0}json",
            wording::count(left_out, noun)
        );
        page.hang(Spans::new().say("  "), Spans::new().own(Tone::Dim, text));
    }
}

fn happened(page: &mut Page<'_>, one: &MachineEvent) {
    let clock = Clock(page.style.tz);
    let at = clock.full(&one.time).replace(' ', "\u{a0}");
    let tone = match one.kind {
        MachineEventKind::Fault => Tone::Bad,
        MachineEventKind::State => Tone::Dim,
        _ => Tone::Warn,
    };
    let vague = seconds_between(Some(&one.time), Some(&one.time_hi)).is_some_and(|s| s > 1.0);
    let about = if vague { "~" } else { " " };
    let prefix = Spans::new()
        .own(Tone::Dim, format!(" {about}{at}  "))
        .own(tone, format!("{:11}", one.kind))
        .say("  ");
    let mut body = Spans::new().data(Tone::Plain, &one.text);
    if let Some(actor) = one
        .actor
        .as_ref()
        .filter(|actor| !one.text.contains(*actor))
    {
        body = body.own(Tone::Dim, " · by ").data(Tone::Dim, actor);
    }
    if one.count > 1 {
        body = body.own(Tone::Dim, format!(" ×{}", one.count));
    }
    if let Some(end) = &one.end {
        let end = clock.full(end).replace(' ', "\u{a0}");
        body = body.own(Tone::Dim, format!(" until\u{a0}{end}"));
    }
    page.prose(prefix, body);
}

fn guests(page: &mut Page<'_>, history: &NodeHistory) {
    if history.runs.is_empty() {
        return;
    }
    page.section("Runs on this machine", Spans::new());
    let left_out = history.runs.len().saturating_sub(SHOWN);
    more(page, left_out, "run");
    for one in history.runs.iter().skip(left_out) {
        guest(page, one);
    }
}

fn guest(page: &mut Page<'_>, one: &HostedRun) {
    let clock = Clock(page.style.tz);
    let (sign, tone) = wording::state_sign(one.state);
    let at = one.from.as_deref().map_or_else(
        || "time unknown".to_owned(),
        |from| clock.full(from).replace(' ', "\u{a0}"),
    );
    let mut line = Spans::new().data(Tone::Strong, &one.experiment);
    if one.experiment != one.name {
        line = line
            .own(Tone::Dim, " · ")
            .data(Tone::Dim, &one.kind)
            .say("\u{a0}")
            .data(Tone::Plain, &one.name);
    }
    line = line.own(Tone::Dim, " · ").own(tone, one.state.as_str());
    let here = seconds_between(one.from.as_deref(), one.to.as_deref()).filter(|s| *s >= 0.0);
    if let Some(here) = here {
        line = line.own(Tone::Dim, format!(", here for {}", duration(here)));
    }
    // An instance or a batch job has none.
    if !matches!(one.kind.as_str(), "Instance" | "Log" | "SlurmJob") {
        line = line.own(Tone::Dim, format!(" · {}", wording::count(one.pods, "pod")));
    }
    page.prose(
        Spans::new()
            .own(Tone::Dim, format!("  {at}  "))
            .own(tone, sign)
            .say(" "),
        line,
    );
    if let Some(incident) = &one.incident {
        let mut why = Spans::new()
            .data(Tone::Bad, &incident.cause)
            .own(Tone::Dim, " · ")
            .own(wording::level_tone(incident.level), incident.level.as_str());
        if incident.of_this_machine {
            why = why.own(Tone::Dim, " · ").own(Tone::Bad, "this machine");
        }
        page.prose(Spans::new().say("      "), why);
    }
    for victim in one.died.iter().take(NAMED) {
        let mut died = Spans::new().data(Tone::Name, &victim.pod);
        if let Some(rank) = victim.rank {
            died = died.say(format!(" (rank\u{a0}{rank})"));
        }
        died = died.say(" ").data(Tone::Plain, &victim.how);
        page.prose(Spans::new().say("      "), died);
    }
    let rest = one.died.len().saturating_sub(NAMED);
    if rest > 0 {
        let rest = format!("and {} more", wording::count(rest, "pod"));
        page.prose(
            Spans::new().say("      "),
            Spans::new().own(Tone::Dim, rest),
        );
    }
}

fn foot(page: &mut Page<'_>, history: &NodeHistory) {
    let clock = Clock(page.style.tz);
    let mut spans = Spans::new();
    if let Some(now) = &history.now {
        let now = clock.full(now).replace(' ', "\u{a0}");
        spans = spans.own(Tone::Dim, format!("As of {now} · "));
    }
    page.gap();
    page.hang(
        Spans::new(),
        spans
            .own(Tone::Dim, "rules\u{a0}")
            .data(Tone::Dim, &history.ruleset),
    );
}
