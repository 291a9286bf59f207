//! `whathappened store`

#[cfg(feature = "lake")]
mod lake;
mod status;

use std::path::{Path, PathBuf};

use clap::Subcommand;
use whathappened_model::terminal;
use whathappened_store::{Limits, Store};

use super::{clock, common, lakes, settings};
use crate::cli::{OutputArgs, StoreArgs};
use crate::config::{parse_duration, parse_size};
use crate::error::Error;

/// Writes a line; where it cannot be written that is an error, where `println!` would panic.
macro_rules! say {
    ($($text:tt)*) => {
        common::print(&format!("{}\n", format_args!($($text)*)))
    };
}

/// Manages the store: status, verification, repair, compaction, retention
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// The action to perform.
    #[command(subcommand)]
    pub what: StoreCommand,
}

/// What can be done with a store.
#[derive(Clone, Debug, Subcommand)]
pub enum StoreCommand {
    /// Shows how much is stored, and for which period
    Status {
        #[command(flatten)]
        stored: StoreArgs,
        #[command(flatten)]
        output: OutputArgs,
    },
    /// Reads everything that is stored and reports what is damaged; changes nothing
    Verify {
        #[command(flatten)]
        stored: StoreArgs,
    },
    /// Rebuilds the index from the segments if it is lost, and recovers what can be read of damaged
    /// segments; deletes nothing
    Repair {
        #[command(flatten)]
        stored: StoreArgs,
    },
    /// Copies the whole store to an empty folder while other processes keep writing, and verifies
    /// the copy
    Backup {
        /// Destination folder; it must be empty or not exist.
        #[arg(value_name = "FOLDER")]
        to: PathBuf,
        #[command(flatten)]
        stored: StoreArgs,
    },
    /// Abandons a damaged segment whose rows cannot be recovered; its file stays until retention
    /// removes it
    Forget {
        /// Its name, as shown by `store verify`.
        #[arg(value_name = "SEGMENT")]
        file: String,
        #[command(flatten)]
        stored: StoreArgs,
    },
    /// Merges many small segments into a few large ones
    Compact {
        #[command(flatten)]
        stored: StoreArgs,
    },
    /// Uploads the store to an object store: `s3://bucket/folder`, gs://…, az://… or file:///…
    ///
    /// Rows that are not in segments yet are written to segments first. Query it with `whathappened
    /// sql --store URL`; Spark, Trino and DuckDB can read the files.
    #[cfg(all(feature = "object-store", not(feature = "lake")))]
    Push {
        /// Destination URL.
        #[arg(value_name = "URL")]
        url: String,
        #[command(flatten)]
        stored: StoreArgs,
    },
    /// Adds the store to a lake: `s3://bucket/folder`, gs://…, az://… or a folder that many see
    ///
    /// The lake is made where there is none. Any number of stores can be pushed to one lake; what
    /// several know is there once. Ask it with `--store URL`; Spark, Trino and DuckDB read it as Delta
    /// tables. What was pushed before is not looked at again.
    #[cfg(feature = "lake")]
    Push {
        /// The lake.
        #[arg(value_name = "URL")]
        url: String,
        #[command(flatten)]
        stored: StoreArgs,
    },
    /// Removes files of the lake named with --store that no version of the last seven days lists
    #[cfg(feature = "lake")]
    Vacuum {
        #[command(flatten)]
        stored: StoreArgs,
    },
    /// Brings a store that an older version pushed in its own layout into a lake; the old files stay
    #[cfg(feature = "lake")]
    Migrate {
        /// Where the older version pushed it.
        #[arg(value_name = "OLD-URL")]
        from: String,
        /// The lake.
        #[arg(value_name = "URL")]
        to: String,
        #[command(flatten)]
        stored: StoreArgs,
    },
    /// Removes data that was stored too long ago, then the oldest until the rest fits the size limit
    Retain {
        #[command(flatten)]
        stored: StoreArgs,
        /// Maximum age since it was stored, such as 90d; the configured value by default.
        #[arg(long, value_name = "TIME")]
        max_age: Option<String>,
        /// Maximum size of the store, such as 50GiB; the configured value by default.
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
        #[cfg(all(feature = "object-store", not(feature = "lake")))]
        StoreCommand::Push { url, stored } => push(url, stored).await,
        #[cfg(feature = "lake")]
        StoreCommand::Push { url, stored } => lake::push(url, stored),
        #[cfg(feature = "lake")]
        StoreCommand::Vacuum { stored } => lake::vacuum(stored),
        #[cfg(feature = "lake")]
        StoreCommand::Migrate { from, to, stored } => lake::migrate(from, to, stored),
        StoreCommand::Status { stored, output } => status::run(stored, output),
        StoreCommand::Verify { stored } => verify(stored),
        StoreCommand::Repair { stored } => repair(stored),
        StoreCommand::Backup { to, stored } => backup(to, stored),
        StoreCommand::Forget { file, stored } => forget(file, stored),
        StoreCommand::Compact { stored } => compact(stored),
        StoreCommand::Retain {
            stored,
            max_age,
            max_size,
        } => retain(stored, max_age.as_deref(), max_size.as_deref()),
    }
}

