//! What a picture shows beside the answer: how the pods of a run lived, and how its work went.

use std::collections::BTreeSet;

use serde_json::Value;
use whathappened_core::graph::{EntityGraph, Task};
use whathappened_core::lifecycle::{End, State};
use whathappened_core::resolve::Run;
use whathappened_model::event::{Event, SourceKind};
use whathappened_model::time::{Nanos, SECOND, Stamp};

use super::record::reported;
use crate::answer::{Curve, Drawn, Life, LifeState};
use crate::case::Case;
use crate::error::Error;

/// Pods whose lives are told; a picture has room for fewer.
const LIVES: usize = 10_000;

/// Attempts of which curves are drawn, the latest.
const ATTEMPTS: usize = 12;

/// Lines of one log that are read for curves.
const LINES: usize = 240;

/// A pace is measured over this long at least: most logs give times to the second.
const MEASURED: Nanos = 5 * SECOND;

/// Of one run.
pub(super) fn drawn(case: &Case, run: &Run) -> Result<Drawn, Error> {
    let pods = run.pods.iter().take(LIVES);
    let lives = pods.filter_map(|number| {
        let at = *number as usize;
        Some(life(
            &case.graph,
            case.graph.pods.get(at)?,
            case.ends.get(at)?,
        ))
    });
    Ok(Drawn {
        lives: lives.collect(),
        curves: [curves(case, run)?, measured(case, run)?].concat(),
    })
}

fn life(graph: &EntityGraph, pod: &Task, end: &End) -> Life {
    let text = |symbol| Some(graph.name(symbol).to_owned()).filter(|text| !text.is_empty());
    Life {
        pod: graph.name(pod.name).to_owned(),
        node: text(pod.node),
        rank: pod.rank,
        states: states(pod, end),
    }
}

fn states(pod: &Task, end: &End) -> Vec<(LifeState, Nanos, Option<Nanos>)> {
    let at = |stamp: Option<Stamp>| stamp.and_then(reported).map(|stamp| stamp.lo);
    let over = at(end.final_time());
    let Some(begin) = at(pod.created).or_else(|| pod.begin()) else {
        return Vec::new();
    };
    // What is told of a later moment than its end was told late.
    let within = |time: &Nanos| *time >= begin && over.is_none_or(|over| *time <= over);
    let bound = at(pod.bound).filter(within);
    let never = matches!(end.state, State::NeverScheduled | State::StuckStarting);
    let started = at(pod.started).filter(within).filter(|_| !never);
    let asked = at(pod.deletion_requested).filter(within);
    let mut marks: Vec<(LifeState, Nanos)> = Vec::new();
    if at(pod.created).is_some() {
        marks.push((LifeState::Waiting, begin));
    }
    if let Some(bound) = bound {
        marks.push((LifeState::Starting, bound));
    }
    match started {
        Some(started) => {
            marks.push((LifeState::Running, started));
            for restart in &end.restarts {
                let Some(out) = at(Some(restart.exit.time)).filter(within) else {
                    continue;
                };
                marks.push((LifeState::Restarting, out));
                let again = pod.starts.iter().filter_map(|stamp| at(Some(*stamp)));
                if let Some(again) = again.filter(within).find(|again| *again > out) {
                    marks.push((LifeState::Running, again));
                }
            }
        }
        // Nothing tells when it started; that it is there is known.
        None if !never => marks.push((LifeState::There, bound.unwrap_or(begin))),
        None => {}
    }
    if let Some(asked) = asked {
        marks.push((LifeState::Terminating, asked));
    }
    marks.sort_by_key(|(_, time)| *time);
    let nexts = marks.iter().skip(1).map(|(_, time)| Some(*time));
    let nexts: Vec<Option<Nanos>> = nexts.chain([over]).collect();
    let whole = marks.into_iter().zip(nexts);
    whole
        .map(|((state, from), to)| (state, from, to))
        .filter(|(_, from, to)| to.is_none_or(|to| to > *from))
        .collect()
}

