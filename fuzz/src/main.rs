//! Damaged recordings through every decoder: nothing may panic, and nothing may hang.
//!
//! `fuzz --runs 200000 --seed 1` takes records of the repository's own recordings, damages
//! each in the ways that its structure offers (`mutate`) and gives it to what reads such
//! things (`target`), some together as the files of one folder. A run depends on the seed
//! and its number alone: `--seed 1 --first 4711 --runs 1` is the 4,711th of these again,
//! on any machine. What broke is written to a file; `--replay FILE` reads it once more.

#![expect(
    clippy::disallowed_macros,
    reason = "for developers: where nothing can be written, it may stop"
)]

mod corpus;
mod mutate;
mod panics;
mod target;
mod watch;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use tikv_jemallocator::Jemalloc;
use whathappened_crucible::rng::Rng;

use self::corpus::Recording;
use self::target::{Counts, Damaged, Targets};
use self::watch::Watch;

/// Of so many of these readings one is tied together.
const TIED: u64 = 8;

// What is allocated by one thread and freed by another is what reading does.
#[global_allocator]
static ALLOCATOR: Jemalloc = Jemalloc;

/// So many inputs are read together: what a reading costs of itself is paid once for all.
const TOGETHER: usize = 64;

/// Damages recordings and reads them
#[derive(Debug, Parser)]
struct Args {
    /// How many damaged inputs to read.
    #[arg(long, default_value_t = 200_000)]
    runs: u64,
    /// What all chance comes from.
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// The number of the first run.
    #[arg(long, default_value_t = 0)]
    first: u64,
    /// How many inputs are read at once.
    #[arg(long, default_value_t = 1)]
    jobs: u64,
    /// Folders of recordings; the repository's own where none is named.
    #[arg(long = "corpus", value_name = "FOLDER")]
    corpus: Vec<PathBuf>,
    /// Where an input that broke something is written.
    #[arg(long, value_name = "FOLDER", default_value = "/tmp")]
    keep: PathBuf,
    /// Write the damaged inputs to this folder instead of reading them.
    #[arg(long, value_name = "FOLDER")]
    write: Option<PathBuf>,
    /// Read this file once, as it is, instead.
    #[arg(long, value_name = "FILE")]
    replay: Option<PathBuf>,
}

fn main() -> ExitCode {
    match run(&Args::parse()) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(4),
        Err(why) => {
            eprintln!("error: {why}");
            ExitCode::from(2)
        }
    }
}

/// Runs all; whether nothing broke.
fn run(args: &Args) -> Result<bool, String> {
    panics::watch();
    let targets = Targets::new()?;
    if let Some(file) = &args.replay {
        let bytes = std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
        let name = &file.to_string_lossy();
        targets.read(&[Damaged { name, bytes }], true, &mut Counts::new());
        println!("{} was read", file.display());
        return Ok(panics::seen() == 0);
    }
    let corpus = corpus::load(&args.corpus)?;
    if corpus.is_empty() {
        return Err("there are no recordings to damage".to_owned());
    }
    if let Some(folder) = &args.write {
        for number in args.first..args.first.saturating_add(args.runs) {
            let Some(input) = damaged(args.seed, number, &corpus) else {
                break;
            };
            let file = folder.join(format!("{number}-{}", input.name.replace('/', "_")));
            std::fs::write(&file, &input.bytes)
                .map_err(|error| format!("{}: {error}", file.display()))?;
        }
        return Ok(true);
    }
    let jobs = args.jobs.max(1);
    let begun = Instant::now();
    let parts: Vec<Part> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..jobs)
            .map(|job| {
                let (targets, corpus) = (&targets, &corpus);
                scope.spawn(move || part(args, (job, jobs), targets, corpus))
            })
            .collect();
        let done = workers.into_iter().map(std::thread::ScopedJoinHandle::join);
        done.map(Result::unwrap_or_default).collect()
    });
    let broken: u64 = parts.iter().map(|part| part.broken).sum();
    let slowest = parts.iter().map(|part| &part.slowest).max();
    let slowest = slowest.cloned().unwrap_or_default();
    println!(
        "{} damaged inputs of {} recordings in {:.0} s: {broken} broke something, the slowest {TOGETHER} took {} ms ({})",
        args.runs,
        corpus.len(),
        begun.elapsed().as_secs_f64(),
        slowest.0,
        slowest.1
    );
    let mut counts = Counts::new();
    for part in &parts {
        for (what, count) in &part.counts {
            *counts.entry(what.clone()).or_default() += count;
        }
    }
    for (what, count) in counts {
        println!("  {count:>12}  {what}");
    }
    Ok(broken == 0)
}

/// What one thread saw.
#[derive(Debug, Default)]
struct Part {
    broken: u64,
    slowest: (u128, String),
    counts: Counts,
}

/// Every `of`th batch from the `job`th on: which thread reads an input changes nothing of it.
fn part(args: &Args, (job, of): (u64, u64), targets: &Targets, corpus: &[Recording]) -> Part {
    let watch = Watch::start(args.keep.clone());
    let mut part = Part::default();
    let end = args.first.saturating_add(args.runs);
    let step = TOGETHER as u64;
    let mut from = args.first.saturating_add(job * step);
    while from < end {
        let numbers = from..end.min(from + step);
        let inputs: Vec<Damaged<'_>> = numbers
            .clone()
            .filter_map(|number| damaged(args.seed, number, corpus))
            .collect();
        let what = format!("seed {} runs from {from}", args.seed);
        watch.begins(&what, &inputs);
        let is_tied = (from / step).is_multiple_of(TIED);
        let is_broken = breaks(targets, &inputs, is_tied, &mut part.counts);
        watch.ends();
        if is_broken {
            let mut alone = 0;
            for (number, input) in numbers.zip(&inputs) {
                let one = std::slice::from_ref(input);
                if breaks(targets, one, is_tied, &mut Counts::new()) {
                    alone += 1;
                    keep(args, &format!("{number}"), input);
                }
            }
            if alone == 0 {
                // Only together: all of them are needed.
                eprintln!("panic: {what}, and none of these {step} alone");
            }
            part.broken += alone.max(1);
        }
        from = from.saturating_add(step * of);
    }
    part.slowest = watch.slowest();
    part
}

/// The input of a number; `None` where there is nothing to damage.
fn damaged(seed: u64, number: u64, corpus: &[Recording]) -> Option<Damaged<'_>> {
    let mut rng = Rng::stream(seed, &format!("fuzz {number}"));
    let recording = rng.pick(corpus)?;
    let bytes = mutate::damaged(recording.taken(&mut rng), corpus, &mut rng);
    let name = &recording.name;
    Some(Damaged { name, bytes })
}

/// Whether something panics over these, caught or not.
fn breaks(targets: &Targets, inputs: &[Damaged<'_>], is_tied: bool, counts: &mut Counts) -> bool {
    let before = panics::seen();
    let done = catch_unwind(AssertUnwindSafe(|| targets.read(inputs, is_tied, counts)));
    done.is_err() || panics::seen() != before
}

/// Writes an input that broke something, and says where it is.
fn keep(args: &Args, number: &str, input: &Damaged<'_>) {
    let file = args.keep.join(format!("fuzz-{}-{number}", args.seed));
    let kept = std::fs::write(&file, &input.bytes);
    let place = kept.map_or_else(|error| error.to_string(), |()| file.display().to_string());
    eprintln!("panic: run {number} of {}: {place}", input.name);
}
