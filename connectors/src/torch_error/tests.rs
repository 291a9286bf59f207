//! Error files as torch writes them, through the reader.

use std::sync::Arc;

use crate::contract::Input;
use crate::event::Event;
use crate::observation::Observation;
use crate::recording::{Bytes, Options, read};
use crate::sink::Sink;

#[derive(Default)]
struct Collected(Vec<Event>);

impl Sink for Collected {
    fn observe(&mut self, observations: Vec<Observation>) {
        self.0
            .extend(observations.into_iter().filter_map(|one| match one {
                Observation::Event(event) => Some(*event),
                _ => None,
            }));
    }
}

fn told(name: &str, text: &str) -> Vec<Event> {
    let mut found = Collected::default();
    let input = Input::Bytes(Arc::from(name), Bytes::from(text.to_owned()));
    let summary = read(&[input], &Options::default(), &mut found);
    assert_eq!(summary.total.rejected, 0, "{:?}", summary.rejected);
    found.0
}

const FILE: &str = r#"{"message": {"message": "ValueError: bad shape", "errorCode": 1, "extraInfo": {"py_callstack": "Traceback (most recent call last):\n  File \"/w/train.py\", line 9, in main\n    step()\nValueError: bad shape\n", "timestamp": "1795274427"}}}"#;

#[test]
fn a_worker_s_exception_is_told_as_its_log_would() {
    let all = told("logs/none_x/attempt_1/3/error.json", FILE);
    assert_eq!(all.len(), 1, "{all:?}");
    let one = &all[0];
    assert_eq!(one.fact, "log.line");
    assert_eq!(one.time.lo, 1_795_274_427_000_000_000);
    assert_eq!(one.attribute("exception"), Some("ValueError"));
    assert_eq!(one.attribute("local_rank"), Some("3"));
    assert_eq!(one.attribute("launcher_attempt"), Some("1"));
    assert!(one.message.as_deref().unwrap().starts_with("Traceback"));
}

#[test]
fn what_lacks_parts_is_read_as_far_as_it_goes() {
    let bare = r#"{"message": {"message": "OSError: full", "extraInfo": {"py_callstack": ""}}}"#;
    let all = told("termination-log", bare);
    assert_eq!(all[0].message.as_deref(), Some("OSError: full"));
    assert!(
        told(
            "error.json",
            r#"{"message": {"extraInfo": {"py_callstack": ""}}}"#
        )
        .is_empty()
    );
}
