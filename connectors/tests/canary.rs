//! No secret is in what decoders make of records: every kind in every place of every source.
//!
//! In parts, each with some of the kinds: they run beside one another, and each holds only
//! its own in memory.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot set itself up must fail"
)]

#[expect(dead_code, reason = "shared with the tests of the whole tool")]
#[path = "../../tests/canary/mod.rs"]
mod canary;

use std::collections::{BTreeMap, BTreeSet};

use whathappened_connectors::recording::{self, Input, Options};
use whathappened_model::observation::Observation;
use whathappened_model::sink::Sink;

/// What was told since the last look, as text, and what of it was a canary: all of it at once
/// would take gigabytes.
struct Emitted<'p> {
    text: Vec<u8>,
    planted: &'p canary::Planted,
    seen: BTreeMap<(usize, usize), String>,
}

/// Texts are looked at in pieces of this size.
const PIECE: usize = 16 << 20;

impl Emitted<'_> {
    fn look(&mut self) {
        for (of, at) in self.planted.trap.seen(&self.text) {
            let near = &self.text[at.saturating_sub(120)..self.text.len().min(at + 60)];
            let near = || String::from_utf8_lossy(near).into_owned();
            self.seen.entry(of).or_insert_with(near);
        }
        self.text.clear();
    }
}

impl Sink for Emitted<'_> {
    fn observe(&mut self, observations: Vec<Observation>) {
        for one in observations {
            match one {
                Observation::Event(event) => serde_json::to_writer(&mut self.text, &event).unwrap(),
                Observation::Object(object) => self.text.extend(format!("{object:?}").bytes()),
                other => self.text.extend(format!("{other:?}").bytes()),
            }
            self.text.push(b'\n');
        }
        if self.text.len() > PIECE {
            self.look();
        }
    }
}

/// How many parts there are.
const PARTS: usize = 8;

fn look_for(part: usize) {
    // Of so many kinds one is planted in a place, another one in the next.
    let step = std::env::var("CANARY_STEP").map_or(1, |step| step.parse().unwrap());
    let all = canary::kinds().into_iter().enumerate();
    let own = all.filter(|(number, _)| *number == canary::HARMLESS || number % PARTS == part);
    let kinds: Vec<_> = own.map(|(_, kind)| kind).collect();
    let planted = canary::plant(&kinds, step);
    let folder = tempfile::tempdir().unwrap();
    planted.write(folder.path());
    let mut emitted = Emitted {
        text: Vec::new(),
        planted: &planted,
        seen: BTreeMap::new(),
    };
    let input = Input::Path(folder.path().to_owned());
    let options = Options {
        max_time: None,
        ..Options::default()
    };
    let summary = recording::read(&[input], &options, &mut emitted);
    emitted.text.extend(format!("{summary:?}").bytes());
    emitted.look();
    let (mut left, mut read) = (Vec::new(), BTreeSet::new());
    let mut by_place: BTreeMap<&str, usize> = BTreeMap::new();
    for ((kind, place), near) in &emitted.seen {
        let place = planted.places[*place].as_str();
        if *kind == canary::HARMLESS {
            read.insert(place);
        } else {
            *by_place.entry(place).or_default() += 1;
            left.push(format!("{} @ {place}: {near}", kinds[*kind].name));
        }
    }
    let unread: Vec<&String> = planted
        .places
        .iter()
        .filter(|place| !read.contains(place.as_str()) && !planted.dropped.contains(place))
        .collect();
    let row = canary::Row {
        test: "decoders",
        kinds: kinds.len() - 1,
        places: planted.places.len(),
        ways: 1,
        planted: planted.trap.len(),
        left: left.len(),
    };
    row.report(&left);
    assert!(unread.is_empty(), "places that are not read: {unread:?}");
    left.truncate(40);
    assert!(left.is_empty(), "{row:?} {by_place:?}\n{}", left.join("\n"));
}

macro_rules! parts {
    ($($name:ident $number:literal)*) => {
        $(
            #[test]
            fn $name() {
                look_for($number);
            }
        )*
    };
}

parts! {
    no_kind_is_left_in_any_place_0 0
    no_kind_is_left_in_any_place_1 1
    no_kind_is_left_in_any_place_2 2
    no_kind_is_left_in_any_place_3 3
    no_kind_is_left_in_any_place_4 4
    no_kind_is_left_in_any_place_5 5
    no_kind_is_left_in_any_place_6 6
    no_kind_is_left_in_any_place_7 7
}
