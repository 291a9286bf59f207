//! Damaged recordings through every decoder: nothing may panic, and nothing may hang.
//!
//! `fuzz --runs 20000 --seed 1` takes the repository's own recordings, damages each in
//! the ways that its structure offers (`mutate`) and gives it to what reads such things
//! (`target`). A run depends on the seed and its number alone: `--seed 1 --first 4711
//! --runs 1` is the 4,711th of these again, on any machine. What broke is written to
//! a file; `--replay FILE` reads it once more.

#![expect(
    clippy::disallowed_macros,
    reason = "for developers: where nothing can be written, it may stop"
)]

mod corpus;
mod mutate;
mod target;
mod watch;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::Parser;
use whathappened_crucible::rng::Rng;

use self::corpus::Recording;
use self::target::Targets;
use self::watch::Watch;

/// Damages recordings and reads them
#[derive(Debug, Parser)]
struct Args {
    /// How many damaged inputs to read.
    #[arg(long, default_value_t = 5_000)]
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
    let targets = Targets::new()?;
    if let Some(file) = &args.replay {
        let bytes = std::fs::read(file).map_err(|error| format!("{}: {error}", file.display()))?;
        targets.read(&file.to_string_lossy(), &bytes);
        println!("{} was read", file.display());
        return Ok(true);
    }
    let corpus = corpus::load(&args.corpus)?;
    if corpus.is_empty() {
        return Err("there are no recordings to damage".to_owned());
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
        "{} damaged inputs of {} recordings in {:.0} s: {broken} panics, the slowest took {} ms ({})",
        args.runs,
        corpus.len(),
        begun.elapsed().as_secs_f64(),
        slowest.0,
        slowest.1
    );
    Ok(broken == 0)
}

/// What one thread saw.
#[derive(Debug, Default)]
struct Part {
    broken: u64,
    slowest: (u128, String),
}

/// Every `of`th run from the `job`th on: which thread reads an input changes nothing of it.
fn part(args: &Args, (job, of): (u64, u64), targets: &Targets, corpus: &[Recording]) -> Part {
    let watch = Watch::start(args.keep.clone());
    let mut broken = 0_u64;
    let end = args.first.saturating_add(args.runs);
    for number in (args.first.saturating_add(job)..end).step_by(usize::try_from(of).unwrap_or(1)) {
        let mut rng = Rng::stream(args.seed, &format!("fuzz {number}"));
        let Some(seed) = rng.pick(corpus) else {
            break;
        };
        let bytes = mutate::damaged(seed.part(&mut rng), corpus, &mut rng);
        let what = format!("seed {} run {number} of {}", args.seed, seed.name);
        watch.begins(&what, &bytes);
        let done = catch_unwind(AssertUnwindSafe(|| targets.read(&seed.name, &bytes)));
        watch.ends();
        if done.is_err() {
            broken += 1;
            let file = args.keep.join(format!("fuzz-{}-{number}", args.seed));
            let kept = std::fs::write(&file, &bytes);
            let place =
                kept.map_or_else(|error| error.to_string(), |()| file.display().to_string());
            eprintln!("panic: {what}: {place}");
        }
    }
    Part {
        broken,
        slowest: watch.slowest(),
    }
}
