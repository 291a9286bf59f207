//! Runs in a list, a row each; nothing of it is lost on a narrow terminal.

use std::collections::BTreeSet;
use std::io;

use crate::answer::ListedRun;
use whathappened_core::death::RunState;

use super::clock::Clock;
use super::cut::distinct;
use super::error::RenderError;
use super::page::{Page, Spans, Tone};
use super::style::Style;
use super::text::{escape, middle, width};
use super::wording;

/// Columns of a cause and of a person, at most.
const CAUSE: usize = 26;
const WHO: usize = 22;
/// Columns of a cause where there is little room.
const TIGHT: usize = 20;
/// Columns of a name that is worth the domain of a person.
const ROOMY: usize = 30;
/// Columns of a name, at least.
const NAME: usize = 14;

/// Writes the list for a reader at a terminal.
///
/// # Errors
/// When the output refuses the bytes.
pub fn listed(
    list: &[ListedRun],
    style: &Style,
    out: &mut dyn io::Write,
) -> Result<(), RenderError> {
    let mut page = Page::new(style);
    let rows: Vec<Row> = list.iter().map(|one| Row::of(one, style)).collect();
    let widest = |of: fn(&Row) -> &str| rows.iter().map(|row| width(of(row))).max().unwrap_or(0);
    let state = widest(|row| &row.state);
    let (when, pods) = (widest(|row| &row.when), widest(|row| &row.pods));
    let columns = page.columns();
    let (causes, owners) = (widest(|row| &row.cause), widest(|row| &row.who));
    let persons = widest(|row| person(&row.who));
    // The name takes what is left; where that is too little, domains of persons give way,
    // then ends of causes, then years and seconds.
    let names = widest(|row| &row.name).min(ROOMY);
    let (roomy, tight) = (causes.min(CAUSE), causes.min(TIGHT));
    let short = widest(|row| &row.short);
    let ways = [
        (false, roomy, owners.min(WHO), names),
        (false, roomy, persons.min(WHO), names),
        (false, tight, persons.min(WHO), NAME),
        (true, roomy, persons.min(WHO), NAME),
        (true, tight, persons.min(WHO), NAME),
    ];
    let fixed = |is_short: bool| {
        let when = if is_short { short } else { when };
        2 + state + 2 + when + 2 + pods + 2
    };
    let room = |cause: usize, who: usize| {
        let some = [cause, who].into_iter().filter(|width| *width > 0);
        some.map(|width| width + 2).sum::<usize>()
    };
    let way = ways.iter().find(|(is_short, cause, who, name)| {
        fixed(*is_short) + room(*cause, *who) + name <= columns
    });
    // Where all of it has no room on one line, why and whose stand on another.
    let (is_short, cause, who, _) = way.copied().unwrap_or((true, 0, 0, NAME));
    let shortened = who > 0 && who < owners.min(WHO);
    let fixed = fixed(is_short);
    let rest = room(cause, who);
    let name = columns.saturating_sub(fixed + rest).max(NAME);
    let names = names_that_fit(&rows, name);
    for (row, shown) in rows.iter().zip(distinct(&names, name)) {
        let when = if is_short { &row.short } else { &row.when };
        let tone = if row.calm { Tone::Dim } else { Tone::Bad };
        let mut line = Spans::new().own(row.tone, row.sign).say(" ");
        line = line.own(row.tone, row.state.clone()).pad(2 + state + 2);
        line = line.own(Tone::Dim, when.clone()).pad(fixed - pods - 2);
        line = line.own(Tone::Dim, row.pods.clone()).pad(fixed);
        if cause > 0 {
            line = line
                .own(tone, middle(&row.cause, cause))
                .pad(fixed + cause + 2);
        }
        if who > 0 {
            let whole = if shortened {
                person(&row.who)
            } else {
                &row.who
            };
            line = line.own(Tone::Plain, middle(whole, who)).pad(fixed + rest);
        }
        line = line.own(Tone::Name, shown);
        page.raw(line);
        let who = person(&row.who);
        if way.is_none() && !(row.calm && who.is_empty()) {
            let mut line = Spans::new().say("    ");
            line = line.own(tone, middle(&row.cause, columns - 4));
            let left = (columns - 4).saturating_sub(width(&row.cause) + 3);
            if !who.is_empty() && left > 0 {
                line = line.own(Tone::Plain, format!(" · {}", middle(who, left)));
            }
            page.raw(line);
        }
    }
    page.write(out)
}