/// Refuses a lake where a store of one's own is mended.
fn own(stored: &StoreArgs, verb: &str) -> Result<crate::config::Config, Error> {
    let config = settings::of_store(stored)?;
    lakes::refuse(&config, verb)?;
    Ok(config)
}

fn verify(stored: &StoreArgs) -> Result<(), Error> {
    let config = own(stored, "`store verify`")?;
    let store = Store::open_to_read(&config.store_path()?)?;
    let verified = store.verify(&mut |_| {})?;
    for (file, why) in &verified.damaged {
        say!("{file}: damaged: {why}")?;
    }
    for file in &verified.unknown {
        say!("{file}: not in the store's index")?;
    }
    for detail in verified.database.iter().chain(&verified.wrong_rows) {
        say!("store.db: {detail}")?;
    }
    say!(
        "{} with {} {} intact{}.",
        count(verified.segments, "segment"),
        count(verified.rows, "row"),
        if verified.segments == 1 { "is" } else { "are" },
        match verified.unchecked {
            0 => String::new(),
            some => format!(
                "; {some} of them were written before checksums were introduced and were only decoded"
            ),
        }
    )?;
    if verified.is_well() {
        return Ok(());
    }
    Err(Error::Damaged(format!(
        "{}: {}",
        store.root().display(),
        Damage {
            database: !verified.database.is_empty(),
            rows: verified.wrong_rows.len(),
            segments: verified.damaged.len(),
            unlisted: verified.unknown.len(),
        }
        .words()
    )))
}

/// How much of a store is damaged.
struct Damage {
    database: bool,
    rows: usize,
    segments: usize,
    unlisted: usize,
}

impl Damage {
    /// What is wrong in one line, and nothing of what is well.
    fn words(&self) -> String {
        let some = |number: usize, what: &str, how: &str| {
            (number > 0).then(|| format!("{} {how}", count(number, what)))
        };
        let wrong = [
            self.database.then(|| "the database is damaged".to_owned()),
            some(self.rows, "row", "of the database damaged"),
            some(self.segments, "segment", "damaged"),
            some(self.unlisted, "segment", "not in the index"),
        ];
        let wrong: Vec<String> = wrong.into_iter().flatten().collect();
        wrong.join(", ")
    }
}

fn count<N: std::fmt::Display + PartialEq + From<u8> + Copy>(number: N, what: &str) -> String {
    let plural = if number == N::from(1) { "" } else { "s" };
    format!("{number} {what}{plural}")
}

fn repair(stored: &StoreArgs) -> Result<(), Error> {
    let config = own(stored, "`store repair`")?;
    let path = config.store_path()?;
    let mut say = |file: &str| tracing::debug!("reading {file}");
    let done = whathappened_store::repair(&path, config.limits(), clock::now(), &mut say)?;
    match &done.list {
        Some(old) => {
            say!("The index was damaged and has been rebuilt; the damaged one is saved as {old}.")?;
        }
        None if done.is_anew => say!("The index was lost and has been rebuilt.")?,
        None => {}
    }
    say!(
        "{} with {} {} added to the index.",
        count(done.listed, "segment"),
        count(done.rows, "row"),
        if done.listed == 1 { "was" } else { "were" }
    )?;
    if done.renewed > 0 {
        say!(
            "{} redacted with an older set of rules rewritten.",
            count(done.renewed, "segment")
        )?;
    }
    if done.relisted > 0 {
        say!(
            "What the index said of {} was damaged and has been rebuilt from {}.",
            count(done.relisted, "segment"),
            if done.relisted == 1 { "it" } else { "them" }
        )?;
    }
    if done.catalogue > 0 {
        say!(
            "{} of pods and workloads {} damaged or missing; all of them have been rebuilt from the segments.",
            count(done.catalogue, "row"),
            if done.catalogue == 1 { "was" } else { "were" }
        )?;
    }
    if done.replaced > 0 {
        say!(
            "{} not yet in a segment {} out of place and restored.",
            count(done.replaced, "row"),
            if done.replaced == 1 { "was" } else { "were" }
        )?;
    }
    for (file, saved, of) in &done.damaged {
        // Of those that are all there it is said below.
        if !done.back.contains(file) {
            say!(
                "{file}: damaged; {saved} of its {of} rows were recovered. Import the files they came from again, then repair again."
            )?;
        }
    }
    for (file, why) in &done.unreadable {
        say!("{file}: left as it is ({why}); make it readable and repair again.")?;
    }
    for file in &done.back {
        say!("{file}: damaged; all of its rows have been restored.")?;
    }
    if done.hot > 0 {
        say!(
            "{} not yet in a segment {} damaged and removed; import the same files again to restore them.",
            count(done.hot, "row"),
            if done.hot == 1 { "was" } else { "were" }
        )?;
    }
    if done.incidents > 0 {
        say!(
            "{} damaged and removed; `whathappened explain` explains what is left of the records.",
            match done.incidents {
                1 => "1 stored incident was".to_owned(),
                many => format!("{many} stored incidents were"),
            }
        )?;
    }
    Ok(())
}

