//! The command line of the crucible.

#![expect(
    clippy::disallowed_macros,
    reason = "for developers: where nothing can be written, it may stop"
)]

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::Instant;

use clap::{Parser, Subcommand};
use whathappened_crucible::case;
use whathappened_crucible::judge::{ENDED, Tool};
use whathappened_crucible::observe::write_case;
use whathappened_crucible::perturb_folders::{Outcome, cases, perturb};
use whathappened_crucible::plan::draw;
use whathappened_crucible::run::{Options, Row, run};
use whathappened_crucible::shrink::shrink;
use whathappened_crucible::table;
use whathappened_crucible::truth::Seen;

/// A world is a million small pieces of JSON, made and dropped.
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// Simulates clusters that fail, writes what observers would have recorded, and judges
/// what the tool says about it.
#[derive(Debug, Parser)]
#[command(version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Writes the case of a seed: input/, truth.json and expect.json
    Make {
        /// The seed
        #[arg(long)]
        seed: u64,
        /// Folder to write to
        #[arg(short, long)]
        output: PathBuf,
        /// Print the plan instead of the truth
        #[arg(long)]
        plan: bool,
    },
    /// Judges the tool over many seeds
    Run {
        /// How many seeds
        #[arg(long, default_value_t = 200)]
        seeds: u64,
        /// The first seed
        #[arg(long, default_value_t = 1)]
        from_seed: u64,
        /// The tool's program
        #[arg(long)]
        tool: PathBuf,
        /// How many at a time
        #[arg(long, default_value_t = 2)]
        jobs: usize,
        /// A process for each question, even where the tool has `batch`
        #[arg(long)]
        one_shot: bool,
        /// Keep failing cases in this folder
        #[arg(long)]
        keep: Option<PathBuf>,
        /// List each failing question
        #[arg(long)]
        list: bool,
        /// Write what is said about all questions to this file, as JSON lines
        #[arg(long)]
        rows: Option<PathBuf>,
        /// Ask again with records shuffled and doubled, and with sources left out
        #[arg(long)]
        perturb: bool,
        /// Ask the same at several times instead: during, just after, when the Events are gone, after later deeds, and
        /// from a collector's store
        #[arg(long, conflicts_with = "perturb")]
        times: bool,
        /// Seeds that are known to fail, one a line with its reason; only others fail the run
        #[arg(long)]
        known: Option<PathBuf>,
        /// Seeds that were once judged falsely, one a line with its reason: asked as well, and one
        /// that is judged falsely again fails the run
        #[arg(long)]
        mended: Option<PathBuf>,
        /// Fail if a smaller part than this is right where a record names the cause
        #[arg(long, value_name = "PART")]
        floor: Option<f64>,
        /// Print only what fails a run and the sums
        #[arg(short, long)]
        quiet: bool,
    },
    /// Changes the records of cases that exist already and asks again
    Perturb {
        /// Folders of cases, or folders with such folders in them
        #[arg(required = true)]
        folders: Vec<PathBuf>,
        /// The tool's program
        #[arg(long)]
        tool: PathBuf,
        /// Where chance begins
        #[arg(long, default_value_t = 1)]
        seed: u64,
        /// A process for each question, even where the tool has `batch`
        #[arg(long)]
        one_shot: bool,
    },
    /// Makes the case of a failing seed as small as it can be
    Shrink {
        /// The seed
        #[arg(long)]
        seed: u64,
        /// The tool's program
        #[arg(long)]
        tool: PathBuf,
        /// Folder to write to
        #[arg(short, long)]
        output: PathBuf,
        /// A process for each question, even where the tool has `batch`
        #[arg(long)]
        one_shot: bool,
        /// Of the questions at several times
        #[arg(long)]
        times: bool,
    },
}

fn main() -> ExitCode {
    match start(Cli::parse().command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("crucible: {error}");
            ExitCode::from(2)
        }
    }
}

