//! Every line once and in order, whatever the ties, pages and directions.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::server::{Entry, Rules, entry, labels, serve};
use crate::log_store::{
    LineFilter, LineQuery, LineSubject, LinesRead, LogStore as _, PodRef, Span,
};
use crate::loki::{Loki, LokiOptions};
use crate::time::{Nanos, SECOND};
use whathappened_loopback::Fake;

pub(super) const BASE: Nanos = 1_795_274_400 * SECOND;

pub(super) fn soon() -> Instant {
    Instant::now() + Duration::from_secs(60)
}

pub(super) fn loki(fake: &Fake, change: impl Fn(&mut LokiOptions)) -> Loki {
    let mut options = LokiOptions {
        address: Some(fake.url()),
        tries: 1,
        ..LokiOptions::default()
    };
    change(&mut options);
    Loki::new(options).unwrap()
}

pub(super) fn about(pods: &[&str]) -> LineSubject {
    let pod = |name: &&str| PodRef {
        namespace: Some("n".to_owned()),
        name: (*name).to_owned(),
    };
    LineSubject::Pods(pods.iter().map(pod).collect())
}

pub(super) fn query(about: LineSubject, span: Span) -> LineQuery {
    LineQuery {
        about,
        span,
        only: LineFilter::All,
        newest: false,
        limit: usize::MAX,
    }
}

fn plain(got: &LinesRead) -> Vec<(Nanos, String)> {
    got.lines
        .iter()
        .map(|line| (line.stamp.lo, line.text.clone()))
        .collect()
}

/// Numbers by chance, the same for the same seed (xorshift).
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end.max(1)
    }
}

const PODS: [&str; 5] = ["run-0", "run-1", "run-10", "run-2.x", "other"];

/// Lines of which many share a nanosecond, at most `ties` of one stream.
fn lines(chance: &mut Chance, ties: usize) -> Vec<Entry> {
    let count = chance.below(150);
    let times = 1 + chance.below(40);
    let mut tied: BTreeMap<(usize, Nanos), usize> = BTreeMap::new();
    let mut all = Vec::new();
    for number in 0..count {
        let pod = usize::try_from(chance.below(5)).unwrap();
        let slot = Nanos::try_from(chance.below(times)).unwrap();
        // Some a nanosecond apart, some hours.
        let at = BASE + slot + (slot % 3) * 3_600 * SECOND;
        let tie = tied.entry((pod, at)).or_default();
        if *tie >= ties {
            continue;
        }
        *tie += 1;
        let words = ["step", "an ERROR of", "Killed"][usize::try_from(number % 3).unwrap()];
        let stream = [("namespace", "n"), ("pod", PODS[pod]), ("job", "n/x")];
        let mut line = entry(at, &stream, &format!("{words} {number}"));
        if chance.below(2) == 0 {
            line.metadata = labels(&[("detected_level", "info")]);
        }
        all.push(line);
    }
    all
}

/// Those of the pods asked for, in order of time, each stream in its own order.
fn expected(all: &[Entry], keep: impl Fn(&Entry) -> bool) -> Vec<Entry> {
    let mut mine: Vec<Entry> = all
        .iter()
        .filter(|line| line.labels["pod"] != "other" && keep(line))
        .cloned()
        .collect();
    mine.sort_by(|a, b| (a.at, &a.labels).cmp(&(b.at, &b.labels)));
    mine
}

