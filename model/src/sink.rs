//! Where readers and live sources put what they decode.

use crate::observation::Observation;

/// Takes what was read.
pub trait Sink {
    /// Called with every batch's observations, in reading order.
    fn observe(&mut self, observations: Vec<Observation>);

    /// Bytes read so far as they lie on disk, and how many there are if known.
    fn progress(&mut self, done: u64, total: Option<u64>) {
        let _ = (done, total);
    }
}

/// Keeps everything, in order.
impl Sink for Vec<Observation> {
    fn observe(&mut self, observations: Vec<Observation>) {
        self.extend(observations);
    }
}
