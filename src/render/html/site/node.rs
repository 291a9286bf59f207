//! A machine: how often it failed, what was done to it, and what ran on it.

use maud::{Markup, html};

use super::super::super::clock::{Clock, duration, seconds_between};
use super::super::super::machine_history::{gpu_name, sources_of};
use super::super::super::style::Tz;
use super::super::super::wording;
use super::super::cells;
use super::super::coverage;
use super::super::links::{Links, full_name};
use super::super::page::Page;
use super::super::room::Room;
use super::frame::{Frame, level};
use crate::answer::{HostedRun, MachineEvent, MachineTenure, NodeHistory, PastFault};
use whathappened_core::signals::MachineEventKind;

/// The page of a machine.
#[must_use]
pub fn node(frame: &Frame, history: &NodeHistory) -> String {
    let room = Room::new(None);
    let clock = Clock(Tz::Utc);
    let sources = sources_of(history);
    let shown = Page {
        answer: &sources,
        main: None,
        clock,
        room,
        links: Links::Site,
    };
    let faults: usize = history.machines.iter().map(|one| one.faults.len()).sum();
    let ended = history
        .runs
        .iter()
        .filter(|run| run.incident.as_ref().is_some_and(|one| one.by_this_machine));
    let ended = ended.count();
    let page = html! {
        section.lead aria-label="Machine" {
            h1 { b { (cells::text(&history.name, room)) } " "
                @if faults == 0 { span.good { "no known faults" } } @else { span.fatal { (wording::count(faults, "fault")) } } }
            p.summary {
                @match history.runs.len() {
                    0 => { "No run that you may see was on this machine" }
                    1 => { "1 run was on this machine" }
                    n => { (wording::grouped(n as u64)) " runs were on this machine" }
                }
                @match (history.runs.len(), ended) {
                    (_, 0) => {}
                    (1, _) => { "; a fault of the machine or work on it ended the run" }
                    (_, ended) => { "; a fault of the machine or work on it ended " (wording::grouped(ended as u64)) " of them" }
                }
                "."
            }
            p.identity {
                (cells::text(&history.matched_by, room))
                @if let Some(from) = &history.from { " · from " (cells::time(from, clock, room)) }
                @if let Some(to) = history.to.as_ref().or(history.now.as_ref()) { " to " (cells::time(to, clock, room)) }
            }
            @for note in &history.notes { p.note { (cells::text(note, room)) } }
        }
        main {
            (machines(history, room))
            (happened(&history.happened, room))
            (runs(&history.runs, room))
            @let missing = coverage::missing(shown);
            @if !missing.0.is_empty() { section { h2 #missing { "Missing data" } (missing) } }
            section { h2 #coverage { "Sources read" } (coverage::read(shown)) }
        }
        footer { p { "rules " (cells::text(&history.ruleset, room)) " · times in UTC" } }
    };
    frame.around(&cells::cut(&history.name, 120), &[], &page)
}

fn machines(history: &NodeHistory, room: Room) -> Markup {
    let clock = Clock(Tz::Utc);
    let tenures: Vec<&MachineTenure> = history
        .machines
        .iter()
        .filter(|one| !one.faults.is_empty() || one.instance.is_some())
        .collect();
    if tenures.is_empty() {
        return html! {};
    }
    html! {
        section {
            h2 #faults { "Faults" }
            @if history.machines.len() > 1 { p.dim { "Several machines had this name, one after another." } }
            @for one in tenures {
                div.record {
                    p {
                        @match &one.instance {
                            Some(id) => { "Instance " b { (cells::text(id, room)) } }
                            None => { "Machine" }
                        }
                        @if let Some(from) = &one.from { span.dim { " from " (cells::time(from, clock, room)) } }
                        @if let Some(to) = &one.to { span.dim { " to " (cells::time(to, clock, room)) } }
                    }
                    @if one.faults.is_empty() { p.good { "No known faults." } }
                    ul { @for fault in one.faults.iter().rev().take(room.records) { li { (self::fault(fault, room)) } } }
                    @for gpu in one.by_gpu.iter().filter(|of| of.count > 1) {
                        p.warn { (cells::text(&gpu_name(&gpu.gpu), room)) " failed " (gpu.count) " times" }
                    }
                }
            }
        }
    }
}

fn fault(fault: &PastFault, room: Room) -> Markup {
    let clock = Clock(Tz::Utc);
    let lasted = seconds_between(Some(&fault.time), Some(&fault.end)).filter(|s| *s >= 60.0);
    html! {
        (cells::time(&fault.time, clock, room)) " " code.bad { (cells::text(&fault.cause, room)) }
        @if let Some(what) = &fault.what { " " (cells::text(what, room)) }
        @if let Some(gpu) = &fault.gpu { " on " (cells::text(&gpu_name(gpu), room)) }
        @if let Some(lasted) = lasted { span.dim { ", reported for " (duration(lasted)) } }
        @if fault.records > 0 { span.dim { " · " (wording::count(fault.records, "record")) } }
    }
}

fn happened(events: &[MachineEvent], room: Room) -> Markup {
    let clock = Clock(Tz::Utc);
    html! {
        @if !events.is_empty() {
            section {
                h2 #happened { "History" }
                div.scroll tabindex="0" role="group" aria-label="History" {
                    table.plain.stacks {
                        thead { tr { th scope="col" { "Time" } th scope="col" { "Kind" } th scope="col" { "What happened" } th scope="col" { "Seen by" } } }
                        tbody { @for one in events.iter().rev().take(room.entries) {
                            tr class=(kind(one.kind)) {
                                td { (cells::time(&one.time, clock, room))
                                    @if let Some(end) = &one.end { span.dim { " to " (cells::time(end, clock, room)) } } }
                                td { (one.kind.as_str()) }
                                td { (cells::text(&one.text, room))
                                    @if let Some(actor) = one.actor.as_ref().filter(|actor| !one.text.contains(actor.as_str())) {
                                        span.dim { " · by " (cells::text(actor, room)) }
                                    }
                                    @if one.count > 1 { span.dim { " ×" (wording::grouped(one.count)) } } }
                                td.dim { @for (n, by) in one.seen_by.iter().take(8).enumerate() { @if n > 0 { ", " } (cells::text(by, room)) } }
                            }
                        } }
                    }
                }
                (cells::left_out(events.len(), room.entries, "line"))
            }
        }
    }
}

fn kind(kind: MachineEventKind) -> &'static str {
    match kind {
        MachineEventKind::Fault => "error",
        MachineEventKind::State => "info",
        _ => "warning",
    }
}

fn runs(runs: &[HostedRun], room: Room) -> Markup {
    let clock = Clock(Tz::Utc);
    html! {
        @if !runs.is_empty() {
            section {
                h2 #runs { "Runs on this machine" }
                div.scroll tabindex="0" role="group" aria-label="Runs on this machine" {
                    table.plain.stacks {
                        thead { tr { th scope="col" { "From" } th scope="col" { "Run" } th scope="col" { "State" }
                            th scope="col" { "What ended it" } th.number scope="col" { "Pods here" } } }
                        tbody { @for run in runs.iter().rev().take(room.entries) {
                            @let (sign, _) = wording::state_sign(run.state);
                            tr {
                                td data-label="From" { (cells::maybe_time(run.from.as_deref(), clock, room)) }
                                td data-label="Run" { (Links::Site.experiment(&full_name(&run.kind, run.namespace.as_deref(), &run.name), &cells::text(&run.experiment, room)))
                                    @if run.experiment != run.name { span.dim { " " (cells::text(&run.kind, room)) " " (cells::text(&run.name, room)) } } }
                                td data-label="State" { span aria-hidden="true" { (sign) } " " (run.state.as_str()) }
                                td data-label="What ended it" { @if let Some(incident) = &run.incident {
                                    (level(incident.level)) " " code { (cells::text(&incident.cause, room)) }
                                    @if incident.of_this_machine { span.bad { " · this machine" } }
                                } }
                                td.number data-label="Pods here" { (run.pods) @if !run.died.is_empty() { span.bad { " (" (run.died.len()) " died)" } } }
                            }
                        } }
                    }
                }
                (cells::left_out(runs.len(), room.entries, "run"))
            }
        }
    }
}
