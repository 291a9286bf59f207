use super::*;

/// A log with a line every ten steps; each stretch has so many lines at so many seconds a step.
fn lines(stretches: &[(usize, f64)]) -> Vec<Point> {
    let (mut time, mut step) = (0.0, 0);
    let mut points = vec![Point {
        time: 0,
        step: 0,
        row: EvidenceRow::at(0).unwrap(),
        rate: None,
        rank: None,
        own: OwnTimes::default(),
    }];
    for (lines, seconds) in stretches {
        for _ in 0..*lines {
            step += 10;
            time += seconds * 10.0;
            let row = EvidenceRow::at(points.len()).unwrap();
            points.push(Point {
                time: (time * 1e9) as Nanos,
                step,
                row,
                rate: None,
                rank: None,
                own: OwnTimes::default(),
            });
        }
    }
    points
}

fn pace_of(points: impl IntoIterator<Item = Point>) -> Pace {
    let mut pace = Pace::default();
    for point in points {
        pace.add(point);
    }
    pace
}

fn log(stretches: &[(usize, f64)]) -> Pace {
    pace_of(lines(stretches))
}

#[test]
fn a_run_that_became_slow_is_told_with_the_step() {
    let slow = log(&[(40, 1.2), (30, 4.1)]).slowdown().unwrap();
    assert_eq!(slow.after, 400);
    assert_eq!(slow.begin, 480 * SECOND);
    assert_eq!(
        slow.words(),
        "a step took 1.20 s until step 400 and 4.10 s since"
    );
}

#[test]
fn a_run_that_was_slow_for_most_of_its_time_is_told() {
    // Looked at hours later, nine of ten of its paces are slow ones.
    let slow = log(&[(20, 1.2), (300, 3.5)]).slowdown().unwrap();
    assert_eq!((slow.after, slow.begin), (200, 240 * SECOND));
    let shortest = log(&[(ENOUGH, 1.2), (300, 3.5)]).slowdown().unwrap();
    assert_eq!(shortest.after, 100);
    let over = log(&[(20, 1.2), (300, 3.5), (12, 1.2)]).passed().unwrap();
    assert_eq!((over.after, over.until), (200, Some(3_200)));
}

#[test]
fn what_is_usual_is_no_slowdown() {
    for (name, stretches) in [
        ("steady", vec![(200, 1.2)]),
        ("compiling first", vec![(3, 30.0), (100, 1.2)]),
        ("an evaluation", vec![(50, 1.2), (1, 60.0), (50, 1.2)]),
        ("checkpoints", [(10, 1.2), (1, 6.0)].repeat(12)),
        ("slow for a while", vec![(40, 1.2), (30, 4.0), (20, 1.2)]),
        ("slow for a moment at the end", vec![(100, 1.2), (4, 9.0)]),
        ("a little slower", vec![(100, 1.2), (100, 1.4)]),
        ("too short to tell", vec![(5, 1.2), (40, 4.0)]),
    ] {
        assert_eq!(log(&stretches).slowdown(), None, "{name}");
    }
}

#[test]
fn a_slowdown_that_is_over_is_told_with_its_end() {
    let log = log(&[(40, 1.2), (30, 4.0), (20, 1.2)]);
    let slow = log.passed().unwrap();
    assert_eq!((slow.after, slow.until), (400, Some(700)));
    assert_eq!((slow.begin, slow.end), (480 * SECOND, 1_680 * SECOND));
    assert_eq!(
        slow.words(),
        "a step took 1.20 s until step 400, 4.00 s from then to step 700, and about 1.20 s again after that"
    );
}

#[test]
fn what_is_usual_and_what_goes_on_is_no_slowdown_that_is_over() {
    for (name, stretches) in [
        ("steady", vec![(200, 1.2)]),
        ("an evaluation", vec![(50, 1.2), (1, 600.0), (50, 1.2)]),
        ("checkpoints", [(10, 1.2), (1, 60.0)].repeat(12)),
        ("it goes on", vec![(40, 1.2), (60, 4.0)]),
        ("too short", vec![(40, 1.2), (8, 3.0), (40, 1.2)]),
        (
            "half as fast again ever since",
            vec![(40, 1.2), (20, 4.0), (40, 1.8)],
        ),
    ] {
        assert_eq!(log(&stretches).passed(), None, "{name}");
    }
}

#[test]
fn what_is_kept_does_not_depend_on_the_order_of_lines() {
    let lines = lines(&[(3000, 1.0), (3000, 3.0)]);
    let forward = pace_of(lines.iter().copied());
    let backward = pace_of(lines.iter().rev().copied());
    assert!(forward.points.len() <= MOST_STEPS);
    assert_eq!(forward.slowdown(), backward.slowdown());
    let after = forward.slowdown().unwrap().after;
    assert!((29_000..=30_000).contains(&after), "{after}");
}

#[test]
fn steps_that_are_counted_anew_tell_nothing_of_the_time_between() {
    let mut pace = log(&[(60, 1.0)]);
    for line in 0..60 {
        let time = (5_000 + line * 10) * SECOND;
        pace.add(Point {
            time,
            step: line * 10,
            row: EvidenceRow::at(900).unwrap(),
            rate: None,
            rank: None,
            own: OwnTimes::default(),
        });
    }
    assert_eq!(pace.slowdown(), None);
}

#[test]
fn a_log_whose_throughput_stays_pauses_between_its_steps() {
    let rated = |late: u64| {
        let lines = lines(&[(40, 1.2), (30, 4.1)]);
        let rate = |step| Some(if step <= 400 { 98_000 } else { late });
        let points = lines.into_iter().map(|point| Point {
            rate: rate(point.step),
            ..point
        });
        pace_of(points).slowdown()
    };
    assert_eq!(rated(97_000), None);
    assert!(rated(30_000).is_some());
}
