//! What `whathappened store` does with a lake.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray, UInt64Array};
use whathappened_model::time::Nanos;
use whathappened_store::{Limits, Store, lake};

use crate::cli::{OutputArgs, StoreArgs};
use crate::commands::{clock, common, lakes, settings};
use crate::config::Config;
use crate::error::Error;
use crate::render;

/// Adds the store to a lake.
pub(super) fn push(url: &str, stored: &StoreArgs) -> Result<(), Error> {
    let config = settings::of_store(stored)?;
    lakes::refuse(&config, "`store push`")?;
    let path = config.store_path()?;
    drop(Store::open_to_read(&path)?);
    let mut store = Store::open(&path, config.limits())?;
    into(&mut store, &config, url)
}

fn into(store: &mut Store, config: &Config, url: &str) -> Result<(), Error> {
    let mut index = lakes::open(config, url, true)?;
    let pushed = lake::push(store, &mut index, clock::now(), &mut |file| {
        tracing::debug!("pushing {file}");
    })?;
    note!(
        "{} rows in {} segments read, {} of them new to the lake; {} incidents new or changed.",
        pushed.rows,
        pushed.segments,
        pushed.new,
        pushed.incidents
    );
    Ok(())
}

/// Brings a store of the older layout into a lake.
pub(super) fn migrate(from: &str, to: &str, stored: &StoreArgs) -> Result<(), Error> {
    let config = settings::of_store(stored)?;
    let folder = tempfile::tempdir().map_err(|error| Error::Io {
        path: "a temporary folder".to_owned(),
        error,
    })?;
    let (mut store, fetched) = lake::fetch_old(from, folder.path(), clock::now(), &mut |file| {
        tracing::debug!("fetching {file}");
    })?;
    note!(
        "{} segments ({} bytes) of the older layout fetched.",
        fetched.segments,
        fetched.bytes
    );
    into(&mut store, &config, to)
}

/// Shows the tables of a lake.
pub(super) fn status(config: &Config, url: &str, output: &OutputArgs) -> Result<(), Error> {
    let tables = lakes::open(config, url, false)?.tables()?;
    let names: StringArray = tables.iter().map(|one| Some(one.name.as_str())).collect();
    let versions: Int64Array = tables.iter().map(|one| Some(one.version)).collect();
    let number = |of: fn(&lake::TableStatus) -> u64| -> ArrayRef {
        Arc::new(tables.iter().map(of).collect::<UInt64Array>())
    };
    let batch = RecordBatch::try_from_iter([
        ("table", Arc::new(names) as ArrayRef),
        ("version", Arc::new(versions)),
        ("files", number(|one| one.files)),
        ("rows", number(|one| one.rows)),
        ("bytes", number(|one| one.bytes)),
    ])
    .map_err(datafusion::error::DataFusionError::from)?;
    let style = common::style(output);
    let out = &mut std::io::stdout().lock();
    render::rows(&batch.schema(), &[batch], output.format, &style, out)?;
    Ok(())
}

/// Merges the small files of a lake.
pub(super) fn compact(config: &Config, url: &str) -> Result<(), Error> {
    let mut index = lakes::open(config, url, false)?;
    let done = index.compact(1, clock::now(), &mut |folder| {
        note!("compacting {folder}");
    })?;
    note!("{} files merged.", done.replaced);
    Ok(())
}

/// Removes what is too old from a lake.
pub(super) fn retain(
    config: &Config,
    url: &str,
    age: Option<Nanos>,
    is_sized: bool,
) -> Result<(), Error> {
    if is_sized {
        return Err(Error::misused(
            "a lake has no size limit",
            "give an age: --max-age 365d",
        ));
    }
    let Some(age) = age else {
        return Err(Error::misused(
            format!(
                "others write to the lake {url}, too, so nothing is removed from it by default"
            ),
            format!(
                "say from which age on, such as --max-age 365d; a local store keeps {} days",
                Limits::default().max_age / 86_400_000_000_000
            ),
        ));
    };
    let now = clock::now();
    let mut index = lakes::open(config, url, false)?;
    let done = index.retain(now.saturating_sub(age), now)?;
    note!(
        "{} files ({} bytes) removed from the tables; older versions show them for seven days, and `whathappened store vacuum` removes them then.",
        done.replaced,
        done.bytes
    );
    Ok(())
}

/// Removes files that nobody can read any more.
pub(super) fn vacuum(stored: &StoreArgs) -> Result<(), Error> {
    let config = settings::of_store(stored)?;
    let Some(url) = &config.store.index_of else {
        return Err(Error::misused(
            "only a lake can be vacuumed",
            "name it: --store s3://bucket/folder, or the lake's folder",
        ));
    };
    let done = lakes::open(&config, url, false)?.vacuum()?;
    note!("{} files removed.", done.removed);
    Ok(())
}
