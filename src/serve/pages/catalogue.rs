//! `/sql/catalogue`: names of tables, columns and functions, for completion.

use std::sync::Arc;

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Response};
use serde::Serialize;

use super::visit::Visit;
use crate::serve::Service;
use crate::sql::{DESCRIPTION, Session, StoredTables, type_name};

#[derive(Debug, Serialize)]
struct Catalogue {
    tables: Vec<Table>,
    functions: Vec<String>,
}

#[derive(Debug, Serialize)]
struct Table {
    name: &'static str,
    meaning: &'static str,
    is_function: bool,
    columns: Vec<Column>,
}

#[derive(Debug, Serialize)]
struct Column {
    name: String,
    r#type: String,
    meaning: String,
}

pub(super) async fn get(visit: Visit) -> Response {
    let access = visit.reader.caller.access.clone();
    let read = move |service: &Service| {
        let stored =
            StoredTables::new(service.store.clone(), Arc::clone(&service.rules)).seen_by(access);
        let session = Session::of_store(stored)?;
        Ok(catalogue(&session))
    };
    match visit.service.work(read).await {
        Ok(catalogue) => Json(catalogue).into_response(),
        Err(_) => StatusCode::SERVICE_UNAVAILABLE.into_response(),
    }
}

fn catalogue(session: &Session) -> Catalogue {
    let tables = session.tables().iter().map(|table| Table {
        name: table.name,
        meaning: table.meaning,
        is_function: table.is_function,
        columns: table
            .schema
            .fields()
            .iter()
            .map(|field| Column {
                name: field.name().clone(),
                r#type: type_name(field.data_type()).to_owned(),
                meaning: field
                    .metadata()
                    .get(DESCRIPTION)
                    .cloned()
                    .unwrap_or_default(),
            })
            .collect(),
    });
    Catalogue {
        tables: tables.collect(),
        functions: session.functions(),
    }
}
