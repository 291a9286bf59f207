//! What a picture shows beside the answer: how the pods of a run lived, and how its work went.

mod lives;
mod measured;

use whathappened_core::graph::{Task, TaskRow};
use whathappened_core::resolve::Run;
use whathappened_model::event::Event;
use whathappened_model::time::{Nanos, SECOND};

use crate::answer::{Curve, Drawn, Incident};
use crate::case::Case;
use crate::error::Error;

/// Attempts of which curves are drawn, the latest.
const ATTEMPTS: usize = 12;

/// Lines of one log that are read for curves.
const LINES: usize = 240;

/// A pace is measured over this long at least: most logs give times to the second.
const MEASURED: Nanos = 5 * SECOND;

/// Of the run with this number, and of what is known of its incidents.
pub(super) fn drawn(case: &Case, number: usize, incidents: &[Incident]) -> Result<Drawn, Error> {
    let Some(run) = case.runs.get(number) else {
        return Ok(Drawn::default());
    };
    Ok(Drawn {
        lives: lives::of(case, number, run, incidents),
        curves: [curves(case, run)?, measured::of(case, run, incidents)?].concat(),
        ..Drawn::default()
    })
}

/// Of each of the latest attempts the log that tells how the work went: that of the lowest rank that tells most.
pub(super) fn speakers<'a>(case: &'a Case, run: &Run) -> Vec<&'a Task> {
    let first = run.attempts.len().saturating_sub(ATTEMPTS);
    let attempts = run.attempts.iter().skip(first);
    let speaker = |pods: &[TaskRow]| {
        let pods = pods.iter().filter_map(|pod| case.graph.pods.get(*pod));
        let logged = pods.filter(|pod| pod.progress.is_some());
        logged.min_by_key(|pod| {
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
    let message = event.message.as_deref().unwrap_or_default().to_lowercase();
    let units = [
        (&["tok"][..], "tokens/s"),
        (&["tflop"], "TFLOP/s"),
        (&["samples", "examples"], "samples/s"),
        (&["images"], "images/s"),
        (&["it/s"], "iterations/s"),
    ];
    let unit = units
        .into_iter()
        .find(|(words, _)| words.iter().any(|word| message.contains(word)));
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

    fn line(second: i64, step: i64, loss: f64) -> Line {
        Line {
            time: second * SECOND,
            step: Some(step),
            loss: Some(loss),
            throughput: Some((100.0, "tokens/s")),
        }
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