/// Of each of the latest attempts the log that tells how the work went: that of the lowest rank that tells most.
pub(super) fn speakers<'a>(case: &'a Case, run: &Run) -> Vec<&'a Task> {
    let first = run.attempts.len().saturating_sub(ATTEMPTS);
    let attempts = run.attempts.iter().skip(first);
    let speaker = |pods: &[u32]| {
        let pods = pods
            .iter()
            .filter_map(|pod| case.graph.pods.get(*pod as usize));
        let told = pods.filter(|pod| pod.progress.is_some());
        told.min_by_key(|pod| {
            let lines = pod.progress.as_deref().map_or(0, |one| one.reported);
            // Ranks of one gang write about as many lines: a few more make nobody the speaker.
            (
                std::cmp::Reverse(lines.checked_ilog2()),
                pod.rank.unwrap_or(i32::MAX),
                case.graph.name(pod.name),
            )
        })
    };
    attempts
        .filter_map(|attempt| speaker(&attempt.pods))
        .collect()
}

/// How the work went.
fn curves(case: &Case, run: &Run) -> Result<Vec<Curve>, Error> {
    let mut lines: Vec<Line> = Vec::new();
    let mut of = String::new();
    for speaker in speakers(case, run) {
        of = match speaker.rank {
            Some(rank) => format!("rank {rank}"),
            None => case.graph.name(speaker.name).to_owned(),
        };
        if !lines.is_empty() {
            lines.push(Line::default());
        }
        lines.extend(read(case, speaker)?);
    }
    Ok(drawn_curves(&lines, &of))
}

