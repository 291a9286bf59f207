//! Runs in a list, a row each, whatever the width.

use std::io;

use crate::answer::Listed;

use super::clock::Clock;
use super::error::RenderError;
use super::page::{Page, Spans, Tone};
use super::style::Style;
use super::text::{escape, middle, width};
use super::words;

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
pub fn listed(list: &[Listed], style: &Style, out: &mut dyn io::Write) -> Result<(), RenderError> {
    let mut page = Page::new(style);
    let rows: Vec<Row> = list.iter().map(|one| Row::of(one, style)).collect();
    let widest = |of: fn(&Row) -> &str| rows.iter().map(|row| width(of(row))).max().unwrap_or(0);
    let state = widest(|row| &row.state);
    let (when, pods) = (widest(|row| &row.when), widest(|row| &row.pods));
    let columns = page.columns();
    let fixed = 2 + state + 2 + when + 2 + pods + 2;
    let (causes, owners) = (widest(|row| &row.cause), widest(|row| &row.who));
    let persons = widest(|row| person(&row.who));
    // The name takes what is left; where that is too little, domains of persons give way,
    // then ends of causes, then who it was, then why.
    let names = widest(|row| &row.name).min(ROOMY);
    let (roomy, tight) = (causes.min(CAUSE), causes.min(TIGHT));
    let ways = [
        (roomy, owners.min(WHO), names),
        (roomy, persons.min(WHO), names),
        (tight, persons.min(WHO), NAME),
        (roomy, 0, NAME),
        (tight, 0, NAME),
    ];
    let room = |cause: usize, who: usize| {
        let some = [cause, who].into_iter().filter(|width| *width > 0);
        fixed + some.map(|width| width + 2).sum::<usize>()
    };
    let way = ways
        .iter()
        .find(|(cause, who, name)| room(*cause, *who) + name <= columns);
    let (cause, who, _) = way.copied().unwrap_or((0, 0, NAME));
    let shortened = who > 0 && who < owners.min(WHO);
    let rest = room(cause, who) - fixed;
    let name = columns.saturating_sub(fixed + rest).max(NAME);
    for row in &rows {
        let mut line = Spans::new().own(row.tone, row.sign).say(" ");
        line = line.own(row.tone, row.state.clone()).pad(2 + state + 2);
        line = line
            .own(Tone::Dim, row.when.clone())
            .pad(2 + state + 2 + when + 2);
        line = line.own(Tone::Dim, row.pods.clone()).pad(fixed);
        if cause > 0 {
            let tone = if row.calm { Tone::Dim } else { Tone::Bad };
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
        line = line.own(Tone::Name, middle(&row.name, name));
        page.raw(line);
    }
    page.write(out)
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
    pods: String,
    cause: String,
    calm: bool,
    who: String,
    name: String,
}

impl Row {
    fn of(one: &Listed, style: &Style) -> Self {
        let state = one.state.as_deref();
        let (sign, tone) = state.map_or((" ", Tone::Dim), words::state_sign);
        let when = one.time.as_ref().or(one.started.as_ref());
        let when = when.map_or_else(String::new, |time| Clock(style.tz).full(time));
        let named = match &one.namespace {
            Some(namespace) => format!("{namespace}/{}", one.name),
            None => one.name.clone(),
        };
        let name = if one.experiment == one.name {
            named
        } else {
            format!("{} ({named})", one.experiment)
        };
        let text = |text: &Option<String>| {
            text.as_deref()
                .map_or_else(String::new, |text| escape(text).into_owned())
        };
        Self {
            sign,
            tone,
            state: state.unwrap_or("not explained").to_owned(),
            when,
            pods: words::count(usize::try_from(one.pods).unwrap_or(usize::MAX), "pod"),
            calm: one.cause.is_none(),
            cause: one
                .cause
                .clone()
                .map_or_else(|| "-".to_owned(), |_| text(&one.cause)),
            who: text(&one.owner.clone().or(one.actor.clone())),
            name: escape(&name).into_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_is_a_line_at_any_width() {
        let run = |name: &str, cause: Option<&str>| Listed {
            experiment: name.to_owned(),
            kind: "Job".to_owned(),
            namespace: Some("research".to_owned()),
            name: name.to_owned(),
            state: Some("failed".to_owned()),
            cause: cause.map(str::to_owned),
            time: Some("2026-11-21T15:21:03Z".to_owned()),
            owner: Some("alice@lab.example".to_owned()),
            pods: 3,
            ..Listed::default()
        };
        let list = [
            run("gpt2-small-7f3", Some("node.not_ready")),
            run(&"a-very-long-name-of-a-run-".repeat(4), None),
        ];
        for columns in [40, 80, 100, 120, 200] {
            let style = Style {
                width: columns,
                ..Style::default()
            };
            let mut text = Vec::new();
            listed(&list, &style, &mut text).unwrap();
            let text = String::from_utf8(text).unwrap();
            assert_eq!(text.lines().count(), 2, "{text}");
            let widest = text.lines().map(width).max().unwrap();
            assert!(widest <= columns.max(64), "{widest} > {columns}: {text}");
            assert!(columns < 80 || text.contains("node.not_ready"), "{text}");
            assert!(columns < 100 || text.contains("alice"), "{text}");
        }
    }
}