fn backup(to: &Path, stored: &StoreArgs) -> Result<(), Error> {
    let config = own(stored, "`store backup`")?;
    let mut say = |file: &str| tracing::debug!("copying {file}");
    let done = whathappened_store::backup(&config.store_path()?, to, &mut say)?;
    say!(
        "{}, {}, copied to {} and verified.",
        count(done.segments, "segment"),
        count(done.bytes, "byte"),
        terminal::line(&to.to_string_lossy())
    )?;
    if done.verified.is_well() {
        return Ok(());
    }
    Err(Error::Damaged(format!(
        "{}: {} damaged as in the store itself; run `whathappened store repair` there to recover what can be read",
        to.display(),
        count(done.verified.damaged.len(), "segment"),
    )))
}

fn forget(file: &str, stored: &StoreArgs) -> Result<(), Error> {
    let config = own(stored, "`store forget`")?;
    let path = config.store_path()?;
    let mut store = existing(&path, config.limits())?;
    if store.forget_damaged(file, clock::now())? {
        say!("{}: abandoned.", terminal::line(file))?;
        return Ok(());
    }
    Err(Error::misused(
        format!("there is no damaged segment named {file}"),
        "list them with: whathappened store verify",
    ))
}

/// A store that is there, to be written; what is not there is not to be made.
fn existing(path: &Path, limits: Limits) -> Result<Store, Error> {
    drop(Store::open_to_read(path)?);
    Ok(Store::open(path, limits)?)
}

fn compact(stored: &StoreArgs) -> Result<(), Error> {
    let config = settings::of_store(stored)?;
    #[cfg(feature = "lake")]
    if let Some(url) = &config.store.index_of {
        return lake::compact(&config, url);
    }
    let path = config.store_path()?;
    let mut store = existing(&path, config.limits())?;
    let now = clock::now();
    let moved = store.flush(now)?;
    let replaced = store.compact(1, now, &mut |table, day| {
        note!("compacting {} of {day}", table.as_str());
    })?;
    note!(
        "{} written to segments, {} merged.",
        count(moved, "row"),
        count(replaced, "segment")
    );
    Ok(())
}

#[cfg(all(feature = "object-store", not(feature = "lake")))]
async fn push(url: &str, stored: &StoreArgs) -> Result<(), Error> {
    let config = settings::of_store(stored)?;
    let path = config.store_path()?;
    let mut written = existing(&path, config.limits())?;
    written.flush(clock::now())?;
    let own = written.identity()?;
    drop(written);
    let store = Store::open_to_read(&path)?;
    let remote = crate::remote::Remote::open(url)?;
    let pushed = crate::remote::push(&store, &own, &remote).await?;
    note!(
        "{} segments uploaded ({} bytes), {} files removed.",
        pushed.uploaded,
        pushed.bytes,
        pushed.removed
    );
    Ok(())
}

fn retain(stored: &StoreArgs, max_age: Option<&str>, max_size: Option<&str>) -> Result<(), Error> {
    let mut config = settings::of_store(stored)?;
    if let Some(text) = max_age {
        let age = parse_duration(text).ok_or_else(|| {
            Error::misused(format!("--max-age {text} is not valid"), "write 12h or 90d")
        })?;
        config.store.max_age = Some(age);
    }
    if let Some(text) = max_size {
        let size = parse_size(text).ok_or_else(|| {
            Error::misused(
                format!("--max-size {text} is not valid"),
                "write 500MB or 50GiB",
            )
        })?;
        config.store.max_size = Some(size);
    }
    #[cfg(feature = "lake")]
    if let Some(url) = &config.store.index_of {
        // The age that is configured is that of a store of one's own.
        let age = config.store.max_age.filter(|_| max_age.is_some());
        let is_sized = max_size.is_some();
        return lake::retain(&config, url, age, is_sized);
    }
    let path = config.store_path()?;
    // Whoever asks for room wants it now; open files stay readable.
    let limits = Limits {
        grace: 0,
        ..config.limits()
    };
    let gone = existing(&path, limits)?.retain(clock::now())?;
    note!(
        "{} in {} removed, {} freed.",
        count(gone.rows, "row"),
        count(gone.segments, "segment"),
        count(gone.bytes, "byte")
    );
    Ok(())
}