#[tokio::test]
async fn every_line_comes_once_and_in_order() {
    for seed in 1..=12 {
        let mut chance = Chance(0x9e37_79b9_7f4a_7c15 ^ (seed << 7));
        let cap = 1 + usize::try_from(chance.below(50)).unwrap();
        let all = lines(&mut chance, 2 * cap - 1);
        let rules = Rules {
            cap,
            merged: chance.below(4) == 0,
            longest: (chance.below(3) == 0).then_some(2 * 3_600 * SECOND),
            too_slow: (chance.below(3) == 0).then_some(1_800 * SECOND),
            ..Rules::default()
        };
        let merged = rules.merged;
        let fake = serve(all.clone(), rules);
        let loki = loki(&fake, |options| options.page = 1 + cap / 2);
        let span = Span {
            from: BASE,
            to: BASE + 9 * 3_600 * SECOND,
        };
        for newest in [false, true] {
            for only in [LineFilter::All, LineFilter::Significant] {
                let question = LineQuery {
                    only,
                    newest,
                    ..query(about(&PODS[..4]), span)
                };
                let got = loki.lines(&question, soon()).await.unwrap();
                let wanted = expected(&all, |line| {
                    only == LineFilter::All || !line.text.starts_with("step")
                });
                assert_eq!((got.cut, &got.partial), (false, &Vec::new()), "seed {seed}");
                let mut mine = plain(&got);
                let mut theirs: Vec<_> = wanted
                    .iter()
                    .map(|line| (line.at, line.text.clone()))
                    .collect();
                assert!(mine.is_sorted_by_key(|(at, _)| *at), "seed {seed}");
                if merged {
                    // Streams are split by what is merged into their labels.
                    mine.sort();
                    theirs.sort();
                }
                assert_eq!(
                    mine, theirs,
                    "seed {seed} newest {newest} {only:?} cap {cap}"
                );
            }
            let limit = 1 + usize::try_from(chance.below(60)).unwrap();
            let question = LineQuery {
                newest,
                limit,
                ..query(about(&PODS[..4]), span)
            };
            let got = loki.lines(&question, soon()).await.unwrap();
            let mut wanted: Vec<Nanos> = expected(&all, |_| true)
                .iter()
                .map(|line| line.at)
                .collect();
            assert_eq!(got.cut, wanted.len() > limit, "seed {seed}");
            if newest {
                wanted.drain(..wanted.len().saturating_sub(limit));
            } else {
                wanted.truncate(limit);
            }
            let times: Vec<Nanos> = got.lines.iter().map(|line| line.stamp.lo).collect();
            assert_eq!(times, wanted, "seed {seed} newest {newest} limit {limit}");
            let mut once = plain(&got);
            once.sort();
            once.dedup();
            assert_eq!(once.len(), got.lines.len(), "seed {seed}");
        }
    }
}

#[tokio::test]
async fn thousands_of_lines_of_many_streams() {
    let mut chance = Chance(7);
    let mut all = Vec::new();
    for number in 0..3_000 {
        let pod = PODS[usize::try_from(chance.below(4)).unwrap()];
        // A collector that cuts times to seconds.
        let at = BASE + Nanos::try_from(chance.below(30)).unwrap() * SECOND;
        let stream = [("namespace", "n"), ("pod", pod)];
        all.push(entry(at, &stream, &format!("line {number}")));
    }
    let fake = serve(
        all.clone(),
        Rules {
            cap: 70,
            ..Rules::default()
        },
    );
    let loki = loki(&fake, |_| {});
    let span = Span {
        from: BASE - SECOND,
        to: BASE + 60 * SECOND,
    };
    for newest in [false, true] {
        let question = LineQuery {
            newest,
            ..query(about(&PODS[..4]), span)
        };
        let got = loki.lines(&question, soon()).await.unwrap();
        assert_eq!(got.partial, Vec::<String>::new());
        let wanted: Vec<_> = expected(&all, |_| true)
            .into_iter()
            .map(|line| (line.at, line.text))
            .collect();
        assert_eq!(plain(&got), wanted);
    }
}

#[tokio::test]
async fn what_loki_cannot_tell_is_said_to_be_missing() {
    let stream = [("namespace", "n"), ("pod", "run-0")];
    let mut all: Vec<Entry> = (0..40)
        .map(|number| entry(BASE, &stream, &format!("tie {number:02}")))
        .collect();
    all.push(entry(BASE + 1, &stream, "after"));
    let fake = serve(
        all,
        Rules {
            cap: 10,
            ..Rules::default()
        },
    );
    let loki = loki(&fake, |_| {});
    let span = Span {
        from: BASE,
        to: BASE + SECOND,
    };
    let got = loki
        .lines(&query(about(&["run-0"]), span), soon())
        .await
        .unwrap();
    // From both ends, and what comes after is there.
    assert_eq!(got.lines.len(), 21);
    assert_eq!(got.lines[9].text, "tie 09");
    assert_eq!(got.lines[10].text, "tie 30");
    assert_eq!(got.lines[20].text, "after");
    assert!(
        got.partial.len() == 1 && got.partial[0].contains("are missing"),
        "{:?}",
        got.partial
    );
}