fn start(command: Command) -> std::io::Result<ExitCode> {
    match command {
        Command::Make { seed, output, plan } => {
            let drawn = draw(seed);
            let played = case::play(&drawn);
            if played.world.runaway {
                eprintln!("crucible: the world of seed {seed} never came to rest");
            }
            std::fs::create_dir_all(&output)?;
            let recorded = write_case(&played, &drawn.observe, &output)?;
            let text = if plan {
                serde_json::to_string_pretty(&drawn)
            } else {
                serde_json::to_string_pretty(&recorded.truth)
            };
            println!("{}", text.unwrap_or_default());
            Ok(ExitCode::SUCCESS)
        }
        Command::Perturb {
            folders,
            tool,
            seed,
            one_shot,
        } => {
            let scratch = scratch()?;
            let mut tool = Tool::new(&tool, one_shot);
            let mut outcome = Outcome::default();
            for case in cases(&folders)? {
                let found = perturb(&case, &mut tool, scratch.path(), seed)?;
                for one in &found.violations {
                    println!("{}: {}: {}: {}", one.case, one.change, one.ask, one.how);
                }
                for one in &found.wrong {
                    println!("not right as it stands: {one}");
                }
                outcome.add(found);
            }
            println!(
                "{} cases, {} questions of changed records: {} violations, {} weaker",
                outcome.cases,
                outcome.asked,
                outcome.violations.len(),
                outcome.weaker
            );
            Ok(if outcome.violations.is_empty() {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            })
        }
        Command::Shrink {
            seed,
            tool,
            output,
            one_shot,
            times,
        } => {
            let scratch = scratch()?;
            let options = Options {
                tool,
                seeds: vec![seed],
                jobs: 1,
                one_shot,
                keep: None,
                scratch: scratch.path().to_owned(),
                perturb: false,
                times,
            };
            print!("{}", shrink(&options.plan(seed), &options, &output)?);
            Ok(ExitCode::SUCCESS)
        }
        Command::Run {
            seeds,
            from_seed,
            tool,
            jobs,
            one_shot,
            keep,
            list,
            rows: to,
            perturb,
            times,
            known,
            mended,
            floor,
            quiet,
        } => {
            let scratch = scratch()?;
            let mended = listed(mended.as_deref())?;
            let range = from_seed..from_seed + seeds;
            let more = mended.iter().copied().filter(|seed| !range.contains(seed));
            let options = Options {
                tool,
                seeds: range.clone().chain(more).collect(),
                jobs,
                one_shot,
                keep,
                scratch: scratch.path().to_owned(),
                perturb,
                times,
            };
            let began = Instant::now();
            let asked = run(&options);
            let took = began.elapsed().as_secs_f64();
            // What is asked for old times' sake counts for nothing else.
            let again: BTreeSet<u64> = asked
                .iter()
                .filter(|row| mended.contains(&row.seed) && row.is_false())
                .map(|row| row.seed)
                .collect();
            let rows: Vec<Row> = asked
                .into_iter()
                .filter(|row| range.contains(&row.seed))
                .collect();
            if list {
                rows.iter().filter(|row| row.is_bad()).for_each(print_row);
            }
            if let Some(to) = to {
                let lines: Vec<String> = rows
                    .iter()
                    .filter_map(|row| serde_json::to_string(row).ok())
                    .collect();
                std::fs::write(to, lines.join("\n"))?;
            }
            let tables = if quiet { table::short } else { table::all };
            print!("{}", tables(&rows));
            println!(
                "{seeds} seeds in {took:.1} s, {:.0} a minute, {} questions",
                seeds as f64 * 60.0 / took.max(0.001),
                rows.len()
            );
            Ok(passes(&rows, &listed(known.as_deref())?, &again, floor))
        }
    }
}

/// The seeds of a file, one a line with a reason behind it.
fn listed(file: Option<&std::path::Path>) -> std::io::Result<BTreeSet<u64>> {
    let text = file.map_or_else(|| Ok(String::new()), std::fs::read_to_string)?;
    let seed = |line: &str| line.split_whitespace().next()?.parse().ok();
    Ok(text.lines().filter_map(seed).collect())
}

/// Whether a run may pass: nothing innocent is blamed at `established`, no invariant is broken
/// and the tool never ended, but for the seeds that are known; no mended seed is judged falsely
/// `again`; and enough of it is right.
fn passes(
    rows: &[Row],
    known: &BTreeSet<u64>,
    again: &BTreeSet<u64>,
    floor: Option<f64>,
) -> ExitCode {
    let bad = |how: &dyn Fn(&Row) -> bool| -> Vec<String> {
        let seeds: BTreeSet<u64> = rows
            .iter()
            .filter(|row| how(row))
            .map(|row| row.seed)
            .collect();
        seeds.difference(known).map(u64::to_string).collect()
    };
    let groups = [
        (
            "false blame at established",
            bad(&|row| row.judged.is_false_blame_at("established")),
        ),
        ("an invariant broken", bad(&|row| !row.broken.is_empty())),
        (
            "the tool's process ended",
            bad(&|row| row.judged.said == ENDED),
        ),
        (
            "false judgements that had been mended",
            again.iter().map(u64::to_string).collect(),
        ),
    ];
    let mut good = true;
    for (what, seeds) in groups.iter().filter(|(_, seeds)| !seeds.is_empty()) {
        good = false;
        println!("seeds with {what}: {}", seeds.join(" "));
    }
    let part = table::top_1(rows);
    if let Some(floor) = floor.filter(|&floor| part < floor) {
        good = false;
        println!("right where a record names the cause: {part:.3}, which is below {floor}");
    }
    if good {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}

/// In memory where that is possible.
fn scratch() -> std::io::Result<tempfile::TempDir> {
    tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir())
}

fn print_row(row: &Row) {
    let text: String = row.judged.said.chars().take(110).collect();
    let broken: Vec<String> = row
        .broken
        .iter()
        .map(|one| {
            format!(
                "({}) {}",
                one.which,
                one.how.chars().take(90).collect::<String>()
            )
        })
        .collect();
    // What the part that is right is of.
    let counts = row.main && row.broken_run && row.judged.seen == Seen::Named;
    println!(
        "seed {} {} [{}] {}{} -> {} · {} ({}), right: {}{} | {text} {}",
        row.seed,
        row.fault,
        row.observers,
        row.ask,
        match row.variant.as_str() {
            "" => String::new(),
            variant => format!(" ({variant})"),
        },
        row.judged.cause,
        row.judged.level,
        row.judged.verdict.name(),
        row.judged.right.join("|"),
        if counts { " (named)" } else { "" },
        broken.join("; ")
    );
}
