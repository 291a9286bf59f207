use super::*;

const HOUR: Nanos = 3600 * SECOND;

fn job(begin: Nanos, end: Nanos) -> BTreeMap<String, Life> {
    let life = Life {
        begin: Some(begin),
        end: Some(end),
        nodes: BTreeSet::from(["n1".to_owned()]),
        was_killed: true,
    };
    BTreeMap::from([("7".to_owned(), life)])
}

#[test]
fn a_kill_in_a_job_s_control_group_tells_the_zone() {
    let said = |killed: Nanos| ClockReadings {
        jobs: job(12 * HOUR, 40 * HOUR),
        kills: BTreeMap::from([("7".to_owned(), killed)]),
        ..ClockReadings::default()
    };
    let end = 40 * HOUR;
    assert_eq!(said(end - 2 * HOUR - 5 * SECOND).zone(), Some(-2 * HOUR));
    assert_eq!(said(end + 7 * HOUR - 5 * SECOND).zone(), Some(7 * HOUR));
    // Hours before its end it may as well have lost a process that it did without.
    let half = HOUR / 2;
    assert_eq!(said(end - half - SECOND).zone(), None);
    assert_eq!(said(end - 2 * HOUR - 100 * SECOND).zone(), None);
    let newfoundland = 3 * HOUR + half;
    assert_eq!(said(end + newfoundland - SECOND).zone(), Some(newfoundland));
    assert_eq!(said(end - 5 * SECOND).zone(), None, "it is in UTC");
    assert_eq!(said(end - 2 * HOUR - 400 * SECOND).zone(), None);
}

#[test]
fn an_xid_that_slurm_was_told_of_tells_the_zone() {
    let said = |begin: Nanos, told: Nanos, xid: &str| ClockReadings {
        jobs: job(begin, told),
        reasons: vec![("n1".to_owned(), "79".to_owned(), told)],
        xids: vec![("n1".to_owned(), xid.to_owned(), 10 * HOUR)],
        ..ClockReadings::default()
    };
    let told = 12 * HOUR + 400 * SECOND;
    assert_eq!(said(11 * HOUR, told, "79").zone(), Some(-2 * HOUR));
    assert_eq!(said(11 * HOUR, told, "31").zone(), None);
    assert_eq!(
        said(2 * HOUR, 3 * HOUR + 60 * SECOND, "79").zone(),
        Some(7 * HOUR)
    );
    let soon = 10 * HOUR + 600 * SECOND;
    assert_eq!(said(9 * HOUR, soon, "79").zone(), None, "it is in UTC");
    assert_eq!(
        said(9 * HOUR, told, "79").zone(),
        None,
        "somebody took two hours"
    );
    // No job was there.
    assert_eq!(said(12 * HOUR + 300 * SECOND, told, "79").zone(), None);
}

#[test]
fn a_beginning_that_is_told_twice_tells_the_zone() {
    let local = || job(12 * HOUR, 13 * HOUR);
    let minute = 60 * SECOND;
    let launched = |at: Nanos| ClockReadings {
        jobs: local(),
        launches: BTreeMap::from([("7".to_owned(), at)]),
        ..ClockReadings::default()
    };
    assert_eq!(launched(3 * HOUR + SECOND).zone(), Some(-9 * HOUR));
    assert_eq!(launched(12 * HOUR + SECOND).zone(), None, "it is in UTC");
    assert_eq!(launched(12 * HOUR + 20 * minute).zone(), None);
    let logged = |begin: Nanos, end: Nanos| ClockReadings {
        jobs: local(),
        logs: BTreeMap::from([("7".to_owned(), (begin, end))]),
        ..ClockReadings::default()
    };
    let zone = logged(17 * HOUR + 2 * SECOND, 18 * HOUR - minute).zone();
    assert_eq!(zone, Some(5 * HOUR));
    let cut = logged(12 * HOUR + 20 * minute, 13 * HOUR).zone();
    assert_eq!(cut, None, "its first lines are missing");
    assert_eq!(logged(17 * HOUR, 19 * HOUR).zone(), None, "it is longer");
    let accounted = |begin: Nanos| ClockReadings {
        jobs: local(),
        dated: job(begin, begin + HOUR),
        ..ClockReadings::default()
    };
    assert_eq!(accounted(3 * HOUR).zone(), Some(-9 * HOUR));
    assert_eq!(accounted(12 * HOUR).zone(), None, "it is in UTC");
    // One says an hour, another says two.
    let said = ClockReadings {
        anchors: BTreeSet::from([-HOUR]),
        ..launched(3 * HOUR)
    };
    assert_eq!(said.zone(), None);
}

#[test]
fn a_job_s_own_log_is_of_its_life() {
    let said = ClockReadings {
        dated: job(12 * HOUR, 13 * HOUR),
        ..ClockReadings::default()
    };
    let minute = 60 * SECOND;
    let zone = |begin: Nanos, end: Nanos| said.zone_of("7", (begin, end), None);
    assert_eq!(zone(14 * HOUR, 15 * HOUR - minute), Some(-2 * HOUR));
    assert_eq!(zone(7 * HOUR, 7 * HOUR + minute), Some(5 * HOUR));
    assert_eq!(zone(12 * HOUR, 13 * HOUR), None, "it is in UTC");
    let late = 12 * HOUR + 20 * minute;
    assert_eq!(zone(late, 13 * HOUR), None, "its first lines are missing");
    assert_eq!(
        zone(14 * HOUR, 17 * HOUR),
        None,
        "it is longer than the job"
    );
    assert_eq!(zone(14 * HOUR + 20 * minute, 15 * HOUR), None);
    // Accounting that names no zone is in another one than the program.
    let said = ClockReadings {
        jobs: job(12 * HOUR, 13 * HOUR),
        ..ClockReadings::default()
    };
    let zone = |begin: Nanos, by| said.zone_of("7", (begin, begin + 50 * minute), by);
    assert_eq!(zone(4 * HOUR + minute, None), Some(8 * HOUR));
    assert_eq!(zone(12 * HOUR, None), None, "it is in the same");
    assert_eq!(
        zone(12 * HOUR + 30 * minute, None),
        None,
        "it ends after the job"
    );
    // And of the controller it is known which one it is in.
    assert_eq!(zone(12 * HOUR, Some(-2 * HOUR)), Some(-2 * HOUR));
    assert_eq!(zone(10 * HOUR, Some(-2 * HOUR)), None, "it is in UTC");
    assert_eq!(zone(17 * HOUR, Some(-2 * HOUR)), Some(-7 * HOUR));
}

#[test]
fn what_does_not_agree_tells_nothing() {
    let said = ClockReadings {
        anchors: BTreeSet::from([-HOUR, -2 * HOUR]),
        ..ClockReadings::default()
    };
    assert_eq!(said.zone(), None);
    let said = ClockReadings {
        anchors: BTreeSet::from([-HOUR]),
        ..ClockReadings::default()
    };
    assert_eq!(said.zone(), Some(-HOUR));
}
