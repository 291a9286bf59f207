//! The picture as data for the script, which draws it anew for each width and stretch of time.

use serde_json::{Value, json};

use super::super::super::style::Tz;
use super::super::page::Page;
use super::marks::Mark;
use super::scale::Span;
use super::{Group, Picture};

/// Points of one curve, at most.
const POINTS: usize = 1_500;

/// As JSON that can stand within an element: nothing in it ends one.
pub(super) fn json(picture: &Picture, page: Page<'_>) -> String {
    let mut groups: Vec<Group> = picture.lanes.iter().map(|lane| lane.group).collect();
    groups.dedup();
    let place = |group: Group| groups.iter().position(|one| *one == group).unwrap_or(0);
    let lanes: Vec<Value> = picture
        .lanes
        .iter()
        .map(|lane| {
            json!([
                place(lane.group),
                lane.label,
                lane.note,
                lane.folded,
                lane.members
            ])
        })
        .collect();
    let bars = picture.bars.iter().map(|bar| {
        json!([
            bar.lane,
            member(bar.member),
            n(bar.span.from),
            n(bar.span.to),
            bar.class,
            bar.text
        ])
    });
    let mut marks: Vec<&Mark> = picture.marks.iter().chain(&picture.inner).collect();
    marks.sort_by(|a, b| a.span.from.total_cmp(&b.span.from));
    let marks: Vec<Value> = marks.into_iter().map(mark).collect();
    let steps = picture.steps.iter().map(|step| {
        json!([
            step.number,
            step.lane,
            n(step.at),
            i32::from(step.is_context),
            step.text
        ])
    });
    let groups = groups
        .iter()
        .map(|group| json!({"key": group.key(), "title": group.title()}));
    let model = json!({
        "origin": picture.times.origin,
        "zone": zone(page),
        "window": span(picture.window),
        "whole": span(picture.whole),
        "root": picture.root.map(span),
        "groups": groups.collect::<Vec<_>>(),
        "lanes": lanes,
        "bars": bars.collect::<Vec<_>>(),
        "marks": marks,
        "steps": steps.collect::<Vec<_>>(),
        "curves": curves(picture, page),
        "saves": picture.saves.iter().map(|(at, row)| json!([n(*at), row])).collect::<Vec<_>>(),
    });
    model.to_string().replace('<', "\\u003c")
}

/// A mark; its text is that of its row, where it stands for that row alone.
fn mark(mark: &Mark) -> Value {
    let own = mark.row.is_none() || mark.count > 1;
    json!([
        mark.lane,
        member(mark.member),
        n(mark.span.from),
        n(mark.span.to),
        mark.class,
        member(mark.row),
        mark.count,
        i32::from(mark.in_chain),
        if own { mark.text.as_str() } else { "" }
    ])
}

fn curves(picture: &Picture, page: Page<'_>) -> Vec<Value> {
    let curves = page.answer.drawn.curves.iter();
    let drawn = curves.map(|curve| {
        let every = curve.points.len().div_ceil(POINTS).max(1);
        let kept = curve.points.iter().enumerate();
        let kept = kept.filter(|(at, (_, value))| at % every == 0 || value.is_none());
        let points = kept.map(|(_, (at, value))| {
            let value = value.map(|value| serde_json::Number::from_f64(shortened(value)));
            json!([n(picture.times.of_nanos(*at)), value])
        });
        json!([
            curve.title,
            curve.unit,
            super::super::cells::cut(&curve.of, 60),
            i32::from(curve.from_zero),
            curve.limit.and_then(serde_json::Number::from_f64),
            points.collect::<Vec<_>>()
        ])
    });
    drawn.collect()
}

/// The zone in which times are written, by a name that browsers know.
fn zone(page: Page<'_>) -> String {
    match page.clock.0 {
        Tz::Utc => "UTC".to_owned(),
        Tz::Local => "local".to_owned(),
        Tz::Fixed(offset) => offset.to_string(),
        Tz::Named(zone) => zone.to_string(),
    }
}

fn member(place: Option<usize>) -> i64 {
    place
        .and_then(|place| i64::try_from(place).ok())
        .unwrap_or(-1)
}

fn span(span: Span) -> [f64; 2] {
    [n(span.from), n(span.to)]
}

/// A number in few digits: thousandths are nanoseconds of nobody's interest.
fn n(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

/// Six digits of a value: more nobody sees.
fn shortened(value: f64) -> f64 {
    format!("{value:.5e}").parse().unwrap_or(value)
}
