//! What the tool has learnt since the other classes were drawn, and several faults that befall one run: drawn from streams of
//! their own, for seeds that none of `known.txt` and `mended.txt` is among, and for all from twenty million on.

use super::{Cloud, Fault, Load, LoadKind, Planned};
use crate::rng::Rng;
use crate::time::SEC;

/// From here on every seed is one of these.
const ALL_FROM: u64 = 20_000_000;

/// What a seed is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// As it was.
    Other,
    /// It has a recent class.
    Recent,
    /// Several faults befall its run.
    Several,
}

fn kind(seed: u64) -> Kind {
    match seed % 64 {
        at if seed >= ALL_FROM => [Kind::Recent, Kind::Several][usize::from(at % 2 == 1)],
        1 | 8 | 12 | 19 | 33 | 40 => Kind::Recent,
        9 | 14 | 38 | 46 | 52 | 57 => Kind::Several,
        _ => Kind::Other,
    }
}

/// Whether a seed is drawn here.
#[must_use]
pub fn is_recent(seed: u64) -> bool {
    kind(seed) != Kind::Other
}

/// How the faults of one run lie to each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Order {
    /// It survives one, and later another comes.
    Survived,
    /// Both come within a minute or so.
    Overlapping,
    /// Beside one there is what only looks like one, on another machine or without harm.
    LookAlike,
}

/// What is drawn for a seed.
#[derive(Debug)]
pub(super) struct Recent {
    rng: Rng,
    kind: Kind,
    order: Order,
    main: Option<Fault>,
}

pub(super) fn draw(seed: u64) -> Recent {
    let mut rng = Rng::stream(seed, "recent");
    let kind = kind(seed);
    let order = rng.weighted(&[
        (Order::Survived, 45),
        (Order::Overlapping, 35),
        (Order::LookAlike, 20),
    ]);
    let main = match kind {
        Kind::Other => None,
        Kind::Recent => rng.weighted(Fault::RECENT),
        Kind::Several => rng.pick(Fault::OF_SEVERAL).copied(),
    };
    Recent {
        rng,
        kind,
        order: order.unwrap_or(Order::Survived),
        main,
    }
}

impl Recent {
    /// The fault of the first workload.
    pub(super) fn fault(&self, before: Option<Fault>) -> Option<Fault> {
        self.main.or(before)
    }

    /// When it begins; what becomes slow has a past to be measured against.
    pub(super) fn begin(&mut self, at: i64) -> i64 {
        match self.main {
            Some(fault) if fault.is_of_ranks() => self.rng.secs(700, 1800),
            _ => at,
        }
    }

    /// The others of several, and how often the workload is tried again.
    pub(super) fn add(&mut self, faults: &mut Vec<Planned>, loads: &mut [Load], cloud: Cloud) {
        let Some(first) = faults.first().filter(|_| self.kind == Kind::Several) else {
            return;
        };
        let (mut at, mut count) = (first.at, 1);
        match self.order {
            Order::Survived => {
                for _ in 0..self.rng.range(1, 2) {
                    // Long enough to be made anew and to train, where it is.
                    at += self.rng.secs(300, 1500);
                    faults.extend(self.one(at, cloud));
                    count += 1;
                }
                if let Some(load) = loads.first_mut() {
                    tried_again(&mut self.rng, load, count);
                }
            }
            Order::Overlapping => {
                let apart = self.rng.secs(-80, 80);
                faults.extend(self.one((at + apart).max(60 * SEC), cloud));
            }
            Order::LookAlike => {
                let alike = [
                    Fault::XidElsewhere,
                    Fault::TaintElsewhere,
                    Fault::DrainOfFinished,
                    Fault::NodeBlip,
                    Fault::LinkBlip,
                    Fault::ShortLockup,
                    Fault::RowsRemapped,
                    Fault::Warned,
                    Fault::RuntimeBlip,
                    Fault::KubeletBlip,
                ];
                let apart = self.rng.secs(-120, 30);
                faults.extend(self.rng.pick(&alike).map(|&fault| Planned {
                    fault,
                    load: 0,
                    at: (at + apart).max(60 * SEC),
                }));
            }
        }
    }

    fn one(&mut self, at: i64, cloud: Cloud) -> Option<Planned> {
        let fault = *self.rng.pick(Fault::OF_SEVERAL)?;
        if fault.is_of_clouds() && cloud == Cloud::OnPrem {
            return None;
        }
        Some(Planned { fault, load: 0, at })
    }
}

/// A workload that is tried again as often as it has to be, mostly; the last of its faults then ends it.
fn tried_again(rng: &mut Rng, load: &mut Load, faults: u32) {
    if matches!(load.kind, LoadKind::Job | LoadKind::JobSet) {
        load.retries = if rng.chance(65) { faults - 1 } else { 4 };
    }
}
