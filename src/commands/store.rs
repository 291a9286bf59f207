//! `whathappened store`

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Subcommand;
use datafusion::arrow::array::{ArrayRef, RecordBatch, StringArray};
use whathappened_connectors::terminal;
use whathappened_connectors::time::rfc3339;
use whathappened_store::{Limits, Status, Store};

use super::{clock, common, settings};
use crate::cli::{KeptArgs, OutputArgs};
use crate::config::{parse_duration, parse_size};
use crate::error::Error;
use crate::render;

/// Looks after the store: what is in it, compaction, retention
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// What to do.
    #[command(subcommand)]
    pub what: What,
}

/// What can be done with a store.
#[derive(Clone, Debug, Subcommand)]
pub enum What {
    /// Shows how much is kept, and from when to when
    Status {
        #[command(flatten)]
        kept: KeptArgs,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Reads everything that is kept and says what is damaged; changes nothing
    Verify {
        #[command(flatten)]
        kept: KeptArgs,
    },
    /// Makes the list anew from the segments where it is lost, and saves what can be
    /// read of damaged ones; deletes nothing
    Repair {
        #[command(flatten)]
        kept: KeptArgs,
    },
    /// Copies the whole store to an empty folder while others go on writing, and reads
    /// the copy to its end
    Backup {
        /// Where to; empty, or not there.
        #[arg(value_name = "FOLDER")]
        to: PathBuf,
        #[command(flatten)]
        kept: KeptArgs,
    },
    /// Gives up a damaged segment whose rows nobody can bring back; its file stays until
    /// retention removes it
    Forget {
        /// Its name, as `store status` tells it.
        #[arg(value_name = "SEGMENT")]
        file: String,
        #[command(flatten)]
        kept: KeptArgs,
    },
    /// Makes few large segments of many small ones
    Compact {
        #[command(flatten)]
        kept: KeptArgs,
    },
    /// Brings an object store up to date: s3://bucket/folder, gs://…, az://… or file:///…
    ///
    /// What waits is written to segments first. Others ask it with
    /// `whathappened sql --store URL`; Spark, Trino and DuckDB read the files.
    #[cfg(feature = "object-store")]
    Push {
        /// Where to.
        #[arg(value_name = "URL")]
        url: String,
        #[command(flatten)]
        kept: KeptArgs,
    },
    /// Removes what was stored too long ago, then the oldest until the rest is small enough
    Retain {
        #[command(flatten)]
        kept: KeptArgs,
        /// How long ago things may have been stored, such as 90d; the configuration's by default.
        #[arg(long, value_name = "TIME")]
        max_age: Option<String>,
        /// How much room they may take, such as 50GiB; the configuration's by default.
        #[arg(long, value_name = "SIZE")]
        max_size: Option<String>,
    },
}

/// Does it.
///
/// # Errors
/// When the store cannot be used.
pub async fn run(args: &Args) -> Result<(), Error> {
    match &args.what {
        #[cfg(feature = "object-store")]
        What::Push { url, kept } => push(url, kept).await,
        What::Status { kept, output } => status(kept, output),
        What::Verify { kept } => verify(kept),
        What::Repair { kept } => repair(kept),
        What::Backup { to, kept } => backup(to, kept),
        What::Forget { file, kept } => forget(file, kept),
        What::Compact { kept } => compact(kept),
        What::Retain {
            kept,
            max_age,
            max_size,
        } => retain(kept, max_age.as_deref(), max_size.as_deref()),
    }
}

fn status(kept: &KeptArgs, output: &OutputArgs) -> Result<(), Error> {
    let config = settings::of_store(kept)?;
    let store = Store::open_to_read(&config.store_path()?)?;
    let status = store.status()?;
    let rows = lines(&store, &status);
    let what: StringArray = rows.iter().map(|(what, _)| Some(*what)).collect();
    let value: StringArray = rows.iter().map(|(_, value)| Some(value.as_str())).collect();
    let batch = RecordBatch::try_from_iter([
        ("what", Arc::new(what) as ArrayRef),
        ("value", Arc::new(value)),
    ])
    .map_err(datafusion::error::DataFusionError::from)?;
    let style = common::style(output);
    let out = &mut std::io::stdout().lock();
    render::rows(&batch.schema(), &[batch], output.format, &style, out)?;
    if status.is_well() {
        return Ok(());
    }
    Err(Error::Damaged(format!(
        "{}: {} damaged{}",
        store.root().display(),
        count(status.damaged.len(), "segment"),
        if status.database.is_empty() {
            ""
        } else {
            ", and the database"
        }
    )))
}

fn lines(store: &Store, status: &Status) -> Vec<(&'static str, String)> {
    let time = |at: Option<i64>| at.map_or_else(String::new, rfc3339);
    let mut lines = vec![
        ("folder", store.root().display().to_string()),
        ("format", whathappened_store::FORMAT.to_string()),
        ("facts", status.facts.to_string()),
        ("object versions", status.versions.to_string()),
        ("not yet in segments", status.hot.to_string()),
        ("pods and workloads", status.entities.to_string()),
        ("incidents", status.incidents.to_string()),
        ("from", time(status.from)),
        ("to", time(status.to)),
        ("days", status.days.to_string()),
        ("segments", status.segments.to_string()),
        ("segment bytes", status.segment_bytes.to_string()),
        ("database bytes", status.database_bytes.to_string()),
    ];
    lines.extend(
        status
            .damaged
            .iter()
            .map(|one| ("damaged", one.to_string())),
    );
    lines.extend(
        status
            .database
            .iter()
            .map(|said| ("damaged", format!("store.db: {said}"))),
    );
    lines.extend(status.hint().map(|hint| ("what to do", hint.to_owned())));
    lines
}

fn verify(kept: &KeptArgs) -> Result<(), Error> {
    let config = settings::of_store(kept)?;
    let store = Store::open_to_read(&config.store_path()?)?;
    let verified = store.verify(&mut |_| {})?;
    for (file, why) in &verified.damaged {
        println!("{file}: damaged: {why}");
    }
    for file in &verified.unknown {
        println!("{file}: not on the store's list");
    }
    for said in &verified.database {
        println!("store.db: {said}");
    }
    println!(
        "{} segments with {} rows are what was written{}.",
        verified.segments,
        verified.rows,
        match verified.unchecked {
            0 => String::new(),
            some => format!("; {some} of them are older than checksums and only decode"),
        }
    );
    if verified.is_well() {
        return Ok(());
    }
    Err(Error::Damaged(format!(
        "{}: {} damaged, {} not on the list",
        store.root().display(),
        count(verified.damaged.len(), "segment"),
        count(verified.unknown.len(), "segment"),
    )))
}

fn count(number: usize, what: &str) -> String {
    format!("{number} {what}{}", if number == 1 { "" } else { "s" })
}

fn repair(kept: &KeptArgs) -> Result<(), Error> {
    let config = settings::of_store(kept)?;
    let path = config.store_path()?;
    let mut say = |file: &str| tracing::debug!("reading {file}");
    let done = whathappened_store::repair(&path, config.limits(), clock::now(), &mut say)?;
    match &done.list {
        Some(old) => println!(
            "The list was damaged and is made anew; what was there of it is kept as {old}."
        ),
        None if done.is_anew => println!("The list was lost and is made anew."),
        None => {}
    }
    println!(
        "{} with {} rows were put on the list.",
        count(
            usize::try_from(done.listed).unwrap_or(usize::MAX),
            "segment"
        ),
        done.rows
    );
    if done.renewed > 0 {
        println!(
            "{} written anew: their texts had been redacted under fewer rules.",
            count(
                usize::try_from(done.renewed).unwrap_or(usize::MAX),
                "segment"
            )
        );
    }
    for (file, saved, of) in &done.damaged {
        println!("{file}: damaged; {saved} of its {of} rows were saved.");
    }
    for file in &done.back {
        println!("{file}: all of its rows are back.");
    }
    Ok(())
}

fn backup(to: &Path, kept: &KeptArgs) -> Result<(), Error> {
    let config = settings::of_store(kept)?;
    let mut say = |file: &str| tracing::debug!("copying {file}");
    let done = whathappened_store::backup(&config.store_path()?, to, &mut say)?;
    println!(
        "{} segments, {} bytes, copied to {} and read to the end.",
        done.segments,
        done.bytes,
        terminal::line(&to.to_string_lossy())
    );
    if done.verified.is_well() {
        return Ok(());
    }
    Err(Error::Damaged(format!(
        "{}: {} damaged as in the store itself; whathappened store repair saves what can be read there",
        to.display(),
        count(done.verified.damaged.len(), "segment"),
    )))
}

fn forget(file: &str, kept: &KeptArgs) -> Result<(), Error> {
    let config = settings::of_store(kept)?;
    let path = config.store_path()?;
    let mut store = existing(&path, config.limits())?;
    if store.forget_damaged(file, clock::now())? {
        println!("{}: given up.", terminal::line(file));
        return Ok(());
    }
    Err(Error::Usage(format!(
        "{file}: no damaged segment of that name was set aside; whathappened store status lists them"
    )))
}

/// A store that is there, to be written; what is not there is not to be made.
fn existing(path: &Path, limits: Limits) -> Result<Store, Error> {
    drop(Store::open_to_read(path)?);
    Ok(Store::open(path, limits)?)
}

fn compact(kept: &KeptArgs) -> Result<(), Error> {
    let config = settings::of_store(kept)?;
    let path = config.store_path()?;
    let mut store = existing(&path, config.limits())?;
    let now = clock::now();
    let moved = store.flush(now)?;
    let replaced = store.compact(1, now, &mut |table, day| {
        eprintln!("compacting {} of {day}", table.as_str());
    })?;
    eprintln!("{moved} rows became segments, {replaced} segments became fewer.");
    Ok(())
}

#[cfg(feature = "object-store")]
async fn push(url: &str, kept: &KeptArgs) -> Result<(), Error> {
    let config = settings::of_store(kept)?;
    let path = config.store_path()?;
    let mut written = existing(&path, config.limits())?;
    written.flush(clock::now())?;
    let own = written.identity()?;
    drop(written);
    let store = Store::open_to_read(&path)?;
    let remote = crate::remote::Remote::open(url)?;
    let pushed = crate::remote::push(&store, &own, &remote).await?;
    eprintln!(
        "{} segments uploaded ({} bytes), {} files removed.",
        pushed.uploaded, pushed.bytes, pushed.removed
    );
    Ok(())
}

fn retain(kept: &KeptArgs, max_age: Option<&str>, max_size: Option<&str>) -> Result<(), Error> {
    let mut config = settings::of_store(kept)?;
    if let Some(text) = max_age {
        let age = parse_duration(text)
            .ok_or_else(|| Error::Usage(format!("--max-age {text}: write 12h or 90d")))?;
        config.store.max_age = Some(age);
    }
    if let Some(text) = max_size {
        let size = parse_size(text)
            .ok_or_else(|| Error::Usage(format!("--max-size {text}: write 500MB or 50GiB")))?;
        config.store.max_size = Some(size);
    }
    let path = config.store_path()?;
    // Whoever asks for room wants it now; open files stay readable.
    let limits = Limits {
        grace: 0,
        ..config.limits()
    };
    let gone = existing(&path, limits)?.retain(clock::now())?;
    eprintln!(
        "{} rows in {} segments removed, {} bytes freed.",
        gone.rows, gone.segments, gone.bytes
    );
    Ok(())
}
