//! Real logs, read in place.

use std::sync::Arc;

use super::*;
use crate::contract::LogLines;
use crate::event::Event;
use crate::observation::Observation;
use crate::time::rfc3339;

#[test]
fn the_lines_of_a_slurm_job_have_sane_times() {
    let path = "../../shared/incidents/bs-time-limit/input";
    let Ok(mut folder) = std::fs::read_dir(path) else {
        whathappened_loopback::skipped("no ../shared");
        return;
    };
    let text = std::fs::read_to_string(folder.next().unwrap().unwrap().path()).unwrap();
    let mut stream = LogStream::new(Arc::default(), LogLines::default(), 1 << 20);
    let mut out = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        stream.line(line, number, &mut out).unwrap();
    }
    stream.finish(&mut out);
    let events: Vec<&Event> = out
        .iter()
        .map(|observation| match observation {
            Observation::Event(event) => &**event,
            other => panic!("{other:?}"),
        })
        .collect();
    assert!(events.len() > 2_000);
    for event in &events {
        let day = rfc3339(event.time.lo);
        assert!(day.starts_with("2021-05-24T0"), "{day} {:?}", event.message);
    }
    let deciding: Vec<&&Event> = events
        .iter()
        .filter(|event| {
            let message = event.message.as_deref().unwrap_or_default();
            message.contains("DUE TO TIME LIMIT")
        })
        .collect();
    assert_eq!(deciding.len(), 2);
    for event in deciding {
        let message = event.message.as_deref().unwrap();
        let content = message
            .split(" AT ")
            .nth(1)
            .unwrap()
            .split(' ')
            .next()
            .unwrap();
        assert_eq!(rfc3339(event.time.lo), format!("{content}Z"));
    }
}
