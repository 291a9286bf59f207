//! What clients ask: statements, and the commands beside them.

use std::fmt::Debug;
use std::future::Future;
use std::sync::Arc;

use async_trait::async_trait;
use futures::future::OptionFuture;
use futures::{Sink, StreamExt as _};
use pgwire::api::portal::{Format, Portal, PortalExecutionState};
use pgwire::api::query::{ExtendedQueryHandler, SimpleQueryHandler};
use pgwire::api::results::{
    DescribePortalResponse, DescribeResponse as _, DescribeStatementResponse, FieldInfo,
    QueryResponse, Response, Tag,
};
use pgwire::api::stmt::{QueryParser, StoredStatement};
use pgwire::api::store::{Entry, MemPortalStore, PortalStore};
use pgwire::api::{ClientInfo, ClientPortalStore, Type};
use pgwire::error::{PgWireError, PgWireResult};
use pgwire::messages::PgWireBackendMessage;

use super::errors::{error, halted};
use super::session::{self, Session};
use super::settings::Unset;
use super::words::{Command, Prepared};
use super::{FACE, Shared, rows};
use crate::serve::statement::StatementOutput;
use crate::serve::wires::audited;
use crate::sql::{Dialect, PostgresValue, Values, WireStatement};

/// Answers the clients of one connection.
pub(super) struct Queries {
    shared: Arc<Shared>,
    parser: Arc<Parser>,
}

type Store = MemPortalStore<Prepared>;

/// The statements and cursors of a client.
fn store<C: ClientPortalStore>(client: &C) -> PgWireResult<&Store>
where
    C::PortalStore: PortalStore,
{
    let store = client.portal_store().as_any().downcast_ref();
    store.ok_or_else(|| error("XX000", "the connection keeps no statements"))
}

impl Queries {
    pub(super) fn new(shared: Arc<Shared>) -> Self {
        Self {
            shared,
            parser: Arc::new(Parser),
        }
    }

    /// Runs or describes a statement in the process that is its own.
    async fn run(
        &self,
        session: &Session,
        statement: &str,
        describe: bool,
        values: Values,
    ) -> PgWireResult<StatementOutput> {
        let wire = WireStatement {
            dialect: Dialect::Postgres,
            describe,
            values,
        };
        let (service, caller) = (&self.shared.service, &session.caller);
        let work = async {
            let ran = audited::run(service, FACE, caller, statement, wire);
            ran.await.map_err(|error| halted(&error))
        };
        cancellable(session, work).await
    }

    async fn rows(
        &self,
        session: &Session,
        statement: &str,
        values: Values,
        format: &Format,
    ) -> PgWireResult<QueryResponse> {
        let output = self.run(session, statement, false, values).await?;
        let Some(room) = session.account.room(output.body.len() as u64) else {
            return Err(error(
                "53200",
                "too many rows wait to be fetched: close some of the open cursors",
            ));
        };
        rows::response(output, format, room)
    }

    /// Does what a statement asks for.
    async fn respond(
        &self,
        session: &Session,
        store: &Store,
        prepared: &Prepared,
        values: Values,
        format: &Format,
    ) -> PgWireResult<Response> {
        let done = |tag: &str| Ok(Response::Execution(Tag::new(tag)));
        match &prepared.command {
            Command::Query => {
                let rows = self.rows(session, &prepared.text, values, format);
                Ok(Response::Query(rows.await?))
            }
            Command::Begin => Ok(Response::TransactionStart(Tag::new("BEGIN"))),
            Command::End(tag) => {
                // Cursors end with their transaction.
                store.clear_portals();
                Ok(Response::TransactionEnd(Tag::new(tag)))
            }
            Command::Done(tag) => done(tag),
            Command::Set(name, value) => {
                let set = session.settings(|settings| settings.set(name, value));
                set.map_err(|why| unset(name, &why))?;
                done("SET")
            }
            Command::Reset(name) => {
                let reset = session.settings(|settings| settings.reset(name.as_deref()));
                reset.map_err(|why| unset(name.as_deref().unwrap_or_default(), &why))?;
                done("RESET")
            }
            Command::Show(name) => {
                let value = session.settings(|settings| settings.get(name));
                let value = value.ok_or_else(|| unset(name, &Unset::Unknown))?;
                Ok(Response::Query(rows::setting(name, &value)?))
            }
            Command::Deallocate(name) => {
                if let Some(name) = name {
                    store.rm_statement(name);
                }
                done("DEALLOCATE")
            }
            Command::Declare(name, statement) => {
                let text = Format::UnifiedText;
                let rows = self.rows(session, statement, values, &text).await?;
                let of = StoredStatement::new(name.clone(), prepared.clone(), Vec::new());
                let cursor = Portal::new_cursor(name.clone(), Arc::new(of));
                cursor.start(rows).await;
                store.put_portal(Arc::new(cursor));
                done("DECLARE CURSOR")
            }
            Command::Fetch {
                cursor,
                rows,
                is_returned,
            } => fetch(store, cursor, *rows, *is_returned).await,
            Command::Close(name) => {
                match name {
                    Some(name) => store.rm_portal(name),
                    None => store.clear_portals(),
                }
                done("CLOSE CURSOR")
            }
        }
    }
}