/// The names with their namespaces, or without them where that lets them fit and leaves no two alike.
fn names_that_fit(rows: &[Row], columns: usize) -> Vec<&str> {
    let whole: Vec<&str> = rows.iter().map(|row| row.name.as_str()).collect();
    let bare: Vec<&str> = rows.iter().map(|row| row.bare.as_str()).collect();
    let different = |names: &[&str]| names.iter().collect::<BTreeSet<_>>().len();
    let fit = whole.iter().all(|name| width(name) <= columns);
    if fit || different(&bare) < different(&whole) {
        whole
    } else {
        bare
    }
}

/// Who it is, without the domain: `alice` of `alice@lab.example`, which --owner takes as well.
fn person(who: &str) -> &str {
    who.split('@').next().unwrap_or(who)
}

struct Row {
    sign: &'static str,
    tone: Tone,
    state: String,
    when: String,
    /// The same without year and seconds.
    short: String,
    pods: String,
    cause: String,
    calm: bool,
    who: String,
    name: String,
    /// The same without the namespace.
    bare: String,
}

impl Row {
    fn of(one: &ListedRun, style: &Style) -> Self {
        let state = one.state;
        let (sign, tone) = state.map_or((" ", Tone::Dim), wording::state_sign);
        let when = one.time.as_ref().or(one.started.as_ref());
        let when = when.map_or_else(String::new, |time| Clock(style.tz).full(time));
        let named = match &one.namespace {
            Some(namespace) => format!("{namespace}/{}", one.name),
            None => one.name.clone(),
        };
        let with_experiment = |name: &str| {
            if one.experiment == one.name {
                name.to_owned()
            } else {
                format!("{} ({name})", one.experiment)
            }
        };
        let (name, bare) = (with_experiment(&named), with_experiment(&one.name));
        let text = |text: &Option<String>| {
            text.as_deref()
                .map_or_else(String::new, |text| escape(text).into_owned())
        };
        Self {
            sign,
            tone,
            state: state.map_or("not explained", RunState::as_str).to_owned(),
            short: when.get(5..16).unwrap_or(&when).to_owned(),
            when,
            pods: wording::count(usize::try_from(one.pods).unwrap_or(usize::MAX), "pod"),
            calm: one.cause.is_none(),
            cause: one
                .cause
                .clone()
                .map_or_else(|| "-".to_owned(), |_| text(&one.cause)),
            who: text(&one.owner),
            name: escape(&name).into_owned(),
            bare: escape(&bare).into_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_of_a_run_is_lost_at_any_width() {
        let run = |name: &str, cause: Option<&str>| ListedRun {
            experiment: name.to_owned(),
            kind: "Job".to_owned(),
            namespace: Some("research".to_owned()),
            name: name.to_owned(),
            state: Some(RunState::Failed),
            cause: cause.map(str::to_owned),
            time: Some("2026-11-21T15:21:03Z".to_owned()),
            owner: Some("alice@lab.example".to_owned()),
            pods: 3,
            ..ListedRun::default()
        };
        let list = [
            run("gpt2-small-7f3", Some("node.not_ready")),
            run(&"a-very-long-name-of-a-run-".repeat(4), None),
        ];
        for columns in [40, 60, 72, 79, 80, 100, 120, 200] {
            let style = Style {
                width: columns,
                ..Style::default()
            };
            let mut text = Vec::new();
            listed(&list, &style, &mut text).unwrap();
            let text = String::from_utf8(text).unwrap();
            // A line a run, and on the narrowest terminals a second one.
            let lines = if columns < 70 { 4 } else { 2 };
            assert_eq!(text.lines().count(), lines, "{columns}: {text}");
            let widest = text.lines().map(width).max().unwrap();
            assert!(widest <= columns.max(48), "{widest} > {columns}: {text}");
            assert!(text.contains("node.not_ready"), "{columns}: {text}");
            assert_eq!(text.matches("alice").count(), 2, "{columns}: {text}");
        }
    }
}
