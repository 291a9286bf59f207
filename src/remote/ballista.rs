//! The same SQL on Ballista: its scheduler and executors read the segments
//! from the object store, with stock tables and built-in functions only.

use std::sync::Arc;

use ballista::extension::SessionContextExt as _;
use ballista_core::object_store::{session_config_with_s3_support, session_state_with_s3_support};
use ballista_core::serde::protobuf::scheduler_grpc_client::SchedulerGrpcClient;
use ballista_executor::new_standalone_executor_from_state;
use ballista_scheduler::standalone::new_standalone_scheduler_from_state;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::datasource::file_format::parquet::ParquetFormat;
use datafusion::datasource::listing::{
    ListingOptions, ListingTable, ListingTableConfig, ListingTableUrl,
};
use datafusion::execution::SessionState;
use datafusion::prelude::SessionContext;
use whathappened_store::{Table, event_schema, object_schema};

use super::Remote;
use crate::error::Error;

/// The state that scheduler, executors and clients share: S3 as the
/// environment describes it (`AWS_*`).
///
/// # Errors
/// When DataFusion cannot be set up.
pub fn state() -> Result<SessionState, Error> {
    let mut config = session_config_with_s3_support();
    for (option, variable) in [
        ("s3.access_key_id", "AWS_ACCESS_KEY_ID"),
        ("s3.secret_access_key", "AWS_SECRET_ACCESS_KEY"),
        ("s3.endpoint", "AWS_ENDPOINT"),
        ("s3.region", "AWS_REGION"),
        ("s3.allow_http", "AWS_ALLOW_HTTP"),
    ] {
        if let Ok(value) = std::env::var(variable) {
            config.options_mut().set(option, &value)?;
        }
    }
    Ok(session_state_with_s3_support(config)?)
}

/// A context whose statements run on the cluster of a scheduler,
/// `df://host:port`, over the tables `events` and `objects` of a store;
/// `local` starts a scheduler and two executors in this process.
///
/// # Errors
/// When the scheduler or the store do not answer.
pub async fn connect(scheduler: &str, remote: &Remote) -> Result<SessionContext, Error> {
    let state = state()?;
    let scheduler = match scheduler {
        "local" => local(&state).await?,
        named => named.to_owned(),
    };
    let context = SessionContext::remote_with_state(&scheduler, state).await?;
    register(&context, remote).await?;
    Ok(context)
}

/// Executors of a cluster in this process.
const EXECUTORS: usize = 2;
/// Tasks that each of them runs at once.
const TASKS: usize = 2;

/// Starts a scheduler and executors on loopback; they end with the process.
async fn local(state: &SessionState) -> Result<String, Error> {
    let failed = |error: &dyn std::fmt::Display| Error::Remote {
        place: "local Ballista cluster".to_owned(),
        why: error.to_string(),
    };
    let address = new_standalone_scheduler_from_state(state)
        .await
        .map_err(|error| failed(&error))?;
    let url = format!("http://localhost:{}", address.port());
    for _ in 0..EXECUTORS {
        let scheduler = SchedulerGrpcClient::connect(url.clone())
            .await
            .map_err(|error| failed(&error))?;
        new_standalone_executor_from_state(scheduler, TASKS, state)
            .await
            .map_err(|error| failed(&error))?;
    }
    Ok(format!("df://localhost:{}", address.port()))
}

/// Makes the tables of a store known to a context.
///
/// # Errors
/// When the store has no manifest.
pub async fn register(context: &SessionContext, remote: &Remote) -> Result<(), Error> {
    let manifest = remote.manifest().await?;
    for (table, schema) in [
        (Table::Events, event_schema()),
        (Table::Objects, object_schema()),
    ] {
        let files: Vec<String> = manifest
            .of_table(table)
            .map(|listed| remote.file_url(&listed.file))
            .collect();
        if !files.is_empty() {
            let listing = listing(&files, schema)?;
            context.register_table(table.as_str(), Arc::new(listing))?;
        }
    }
    Ok(())
}

fn listing(files: &[String], schema: SchemaRef) -> Result<ListingTable, Error> {
    let urls = files
        .iter()
        .map(ListingTableUrl::parse)
        .collect::<Result<Vec<_>, _>>()?;
    let options =
        ListingOptions::new(Arc::new(ParquetFormat::default())).with_file_extension(".parquet");
    let config = ListingTableConfig::new_with_multi_paths(urls)
        .with_listing_options(options)
        .with_schema(schema);
    Ok(ListingTable::try_new(config)?)
}
