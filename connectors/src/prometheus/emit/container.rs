//! kube-state-metrics and cAdvisor: how containers ended, where pods are gone.

use super::super::names::label;
use super::super::wire::{Series, grouped};
use super::change::{between, merged, rises};
use super::{Emitter, FactSubject, of, raw};
use crate::event::Event;
use crate::time::{Nanos, SECOND, Stamp};

const ENDED: &str = "kube_pod_container_status_terminated_reason";
const LAST_AT: &str = "kube_pod_container_status_last_terminated_timestamp";
const LAST_CODE: &str = "kube_pod_container_status_last_terminated_exitcode";
const LAST_REASON: &str = "kube_pod_container_status_last_terminated_reason";
const REASON: &str = "kube_pod_status_reason";
const OOM: &str = "container_oom_events_total";

/// What pods that died are asked for.
pub(super) const METRICS: [&str; 6] = [ENDED, LAST_AT, LAST_CODE, LAST_REASON, REASON, OOM];

pub(super) fn emit(emitter: &Emitter<'_>, series: &[Series], out: &mut Vec<Event>) {
    let key = |one: &'_ Series| -> Option<[String; 3]> {
        let whose = emitter.of_pod(&one.labels)?;
        let text = |part: Option<&str>| part.unwrap_or_default().to_owned();
        Some([
            text(whose.namespace),
            text(whose.pod),
            text(whose.container),
        ])
    };
    for (whose, own) in grouped(of(series, &[ENDED, LAST_AT, LAST_CODE, LAST_REASON]), key) {
        let Some([namespace, pod, container]) = &whose else {
            continue;
        };
        ends(emitter, [namespace, pod, container], &own, out);
    }
    for (whose, own) in grouped(of(series, &[OOM]), key) {
        let Some([namespace, pod, container]) = &whose else {
            continue;
        };
        // A container that was killed and its successor are series of their own.
        for one in own {
            for rise in rises(&one.samples) {
                let of = emitter.container([namespace, pod, container]);
                let mut event = emitter.fact("metric.container.oom", &[], rise.time, of);
                event.message = Some(format!(
                    "the kernel killed {} processes of the container because it ran out of memory",
                    rise.by
                ));
                event.raw = raw(&one.labels, &rise.samples);
                out.push(event);
            }
        }
    }
    for one in of(series, &[REASON]) {
        let Some(whose) = emitter.of_pod(&one.labels) else {
            continue;
        };
        let reason = label(&one.labels, "reason").unwrap_or_default();
        let Some(at) = one.samples.iter().position(|sample| sample.value == 1.0) else {
            continue;
        };
        // Where only reasons that are set are told, nothing says when it was not.
        let time = match at.checked_sub(1) {
            Some(before) => between(one.samples[before].at, one.samples[at].at),
            None => Stamp {
                lo: emitter.from.unwrap_or(Nanos::MIN).min(one.samples[at].at),
                hi: one.samples[at].at + SECOND,
            },
        };
        let of = FactSubject {
            container: None,
            ..whose
        };
        let mut event = emitter.fact("metric.pod.reason", &[reason], time, of);
        event.reason = Some(reason.to_owned());
        event.message = Some(format!("the pod's status is {reason}"));
        event.raw = raw(&one.labels, &one.samples[at..=at]);
        out.push(event);
    }
}

/// The last end of a container with its own time, else the scrape that first
/// showed it ended.
fn ends(emitter: &Emitter<'_>, key: [&str; 3], own: &[&Series], out: &mut Vec<Event>) {
    let named = |name: &str| -> Vec<&Series> {
        let is = |one: &&&Series| label(&one.labels, "__name__") == Some(name);
        own.iter().filter(is).copied().collect()
    };
    let set = |name: &str| {
        let mut found: Option<(Nanos, &Series)> = None;
        for one in named(name) {
            let last = one.samples.iter().rev().find(|sample| sample.value == 1.0);
            if let Some(last) = last {
                found = found.max_by_time((last.at, one));
            }
        }
        found.map(|(_, one)| one)
    };
    let of = emitter.container(key);
    let mut push = |time: Stamp, reason: Option<&str>, code: Option<i32>, of_series: &Series| {
        let mut event = emitter.fact("k8s.container.terminated", &[], time, of);
        event.object_kind = Some("Pod".to_owned());
        event.reason = reason.map(str::to_owned);
        event.exit_code = code;
        event.raw = raw(
            &of_series.labels,
            &of_series.samples[..of_series.samples.len().min(1)],
        );
        out.push(event);
    };
    let times = merged(&named(LAST_AT));
    if let Some((at, one)) = times.last().zip(named(LAST_AT).last()) {
        let code = merged(&named(LAST_CODE))
            .last()
            .and_then(|one| small(one.value));
        let reason = set(LAST_REASON).and_then(|one| label(&one.labels, "reason"));
        if let Some(seconds) = seconds(at.value) {
            push(Stamp::second(seconds), reason, code, one);
        }
    }
    if let Some(one) = set(ENDED) {
        let at = one.samples.iter().position(|sample| sample.value == 1.0);
        let Some(at) = at else { return };
        let reason = label(&one.labels, "reason");
        let after = one.samples[at].at;
        let before = match at.checked_sub(1) {
            Some(before) => one.samples[before].at,
            None => emitter.from.unwrap_or(after - 60 * SECOND).min(after),
        };
        let code = (reason == Some("Completed")).then_some(0);
        push(between(before, after), reason, code, one);
    }
}

/// The later of two.
trait Later<'s> {
    fn max_by_time(self, other: (Nanos, &'s Series)) -> Self;
}

impl<'s> Later<'s> for Option<(Nanos, &'s Series)> {
    fn max_by_time(self, other: (Nanos, &'s Series)) -> Self {
        match self {
            Some(known) if known.0 >= other.0 => Some(known),
            _ => Some(other),
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the bounds are looked at")]
fn small(value: f64) -> Option<i32> {
    (0.0..=255.0).contains(&value).then_some(value as i32)
}

#[expect(clippy::cast_possible_truncation, reason = "the bounds are looked at")]
fn seconds(value: f64) -> Option<Nanos> {
    (1.0..9e9)
        .contains(&value)
        .then_some(value as Nanos * SECOND)
}
