//! The tables as PostgreSQL's clients look for them, and their statements.

use std::sync::Arc;

use datafusion::error::DataFusionError;
use datafusion::sql::parser::Statement as Parsed;
use datafusion_pg_catalog::pg_catalog::context::EmptyContextProvider;
use datafusion_pg_catalog::pg_catalog::{
    PgCatalogSchemaProvider, PgCatalogStaticTables, setup_pg_catalog,
};
use datafusion_pg_catalog::sql::PostgresCompatibilityParser;

use super::postgres_catalog::Ordered;
use super::postgres_functions;
use crate::error::Error;
use crate::sql::{Session, StoredTables};

/// The database that clients are in, whichever they name.
const DATABASE: &str = "whathappened";

/// Tables over a store, beside those that tell clients what there is.
pub(super) fn session(stored: StoredTables) -> Result<Session, Error> {
    let session = Session::of_store_in(DATABASE, stored)?;
    prepare(&session).map_err(|error| session.failed(error))?;
    Ok(session)
}

fn prepare(session: &Session) -> Result<(), DataFusionError> {
    let context = &session.context;
    setup_pg_catalog(context, DATABASE, EmptyContextProvider).map_err(|error| *error)?;
    let what = Ordered(Arc::clone(context.state().catalog_list()));
    let tables = PgCatalogStaticTables::try_new()?;
    let schema = PgCatalogSchemaProvider::try_new(what, Arc::new(tables), EmptyContextProvider)?;
    if let Some(catalog) = context.catalog(DATABASE) {
        catalog.register_schema("pg_catalog", Arc::new(schema))?;
    }
    postgres_functions::register(context);
    Ok(())
}

/// Numbers the tables before a statement that may ask for their numbers, always in
/// the same order.
pub(super) async fn settle(session: &Session, text: &str) -> Result<(), Error> {
    let text = text.to_lowercase();
    if text.contains("pg_") || text.contains("::reg") {
        let all = "SELECT count(oid) FROM pg_catalog.pg_class";
        session.query(all).await?;
    }
    Ok(())
}

/// Takes one statement apart, as far as the API would.
pub(super) fn parse(text: &str) -> Result<Parsed, Error> {
    // What the API refuses for its size is refused here; what it cannot read may be
    // in the other's words.
    let own = Session::parse(text);
    if let Err(error @ Error::Usage(_)) = own {
        return Err(error);
    }
    let theirs = PostgresCompatibilityParser::new().parse(text);
    let mut theirs = match (theirs, own) {
        (Ok(theirs), _) => theirs
            .into_iter()
            .map(|one| Parsed::Statement(Box::new(one)))
            .collect(),
        (Err(_), Ok(own)) => own.into_iter().map(|one| one.0).collect::<Vec<Parsed>>(),
        (Err(_), Err(error)) => return Err(error),
    }
    .into_iter();
    let (Some(statement), None) = (theirs.next(), theirs.next()) else {
        return Err(Error::misused(
            "the request contains more than one statement, or none",
            "send one statement at a time",
        ));
    };
    Ok(statement)
}
