//! A thread that ends the program where one input takes for ever, and says which.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::target::Damaged;

/// No inputs here take a tenth of that; CI's machines are slow, and others need them.
const LONGEST: Duration = Duration::from_mins(3);

/// What is being read.
#[derive(Debug, Default)]
struct Now {
    what: String,
    bytes: Vec<u8>,
    since: Option<Instant>,
    slowest: (u128, String),
}

/// Looks whether inputs come to an end.
#[derive(Clone, Debug)]
pub(crate) struct Watch(Arc<Mutex<Now>>);

impl Watch {
    /// Begins to look; what hangs is written to `keep`.
    pub(crate) fn start(keep: PathBuf) -> Self {
        let watch = Self(Arc::default());
        let seen = watch.clone();
        std::thread::spawn(move || {
            loop {
                std::thread::sleep(Duration::from_secs(1));
                seen.look(&keep);
            }
        });
        watch
    }

    fn with<T>(&self, act: impl FnOnce(&mut Now) -> T) -> T {
        act(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn look(&self, keep: &std::path::Path) {
        self.with(|now| {
            if now.since.is_none_or(|since| since.elapsed() < LONGEST) {
                return;
            }
            let file = keep.join("fuzz-hang");
            let kept = std::fs::write(&file, &now.bytes);
            let place =
                kept.map_or_else(|error| error.to_string(), |()| file.display().to_string());
            eprintln!("hang: {}: {place}", now.what);
            std::process::exit(4);
        });
    }

    pub(crate) fn begins(&self, what: &str, inputs: &[Damaged<'_>]) {
        self.with(|now| {
            what.clone_into(&mut now.what);
            now.bytes.clear();
            for input in inputs {
                now.bytes.extend_from_slice(&input.bytes);
                now.bytes.push(b'\n');
            }
            now.since = Some(Instant::now());
        });
    }

    pub(crate) fn ends(&self) {
        self.with(|now| {
            let took = now
                .since
                .take()
                .map_or(0, |since| since.elapsed().as_millis());
            if took > now.slowest.0 {
                now.slowest = (took, now.what.clone());
            }
        });
    }

    pub(crate) fn slowest(&self) -> (u128, String) {
        self.with(|now| now.slowest.clone())
    }
}