/// Does some work unless the client asks to stop it or goes, or its own time is over.
async fn cancellable<T>(
    session: &Session,
    work: impl Future<Output = PgWireResult<T>>,
) -> PgWireResult<T> {
    let cancelled = session.cancel.start_query().await;
    let longest = session.settings(|settings| settings.timeout());
    let late = longest.map(tokio::time::sleep);
    let gone = session.line.as_ref().map(|line| line.gone());
    // What is not to come turns its branch off.
    tokio::select! {
        done = work => done,
        // Who forgot about it does not cancel.
        Ok(_) = cancelled => Err(PgWireError::QueryCanceled),
        Some(()) = OptionFuture::from(gone) => Err(PgWireError::QueryCanceled),
        Some(()) = OptionFuture::from(late) => Err(error("57014", "canceling statement due to statement timeout")),
    }
}

fn unset(name: &str, why: &Unset) -> PgWireError {
    match why {
        Unset::Unknown => error(
            "42704",
            format!("unrecognized configuration parameter \"{name}\""),
        ),
        Unset::Fixed(value) => error("55P02", format!("{name} is always {value:?} here")),
    }
}

/// Some more rows of a cursor.
async fn fetch(
    store: &Store,
    cursor: &str,
    most: Option<usize>,
    is_returned: bool,
) -> PgWireResult<Response> {
    let Some(Entry::Value(portal)) = store.get_portal(cursor) else {
        return Err(no_cursor(cursor));
    };
    let state = portal.state();
    let mut state = state.lock().await;
    let PortalExecutionState::Suspended(open) = &mut *state else {
        return Err(error("34000", format!("cursor \"{cursor}\" is closed")));
    };
    let fields = open.row_schema();
    let mut found = Vec::new();
    while most.is_none_or(|most| found.len() < most) {
        match open.data_rows().next().await {
            Some(row) => found.push(Ok(row?)),
            None => break,
        }
    }
    if !is_returned {
        let moved = Tag::new("MOVE").with_rows(found.len());
        return Ok(Response::Execution(moved));
    }
    let mut rows = QueryResponse::new(fields, futures::stream::iter(found));
    rows.set_command_tag("FETCH");
    Ok(Response::Query(rows))
}

/// The values that a client bound to a statement.
fn values(portal: &Portal<Prepared>) -> PgWireResult<Values> {
    if portal.parameters.is_empty() {
        return Ok(Values::None);
    }
    if let Format::Individual(formats) = &portal.parameter_format
        && formats.len() != portal.parameters.len()
    {
        return Err(error("08P01", "a format is needed for each value"));
    }
    let known = &portal.statement.parameter_types;
    let value = |(index, bytes): (usize, &Option<bytes::Bytes>)| PostgresValue {
        oid: known.get(index).and_then(Option::as_ref).map(Type::oid),
        is_binary: portal.parameter_format.is_binary(index),
        bytes: bytes.as_ref().map(|bytes| bytes.to_vec()),
    };
    let all = portal.parameters.iter().enumerate().map(value);
    Ok(Values::Postgres(all.collect()))
}

#[async_trait]
impl SimpleQueryHandler for Queries {
    async fn do_query<C>(&self, client: &mut C, query: &str) -> PgWireResult<Vec<Response>>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let session = session::of(client)?;
        let store = store(client)?;
        let all = Prepared::all(query);
        if all.is_empty() {
            return Ok(vec![Response::EmptyQuery]);
        }
        let mut responses = Vec::new();
        for prepared in &all {
            let text = &Format::UnifiedText;
            let response = self.respond(&session, store, prepared, Values::None, text);
            responses.push(response.await?);
        }
        Ok(responses)
    }
}

#[async_trait]
impl ExtendedQueryHandler for Queries {
    type Statement = Prepared;
    type QueryParser = Parser;

    fn query_parser(&self) -> Arc<Parser> {
        Arc::clone(&self.parser)
    }

