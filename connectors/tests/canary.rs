//! No secret is in what decoders make of records: every kind in every place of every source.

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

/// All that was told, as text.
#[derive(Default)]
struct Told(Vec<u8>);

impl Sink for Told {
    fn observe(&mut self, observations: Vec<Observation>) {
        for one in observations {
            match one {
                Observation::Event(event) => serde_json::to_writer(&mut self.0, &event).unwrap(),
                Observation::Object(object) => self.0.extend(format!("{object:?}").bytes()),
                other => self.0.extend(format!("{other:?}").bytes()),
            }
            self.0.push(b'\n');
        }
    }
}

/// Of so many kinds one is planted in a place, another one in the next; `CANARY_STEP=1` plants all in all.
const STEP: usize = 16;

#[test]
#[ignore = "took more than eight minutes beside other tests: run it by hand"]
fn no_kind_is_left_in_any_place() {
    let step = std::env::var("CANARY_STEP").map_or(STEP, |step| step.parse().unwrap());
    let kinds = canary::kinds();
    let planted = canary::plant(&kinds, step);
    let folder = tempfile::tempdir().unwrap();
    planted.write(folder.path());
    let mut told = Told::default();
    let input = Input::Path(folder.path().to_owned());
    let summary = recording::read(&[input], &Options::default(), &mut told);
    told.0.extend(format!("{summary:?}").bytes());
    let mut left: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    let mut by_place: BTreeMap<&str, usize> = BTreeMap::new();
    let mut read = BTreeSet::new();
    let mut samples = Vec::new();
    for ((kind, place), at) in planted.trap.seen(&told.0) {
        let place = planted.places[place].as_str();
        if kind == canary::HARMLESS {
            read.insert(place);
        } else if left.entry(&kinds[kind].name).or_default().insert(place) {
            *by_place.entry(place).or_default() += 1;
            let near = &told.0[at.saturating_sub(120)..told.0.len().min(at + 60)];
            samples.push(format!(
                "{} @ {place}: {}",
                kinds[kind].name,
                String::from_utf8_lossy(near)
            ));
        }
    }
    let unread: Vec<&String> = planted
        .places
        .iter()
        .filter(|place| !read.contains(place.as_str()) && !planted.dropped.contains(place))
        .collect();
    let count: usize = left.values().map(BTreeSet::len).sum();
    let mut kinds: Vec<_> = left
        .iter()
        .map(|(kind, places)| (places.len(), *kind))
        .collect();
    kinds.sort();
    kinds.reverse();
    let head = format!(
        "{count} of {} left ({} places)\nkinds: {kinds:?}\nplaces: {by_place:?}\n",
        planted.trap.len(),
        planted.places.len()
    );
    if let Ok(path) = std::env::var("CANARY_REPORT") {
        std::fs::write(path, format!("{head}{}", samples.join("\n"))).unwrap();
    }
    assert!(unread.is_empty(), "places that are not read: {unread:?}");
    samples.truncate(40);
    assert!(count == 0, "{head}{}", samples.join("\n"));
}
