use super::*;

fn read(text: &str) -> Vec<Event> {
    let source = Arc::new(LogSource {
        file: "status.txt".into(),
        ..LogSource::default()
    });
    let mut found = FormatOutput::default();
    let mut reader = UnitStatus::new(&source, &Options::default());
    reader.lines(text.as_bytes(), 1, &mut found);
    reader.finish(&mut found);
    let events = found.observations.into_iter().filter_map(|one| match one {
        Observation::Event(event) => Some(*event),
        _ => None,
    });
    events.collect()
}

const FAILED: &str = "\
× train.service - LLM training
     Loaded: loaded (/etc/systemd/system/train.service; disabled; preset: enabled)
     Active: failed (Result: oom-kill) since Sat 2026-11-28 11:00:01 CET; 3min 12s ago
    Process: 4711 ExecStart=/usr/bin/python3 train.py (code=killed, signal=KILL)
   Main PID: 4711 (code=killed, signal=KILL)
        CPU: 3h 12min 41.214s

Nov 28 10:59:58 gpu-07 python3[4711]: step 180 loss 2.31
Nov 28 11:00:01 gpu-07 systemd[1]: train.service: Main process exited, code=killed, status=9/KILL
";

#[test]
fn a_state_has_its_own_time_in_the_zone_that_is_named() {
    let head = FileHead {
        bytes: FAILED.as_bytes(),
        text: FAILED,
    };
    assert!(is(&head));
    let events = read(FAILED);
    let state = events
        .iter()
        .find(|event| event.attribute("program") == Some("systemctl"))
        .unwrap();
    assert_eq!(state.time, Stamp::parse("2026-11-28T10:00:01Z").unwrap());
    assert_eq!(state.attribute("unit"), Some("train"));
    assert_eq!(state.attribute("how"), Some("killed"));
    assert_eq!(state.attribute("status"), Some("9"));
    assert_eq!(state.attribute("time_inferred"), None);
    assert_eq!(state.entities.node.as_deref(), Some("gpu-07"));
}

#[test]
fn the_lines_below_are_the_programs_and_systemds() {
    let events = read(FAILED);
    let step = events
        .iter()
        .find(|event| event.fact == "log.line")
        .unwrap();
    assert_eq!(step.message.as_deref(), Some("step 180 loss 2.31"));
    assert_eq!(
        step.time.lo,
        Stamp::parse("2026-11-28T09:59:58Z").unwrap().lo
    );
    assert_eq!(step.attribute("unit"), Some("train"));
    let exited = |event: &&Event| event.attribute("program") == Some("systemd");
    assert!(events.iter().any(|event| exited(&event)));
}

#[test]
fn a_zone_of_an_ambiguous_name_is_not_trusted() {
    let events = read(&FAILED.replace("CET", "CST"));
    for event in &events {
        assert_eq!(event.attribute("time_inferred"), Some("zone"), "{event:?}");
    }
}

#[test]
fn how_long_ago_it_was_is_no_time() {
    let undated = FAILED.replace(" since Sat 2026-11-28 11:00:01 CET; 3min 12s ago", "");
    let events = read(&undated);
    assert!(
        events.iter().all(|event| event.time == Stamp::OPEN),
        "{events:?}"
    );
    assert!(
        !events
            .iter()
            .any(|event| event.attribute("program") == Some("systemctl"))
    );
}

#[test]
fn other_text_is_none() {
    for text in [
        "● a.service - x\nNov 28 10:00:00 n1 systemd[1]: x\n",
        "train.service\n",
        "Loaded: loaded\n",
    ] {
        let head = FileHead {
            bytes: text.as_bytes(),
            text,
        };
        assert!(!is(&head), "{text}");
    }
}
