//! One thread reads, some decode, and the caller's takes the results in reading order.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

use super::batch::BatchResult;
use super::budget::Budget;
use super::feed::Feed;
use super::inputs;
use super::summary::Summary;
use super::work::{self, Decode};
use crate::contract::{Input, Options};
use crate::sink::Sink;

/// Batches that wait for one worker; bounds what is in memory.
const QUEUE: usize = 8;

/// How often progress is told at least.
const TICK: Duration = Duration::from_millis(100);

/// Reads everything in `inputs`. Trouble is in the summary, never fatal.
pub fn read(inputs: &[Input], options: &Options, sink: &mut dyn Sink) -> Summary {
    read_with(inputs, options, &crate::kubernetes::decode, sink)
}

/// The same with another decoder for JSON records.
pub fn read_with(
    inputs: &[Input],
    options: &Options,
    decode: &Decode<'_>,
    sink: &mut dyn Sink,
) -> Summary {
    let progress = Arc::new(AtomicU64::new(0));
    let total = inputs::size(inputs);
    let mut summary = Summary::default();
    thread::scope(|scope| {
        let (done_to, done_from) = sync_channel::<BatchResult>(QUEUE);
        let mut workers = Vec::new();
        for _ in 0..options.workers.max(1) {
            let (to, from) = sync_channel(QUEUE);
            let done_to = done_to.clone();
            scope.spawn(move || work::run(&from, &done_to, options, decode));
            workers.push(to);
        }
        drop(done_to);
        let counted = Arc::clone(&progress);
        let enough = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&enough);
        let reader = scope.spawn(move || {
            let mut feed = Feed::new(inputs, options, workers, stopped);
            inputs::read(inputs, &counted, &mut feed);
            feed.finish()
        });

        // Workers finish in any order; putting the batches back in order makes
        // everything after this point deterministic. What waits is bounded by
        // the queues.
        let mut waiting = BTreeMap::new();
        let mut room = options.max_weight.map(Budget::new);
        let mut next = 0;
        loop {
            match done_from.recv_timeout(TICK) {
                Ok(done) => {
                    waiting.insert(done.seq, done);
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => break,
            }
            while let Some(mut done) = waiting.remove(&next) {
                next += 1;
                if let Some(room) = &mut room {
                    let fit = room.take(&done.observations);
                    if fit < done.observations.len() {
                        // Those before come in order, so the same are left out each time.
                        done.observations.truncate(fit);
                        enough.store(true, Ordering::Relaxed);
                    }
                }
                summary.add(done.file, &done.name, done.tally, options.rejected_kept);
                if !done.observations.is_empty() {
                    sink.observe(done.observations);
                }
            }
            sink.progress(progress.load(Ordering::Relaxed), total);
        }
        match reader.join() {
            Ok(files) => summary.finish(files),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    });
    summary
}