/// What one line tells of the work; nothing where an attempt ended.
#[derive(Clone, Debug, Default)]
pub(super) struct Line {
    pub(super) time: Nanos,
    pub(super) step: Option<i64>,
    pub(super) loss: Option<f64>,
    pub(super) throughput: Option<(f64, &'static str)>,
}

/// The steps that a log tells of, in order of time; of many every second, third, … one.
pub(super) fn read(case: &Case, pod: &Task) -> Result<Vec<Line>, Error> {
    let steps = pod.pace.steps();
    let every = steps.len().div_ceil(LINES).max(1);
    let last = steps.len().saturating_sub(1);
    let kept = steps.into_iter().enumerate();
    let kept = kept.filter(|(at, _)| at % every == 0 || *at == last);
    let lines = kept.map(|(_, (time, step, row))| {
        let event = case.graph.evidence.event(row)?;
        Ok(Line {
            time,
            step: Some(step),
            loss: event.attribute("loss").and_then(|text| text.parse().ok()),
            throughput: throughput(&event),
        })
    });
    lines.collect()
}

/// What a line tells of its throughput, and in which unit.
fn throughput(event: &Event) -> Option<(f64, &'static str)> {
    let text = event.attribute("throughput")?;
    let digits: String = text
        .chars()
        .take_while(|sign| sign.is_ascii_digit() || matches!(sign, '.' | ','))
        .filter(|sign| *sign != ',')
        .collect();
    let value: f64 = digits.parse().ok()?;
    if text.contains("s/it") {
        return (value > 0.0).then_some((1.0 / value, "iterations/s"));
    }
    let said = event.message.as_deref().unwrap_or_default().to_lowercase();
    let units = [
        (&["tok"][..], "tokens/s"),
        (&["tflop"], "TFLOP/s"),
        (&["samples", "examples"], "samples/s"),
        (&["images"], "images/s"),
        (&["it/s"], "iterations/s"),
    ];
    let unit = units
        .into_iter()
        .find(|(words, _)| words.iter().any(|word| said.contains(word)));
    Some((value, unit.map_or("as logged", |(_, unit)| unit)))
}

fn drawn_curves(lines: &[Line], of: &str) -> Vec<Curve> {
    let curve = |title, unit: &str, from_zero, points: Vec<(Nanos, Option<f64>)>| {
        let values = points.iter().filter(|(_, value)| value.is_some());
        (values.count() > 1).then(|| Curve {
            title,
            unit: unit.to_owned(),
            of: of.to_owned(),
            points,
            limit: None,
            from_zero,
        })
    };
    let values = |value: &dyn Fn(&Line) -> Option<f64>| -> Vec<(Nanos, Option<f64>)> {
        let mut points: Vec<(Nanos, Option<f64>)> = Vec::new();
        for line in lines {
            let found = value(line).filter(|value| value.is_finite());
            match (line.step, found) {
                (Some(_), Some(_)) => points.push((line.time, found)),
                (None, _) => points.extend(points.last().copied().map(|(time, _)| (time, None))),
                _ => {}
            }
        }
        points
    };
    #[expect(clippy::cast_precision_loss, reason = "steps are drawn, not counted")]
    let steps = values(&|line| line.step.map(|step| step as f64));
    let unit = lines
        .iter()
        .find_map(|line| line.throughput)
        .map_or("", |(_, unit)| unit);
    let curves = [
        curve("Loss", "", false, values(&|line| line.loss)),
        curve("Step rate", "steps/s", true, paces(lines)),
        curve(
            "Throughput",
            unit,
            true,
            values(&|line| line.throughput.map(|(value, _)| value)),
        ),
        curve("Step", "", false, steps),
    ];
    curves.into_iter().flatten().collect()
}

/// Curves of metrics that one answer shows.
const MEASUREMENTS: usize = 8;

/// What Prometheus measured of the run's pods and machines, where a record holds the samples.
fn measured(case: &Case, run: &Run) -> Result<Vec<Curve>, Error> {
    let pods: BTreeSet<u32> = run.pods.iter().copied().collect();
    let of_run = run
        .pods
        .iter()
        .filter_map(|pod| case.graph.pods.get(*pod as usize));
    let nodes: BTreeSet<_> = of_run.flat_map(Task::machines).collect();
    let mut found: Vec<(Nanos, Curve)> = Vec::new();
    let rows = (0..).zip(case.graph.evidence.rows());
    for (number, row) in rows.filter(|(_, row)| row.source_kind() == SourceKind::Prometheus) {
        let pod = case.graph.pod_of_row.get(number as usize);
        let is_own = pod.is_some_and(|pod| pods.contains(pod)) || nodes.contains(&row.node);
        if !is_own || found.len() >= 16 * MEASUREMENTS {
            continue;
        }
        found.extend(measurement(&case.graph.evidence.event(number)?));
    }
    found.sort_by(|(a, one), (b, other)| {
        let names = |curve: &Curve| (curve.title.to_owned(), curve.of.clone());
        (a, names(one)).cmp(&(b, names(other)))
    });
    let curves = found.into_iter().map(|(_, curve)| curve);
    Ok(curves.take(MEASUREMENTS).collect())
}

/// The samples that a record holds, where they are enough to be drawn.
fn measurement(event: &Event) -> Option<(Nanos, Curve)> {
    const ENOUGH: usize = 3;
    let raw: Value = serde_json::from_str(&event.raw).ok()?;
    let metric = raw.get("metric")?.get("__name__")?.as_str()?;
    let (title, unit) = match metric {
        "container_memory_working_set_bytes" => ("Memory", "bytes"),
        "node_memory_MemAvailable_bytes" => ("Memory left", "bytes"),
        "DCGM_FI_DEV_GPU_TEMP" => ("GPU temperature", "°C"),
        "DCGM_FI_DEV_GPU_UTIL" => ("GPU utilisation", "%"),
        "DCGM_FI_DEV_FB_USED" => ("GPU memory", "MiB"),
        _ => return None,
    };
    let samples = raw.get("values")?.as_array()?;
    let points: Vec<(Nanos, Option<f64>)> = samples
        .iter()
        .filter_map(|sample| {
            let time = Stamp::parse(sample.get(0)?.as_str()?)?;
            Some((time.lo, Some(sample.get(1)?.as_f64()?)))
        })
        .collect();
    let first = points.first()?.0;
    let names = &event.entities;
    let curve = Curve {
        title,
        unit: unit.to_owned(),
        of: names.pod.as_ref().or(names.node.as_ref())?.clone(),
        limit: event
            .attribute("limit_bytes")
            .and_then(|text| text.parse().ok()),
        from_zero: unit == "bytes",
        points,
    };
    (curve.points.len() >= ENOUGH).then_some((first, curve))
}

/// Steps a second between two lines.
fn paces(lines: &[Line]) -> Vec<(Nanos, Option<f64>)> {
    let mut points: Vec<(Nanos, Option<f64>)> = Vec::new();
    let mut before: Option<(Nanos, i64)> = None;
    for line in lines {
        let Some(step) = line.step else {
            points.extend(points.last().copied().map(|(time, _)| (time, None)));
            before = None;
            continue;
        };
        let Some((time, last)) = before else {
            before = Some((line.time, step));
            continue;
        };
        let took = line.time.saturating_sub(time);
        if step > last && took >= MEASURED {
            #[expect(clippy::cast_precision_loss, reason = "a rate is drawn, not counted")]
            let rate = (step - last) as f64 / (took as f64 / SECOND as f64);
            points.push((line.time, Some(rate)));
            before = Some((line.time, step));
        } else if step < last {
            before = Some((line.time, step));
        }
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use whathappened_model::event::EventId;

    fn line(second: i64, step: i64, loss: f64) -> Line {
        Line {
            time: second * SECOND,
            step: Some(step),
            loss: Some(loss),
            throughput: Some((100.0, "tokens/s")),
        }
    }

    #[test]
    fn samples_in_a_record_are_a_curve() {
        let id = EventId::of(&["test"]);
        let mut event = Event::new(id, "memory", Stamp::second(0), SourceKind::Prometheus);
        event.entities.pod = Some("train-0".to_owned());
        event.set_attribute("limit_bytes", Some("200"));
        let at = |second: i64, value: i64| {
            serde_json::json!([whathappened_model::time::rfc3339(second * SECOND), value])
        };
        event.raw =
            serde_json::json!({"metric": {"__name__": "container_memory_working_set_bytes"},
            "values": [at(1, 10), at(2, 20), at(3, 190)]})
            .to_string();
        let (first, curve) = measurement(&event).unwrap();
        assert_eq!(
            (first, curve.title, curve.of.as_str(), curve.limit),
            (SECOND, "Memory", "train-0", Some(200.0))
        );
        assert_eq!(curve.points[2], (3 * SECOND, Some(190.0)));
        event.raw = "{\"metric\": {}, \"values\": [[\"x\"]]}".to_owned();
        assert!(measurement(&event).is_none());
    }

    #[test]
    fn curves_break_where_an_attempt_ended() {
        let lines = [
            line(0, 10, 4.0),
            line(10, 20, 3.0),
            line(20, 30, 2.0),
            Line::default(),
            line(60, 10, f64::NAN),
            line(70, 20, 3.1),
        ];
        let curves = drawn_curves(&lines, "rank 0");
        let titles: Vec<&str> = curves.iter().map(|curve| curve.title).collect();
        assert_eq!(titles, ["Loss", "Step rate", "Throughput", "Step"]);
        let values = |at: usize| -> Vec<Option<f64>> {
            curves[at].points.iter().map(|(_, value)| *value).collect()
        };
        assert_eq!(
            values(0),
            [Some(4.0), Some(3.0), Some(2.0), None, Some(3.1)]
        );
        assert_eq!(values(1), [Some(1.0), Some(1.0), None, Some(1.0)]);
        assert_eq!(curves[2].unit, "tokens/s");
        assert!(drawn_curves(&lines[..1], "rank 0").is_empty());
    }
}