    /// Whoever asks for a portal's columns executes it next: it is run once, here.
    async fn do_describe_portal<C>(
        &self,
        client: &mut C,
        portal: &Portal<Prepared>,
    ) -> PgWireResult<DescribePortalResponse>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Prepared>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let session = session::of(client)?;
        if let PortalExecutionState::Suspended(open) = &*portal.state().lock().await {
            return Ok(DescribePortalResponse::new(open.row_schema().to_vec()));
        }
        let prepared = &portal.statement.statement;
        if !has_rows(&prepared.command) {
            return Ok(DescribePortalResponse::no_data());
        }
        let format = &portal.result_column_format;
        let response = self.respond(&session, store(client)?, prepared, values(portal)?, format);
        let Response::Query(rows) = response.await? else {
            return Ok(DescribePortalResponse::no_data());
        };
        let fields = rows.row_schema().to_vec();
        portal.start(rows).await;
        Ok(DescribePortalResponse::new(fields))
    }

    async fn do_describe_statement<C>(
        &self,
        client: &mut C,
        target: &StoredStatement<Prepared>,
    ) -> PgWireResult<DescribeStatementResponse>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Prepared>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let session = session::of(client)?;
        let known = DescribeStatementResponse::new;
        match &target.statement.command {
            Command::Query => {
                let text = &target.statement.text;
                let output = self.run(&session, text, true, Values::None).await?;
                let fields = rows::columns(&output, &Format::UnifiedText)?;
                Ok(known(
                    types(&target.parameter_types, &output.parameters),
                    fields,
                ))
            }
            Command::Show(name) => Ok(known(Vec::new(), rows::setting_column(name))),
            Command::Fetch {
                cursor,
                is_returned: true,
                ..
            } => {
                let fields = cursor_fields(store(client)?, cursor).await?;
                Ok(known(Vec::new(), fields))
            }
            _ => Ok(DescribeStatementResponse::no_data()),
        }
    }

    async fn do_query<C>(
        &self,
        client: &mut C,
        portal: &Portal<Prepared>,
        _max_rows: usize,
    ) -> PgWireResult<Response>
    where
        C: ClientInfo + ClientPortalStore + Sink<PgWireBackendMessage> + Unpin + Send + Sync,
        C::PortalStore: PortalStore<Statement = Prepared>,
        C::Error: Debug,
        PgWireError: From<<C as Sink<PgWireBackendMessage>>::Error>,
    {
        let session = session::of(client)?;
        let prepared = &portal.statement.statement;
        let format = &portal.result_column_format;
        let response = self.respond(&session, store(client)?, prepared, values(portal)?, format);
        response.await
    }
}

fn has_rows(command: &Command) -> bool {
    matches!(
        command,
        Command::Query
            | Command::Show(_)
            | Command::Fetch {
                is_returned: true,
                ..
            }
    )
}

async fn cursor_fields(store: &Store, cursor: &str) -> PgWireResult<Vec<FieldInfo>> {
    if let Some(Entry::Value(portal)) = store.get_portal(cursor)
        && let PortalExecutionState::Suspended(open) = &*portal.state().lock().await
    {
        return Ok(open.row_schema().to_vec());
    }
    Err(no_cursor(cursor))
}

fn no_cursor(name: &str) -> PgWireError {
    error("34000", format!("cursor \"{name}\" does not exist"))
}

/// Types of parameters: what the client said, else what the statement needs.
fn types(declared: &[Option<Type>], needed: &[u32]) -> Vec<Type> {
    let each = 0..declared.len().max(needed.len());
    each.map(|index| {
        let declared = declared.get(index).cloned().flatten();
        let needed = needed.get(index).and_then(|oid| Type::from_oid(*oid));
        declared.or(needed).unwrap_or(Type::TEXT)
    })
    .collect()
}

/// Takes statements apart that clients prepare; they are planned where they are run.
pub(super) struct Parser;

#[async_trait]
impl QueryParser for Parser {
    type Statement = Prepared;

    async fn parse_sql<C>(
        &self,
        client: &C,
        sql: &str,
        _types: &[Option<Type>],
    ) -> PgWireResult<Option<Prepared>>
    where
        C: ClientInfo + Unpin + Send + Sync,
    {
        session::of(client)?;
        let mut all = Prepared::all(sql);
        if all.len() > 1 {
            return Err(error(
                "42601",
                "cannot insert multiple commands into a prepared statement",
            ));
        }
        Ok(all.pop())
    }

    fn get_parameter_types(&self, _statement: &Prepared) -> PgWireResult<Vec<Type>> {
        Ok(Vec::new())
    }

    fn get_result_schema(
        &self,
        _statement: &Prepared,
        _format: Option<&Format>,
    ) -> PgWireResult<Vec<FieldInfo>> {
        Ok(Vec::new())
    }
}
