//! Classes of published failure studies, and the same records where they did no harm: drawn from a
//! stream of their own and for one seed in four, so that all others stay as they are. Which these
//! are was chosen so that none of `known.txt` and `mended.txt` was among them at the time.

use super::{Fault, Planned};
use crate::rng::Rng;
use crate::time::SEC;

/// What is drawn for a seed.
#[derive(Debug)]
pub(super) struct Classes {
    rng: Rng,
    /// Instead of the fault that the seed had.
    main: Option<Fault>,
    /// Beside whatever goes wrong.
    harmless: Option<Fault>,
}

/// One seed in four has a class, or what looks like one.
pub(super) fn draw(seed: u64) -> Classes {
    let mut rng = Rng::stream(seed, "classes");
    let (mut main, mut harmless) = (None, None);
    if matches!(seed % 8, 2 | 7) {
        if rng.chance(75) {
            main = rng.weighted(Fault::CLASSES);
        }
        // Most dangerous is what looks like a cause just before something else ends the run.
        if main.is_none() || rng.chance(30) {
            harmless = rng.pick(Fault::HARMLESS).copied();
        }
    }
    // Drawn apart from the rest, so that no other seed changes.
    if seed % 64 == 45 {
        main = Rng::stream(seed, "absent").pick(Fault::ABSENT).copied();
    }
    Classes {
        rng,
        main,
        harmless,
    }
}

impl Classes {
    /// The fault of the first workload, where the seed had this one.
    pub(super) fn fault(&mut self, before: Option<Fault>) -> Option<Fault> {
        if self.main.is_some() {
            return self.main;
        }
        // Now and then nothing else happens.
        if self.harmless.is_some() && self.rng.chance(30) {
            return self.harmless.take();
        }
        before
    }

    /// When a class begins; a run that becomes slow has a past to be measured against.
    pub(super) fn begin(&mut self, fault: Fault, at: i64) -> i64 {
        if fault.is_slow() || fault == Fault::LongPause {
            self.rng.secs(700, 1800)
        } else {
            at
        }
    }

    /// What looks like a cause: some minutes before the fault until just after it.
    pub(super) fn add(&mut self, faults: &mut Vec<Planned>) {
        let Some(fault) = self.harmless else { return };
        let at = faults.first().map_or(400 * SEC, |first| first.at);
        let apart = self.rng.secs(-240, 20);
        faults.push(Planned {
            fault,
            load: 0,
            at: (at + apart).max(60 * SEC),
        });
    }

    /// Whether Prometheus was asked as well.
    pub(super) fn metrics(&mut self, faults: &[Planned]) -> bool {
        let measured = |one: &Planned| {
            matches!(
                one.fault,
                Fault::CpuStarved | Fault::ThrottledAsUsual | Fault::SlowMachine
            )
        };
        let is_class = self.main.is_some() || self.harmless.is_some();
        if faults.iter().any(measured) {
            self.rng.chance(75)
        } else {
            is_class && self.rng.chance(25)
        }
    }
}
