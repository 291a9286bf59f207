//! What every form of a machine's history shows alike.

use crate::answer::{Answer, Gpu, MachineHistory, NodeHistory, PastFault, SCHEMA};

use super::clock::{Clock, seconds_between};
use super::page::{Spans, Tone};
use super::wording;

/// Faults that are named, the latest ones.
const NAMED: usize = 5;

const DAY: f64 = 86_400.0;

/// `this node: third time in 30 days (3 Nov hw.gpu Xid 79 on GPU 0000:9b:00, …)`.
/// `time` is the incident's own: it tells how many days are known.
pub(crate) fn before(before: &MachineHistory, time: Option<&str>, clock: Clock) -> Spans {
    let mut spans = Spans::new()
        .data(Tone::Name, &before.machine)
        .say(format!(": {} (", how_often(before, time)));
    let left_out = before.faults.len().saturating_sub(NAMED);
    if left_out > 0 {
        spans = spans.own(Tone::Dim, format!("{left_out} more, "));
    }
    for (number, fault) in before.faults.iter().skip(left_out).enumerate() {
        if number > 0 {
            spans = spans.say(", ");
        }
        let day = clock.short_day(&fault.time);
        spans = spans
            .own(Tone::Dim, day.replace(' ', "\u{a0}"))
            .say(" ")
            .data(Tone::Plain, &of(fault));
    }
    spans.say(")")
}

fn how_often(before: &MachineHistory, time: Option<&str>) -> String {
    let known = seconds_between(Some(&before.since), time).unwrap_or(f64::MAX);
    // Hours that are missing to the last of the days do not matter.
    let all = known >= (f64::from(before.days) - 1.0) * DAY;
    let span = if all {
        format!("{} days", before.days)
    } else {
        let days = (1..before.days).find(|days| f64::from(*days) * DAY >= known);
        let days = days.unwrap_or(before.days);
        let s = if days == 1 { "" } else { "s" };
        format!("the {days} day{s} on record")
    };
    if before.with_this {
        return format!("{} time in {span}", nth(before.count));
    }
    let faults = wording::count(before.count, "fault");
    match all {
        true => format!("{faults} in the {span} before"),
        false => format!("{faults} before, in {span}"),
    }
}

fn nth(count: usize) -> String {
    const WORDS: [&str; 9] = [
        "first", "second", "third", "fourth", "fifth", "sixth", "seventh", "eighth", "ninth",
    ];
    let word = count.checked_sub(1).and_then(|index| WORDS.get(index));
    word.map_or_else(
        || {
            let end = match (count % 10, count % 100) {
                (_, 11..=13) => "th",
                (1, _) => "st",
                (2, _) => "nd",
                (3, _) => "rd",
                _ => "th",
            };
            format!("{count}{end}")
        },
        |word| (*word).to_owned(),
    )
}

fn of(fault: &PastFault) -> String {
    let mut text = fault.cause.clone();
    if let Some(what) = &fault.what {
        text.push(' ');
        text.push_str(what);
    }
    if fault.same_gpu {
        text.push_str(" on the same GPU");
    } else if let Some(gpu) = &fault.gpu {
        text.push_str(" on ");
        text.push_str(&gpu_name(gpu));
    }
    text
}

/// A GPU by the plainest of its names.
pub(crate) fn gpu_name(gpu: &Gpu) -> String {
    match (&gpu.pci, gpu.index, &gpu.uuid) {
        (Some(pci), ..) => format!("GPU {pci}"),
        (None, Some(index), _) => format!("GPU {index}"),
        (None, None, Some(uuid)) => uuid.clone(),
        (None, None, None) => "a GPU".to_owned(),
    }
}

/// An answer that holds only what was read: coverage is shown as in any answer.
pub(crate) fn sources_of(history: &NodeHistory) -> Answer {
    Answer {
        schema: SCHEMA,
        experiment: None,
        machine: None,
        matched_by: None,
        now: history.now.clone(),
        ruleset: history.ruleset.clone(),
        runs: Vec::new(),
        incidents: Vec::new(),
        coverage: history.coverage.clone(),
        timeline: Vec::new(),
        page: None,
        drawn: crate::answer::Drawn::default(),
        notes: Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::super::style::Tz;
    use super::*;

    fn fault(time: &str, same_gpu: bool) -> PastFault {
        PastFault {
            time: time.to_owned(),
            end: time.to_owned(),
            cause: "hw.gpu".to_owned(),
            what: Some("Xid 79".to_owned()),
            gpu: Some(Gpu {
                pci: Some("0000:9b:00".to_owned()),
                ..Gpu::default()
            }),
            same_gpu,
            records: 1,
            event_ids: Vec::new(),
        }
    }

    fn shown(before_: &MachineHistory) -> String {
        let spans = before(before_, Some("2026-11-21T15:20:27Z"), Clock(Tz::Utc));
        let texts = spans.0.iter().map(|span| span.text.as_str());
        texts.collect::<String>().replace('\u{a0}', " ")
    }

    #[test]
    fn a_repeat_is_counted_in_words() {
        let mut reported = MachineHistory {
            machine: "gpu-a17".to_owned(),
            days: 30,
            since: "2026-10-22T15:20:27Z".to_owned(),
            count: 3,
            with_this: true,
            faults: vec![
                fault("2026-11-03T04:00:00Z", false),
                fault("2026-11-12T04:00:00Z", true),
            ],
        };
        assert_eq!(
            shown(&reported),
            "gpu-a17: third time in 30 days (3 Nov hw.gpu Xid 79 on GPU 0000:9b:00, 12 Nov hw.gpu Xid 79 on the same GPU)"
        );
        // What is not known is not claimed.
        reported.since = "2026-11-02T12:00:00Z".to_owned();
        assert!(shown(&reported).starts_with("gpu-a17: third time in the 20 days on record ("));
        (reported.with_this, reported.count) = (false, 2);
        assert!(shown(&reported).starts_with("gpu-a17: 2 faults before, in the 20 days"));
    }

    #[test]
    fn numbers_end_as_they_are_spoken() {
        for (count, word) in [
            (1, "first"),
            (9, "ninth"),
            (10, "10th"),
            (11, "11th"),
            (21, "21st"),
            (22, "22nd"),
            (113, "113th"),
        ] {
            assert_eq!(nth(count), word);
        }
    }

    #[test]
    fn only_the_latest_are_named() {
        let reported = MachineHistory {
            machine: "gpu-a17".to_owned(),
            days: 30,
            since: "2026-10-01T00:00:00Z".to_owned(),
            count: 8,
            with_this: true,
            faults: (1..8)
                .map(|day| fault(&format!("2026-11-0{day}T04:00:00Z"), true))
                .collect(),
        };
        let text = shown(&reported);
        assert!(
            text.contains("eighth time in 30 days (2 more, 3 Nov "),
            "{text}"
        );
    }
}
