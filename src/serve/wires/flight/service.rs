//! The protocol's questions.

use std::sync::Arc;

use arrow_flight::decode::FlightRecordBatchStream;
use arrow_flight::error::FlightError;
use arrow_flight::sql::server::{FlightSqlService, PeekableFlightDataStream};
use arrow_flight::sql::{
    ActionClosePreparedStatementRequest, ActionCreatePreparedStatementRequest,
    ActionCreatePreparedStatementResult, CommandGetCatalogs, CommandGetDbSchemas,
    CommandGetSqlInfo, CommandGetTableTypes, CommandGetTables, CommandPreparedStatementQuery,
    CommandPreparedStatementUpdate, CommandStatementQuery, CommandStatementUpdate,
    DoPutPreparedStatementResult, ProstMessageExt, SqlInfo, TicketStatementQuery,
};
use arrow_flight::{
    Action, FlightDescriptor, FlightEndpoint, FlightInfo, HandshakeRequest, HandshakeResponse,
    IpcMessage, SchemaAsIpc, Ticket,
};
use datafusion::arrow::array::RecordBatch;
use datafusion::arrow::datatypes::Schema;
use datafusion::arrow::ipc::writer::{IpcWriteOptions, StreamWriter};
use futures::{Stream, StreamExt as _, TryStreamExt as _};
use prost::Message as _;
use tonic::{Request, Response, Status, Streaming};

use super::handle::Handle;
use super::rows::{RowStream, halted, of_batch, of_statement, schema};
use super::{FACE, access, metadata};
use crate::serve::statement::StatementOutput;
use crate::serve::wires::audited::{self, turned_away};
use crate::serve::{Caller, Callers, Service};
use crate::sql::{Dialect, Values, WireStatement};

/// Answers the protocol's questions.
#[derive(Clone)]
pub(super) struct Faces {
    service: Arc<Service>,
    callers: Arc<Callers>,
}

type Handshake = std::pin::Pin<Box<dyn Stream<Item = Result<HandshakeResponse, Status>> + Send>>;

impl Faces {
    pub(super) fn new(service: Arc<Service>, callers: Callers) -> Self {
        Self {
            service,
            callers: Arc::new(callers),
        }
    }

    /// Whose request it is.
    fn caller<T>(&self, request: &Request<T>) -> Result<Caller, Status> {
        access::caller(&self.callers, request.metadata()).inspect_err(|_| {
            let from = request.remote_addr();
            let from = from.map_or_else(String::new, |from| from.ip().to_string());
            turned_away(&self.service, FACE, "-", &format!("request from {from}"));
        })
    }

    async fn run(
        &self,
        caller: &Caller,
        handle: Handle,
        describe: bool,
    ) -> Result<StatementOutput, Status> {
        let values = if handle.row.is_empty() || describe {
            Values::None
        } else {
            Values::Arrow(handle.row)
        };
        let wire = WireStatement {
            dialect: Dialect::Own,
            describe,
            values,
        };
        let ran = audited::run(&self.service, FACE, caller, &handle.statement, wire);
        ran.await.map_err(|error| halted(&error))
    }

    /// Where the rows of a statement are had, and which columns they have.
    async fn info<T: ProstMessageExt>(
        &self,
        request: Request<FlightDescriptor>,
        handle: Handle,
        ticket: T,
    ) -> Result<Response<FlightInfo>, Status> {
        let caller = self.caller(&request)?;
        let described = self.run(&caller, handle, true).await?;
        let columns = schema(&described)?;
        found(request, &columns, &ticket)
    }

    async fn rows<T>(
        &self,
        request: Request<T>,
        handle: &[u8],
    ) -> Result<Response<RowStream>, Status> {
        let caller = self.caller(&request)?;
        let handle = Handle::from_bytes(handle)?;
        of_statement(self.run(&caller, handle, false).await?)
    }
}

fn found<T: ProstMessageExt>(
    request: Request<FlightDescriptor>,
    schema: &Schema,
    ticket: &T,
) -> Result<Response<FlightInfo>, Status> {
    let ticket = Ticket::new(ticket.as_any().encode_to_vec());
    let info = FlightInfo::new()
        .try_with_schema(schema)
        .map_err(|error| Status::internal(error.to_string()))?
        .with_endpoint(FlightEndpoint::new().with_ticket(ticket))
        .with_descriptor(request.into_inner());
    Ok(Response::new(info))
}

fn read_only() -> Status {
    Status::invalid_argument("the data is read-only: only statements that return rows are run")
}

/// A batch in Arrow's stream format.
fn stream_of(batch: &RecordBatch) -> Result<Vec<u8>, Status> {
    let write = || {
        let mut bytes = Vec::new();
        let mut writer = StreamWriter::try_new(&mut bytes, &batch.schema())?;
        writer.write(batch)?;
        writer.finish()?;
        drop(writer);
        Ok(bytes)
    };
    write()
        .map_err(|error: datafusion::arrow::error::ArrowError| Status::internal(error.to_string()))
}

#[tonic::async_trait]
impl FlightSqlService for Faces {
    type FlightService = Self;

    async fn do_handshake(
        &self,
        request: Request<Streaming<HandshakeRequest>>,
    ) -> Result<Response<Handshake>, Status> {
        self.caller(&request)?;
        let token = access::token(request.metadata()).unwrap_or_default();
        let answer = HandshakeResponse {
            protocol_version: 0,
            payload: token.clone().into(),
        };
        let answers: Handshake = Box::pin(futures::stream::iter([Ok(answer)]));
        let mut response = Response::new(answers);
        let bearer = format!("Bearer {token}");
        let bearer = bearer
            .parse()
            .map_err(|_| Status::unauthenticated("the token is not valid"))?;
        response.metadata_mut().insert("authorization", bearer);
        Ok(response)
    }

    async fn get_flight_info_statement(
        &self,
        query: CommandStatementQuery,
        request: Request<FlightDescriptor>,
    ) -> Result<Response<FlightInfo>, Status> {
        let handle = Handle::of(query.query);
        let ticket = TicketStatementQuery {
            statement_handle: handle.to_bytes()?.into(),
        };
        self.info(request, handle, ticket).await
    }

    async fn do_get_statement(
        &self,
        ticket: TicketStatementQuery,
        request: Request<Ticket>,
    ) -> Result<Response<RowStream>, Status> {
        self.rows(request, &ticket.statement_handle).await
    }

    async fn do_action_create_prepared_statement(
        &self,
        query: ActionCreatePreparedStatementRequest,
        request: Request<Action>,
    ) -> Result<ActionCreatePreparedStatementResult, Status> {
        let caller = self.caller(&request)?;
        let handle = Handle::of(query.query);
        let described = self.run(&caller, handle.clone(), true).await?;
        let schema = schema(&described)?;
        let options = IpcWriteOptions::default();
        let message: Result<IpcMessage, _> = SchemaAsIpc::new(&schema, &options).try_into();
        let IpcMessage(columns) =
            message.map_err(|error: datafusion::arrow::error::ArrowError| {
                Status::internal(error.to_string())
            })?;
        Ok(ActionCreatePreparedStatementResult {
            prepared_statement_handle: handle.to_bytes()?.into(),
            dataset_schema: columns,
            parameter_schema: bytes::Bytes::new(),
        })
    }

    async fn do_put_prepared_statement_query(
        &self,
        query: CommandPreparedStatementQuery,
        request: Request<PeekableFlightDataStream>,
    ) -> Result<DoPutPreparedStatementResult, Status> {
        self.caller(&request)?;
        let mut handle = Handle::from_bytes(&query.prepared_statement_handle)?;
        let sent = request.into_inner().map_err(FlightError::from);
        let mut batches = FlightRecordBatchStream::new_from_flight_data(sent);
        let mut bound = None;
        while let Some(batch) = batches.next().await {
            let batch = batch.map_err(Status::from)?;
            if batch.num_rows() == 0 {
                continue;
            }
            if bound.is_some() || batch.num_rows() > 1 {
                return Err(Status::invalid_argument(
                    "a statement takes one row of values at a time",
                ));
            }
            bound = Some(stream_of(&batch)?);
        }
        handle.row = bound.unwrap_or_default();
        Ok(DoPutPreparedStatementResult {
            prepared_statement_handle: Some(handle.to_bytes()?.into()),
        })
    }

    async fn get_flight_info_prepared_statement(
        &self,
        query: CommandPreparedStatementQuery,
        request: Request<FlightDescriptor>,
    ) -> Result<Response<FlightInfo>, Status> {
        let handle = Handle::from_bytes(&query.prepared_statement_handle)?;
        self.info(request, handle, query).await
    }

    async fn do_get_prepared_statement(
        &self,
        query: CommandPreparedStatementQuery,
        request: Request<Ticket>,
    ) -> Result<Response<RowStream>, Status> {
        self.rows(request, &query.prepared_statement_handle).await
    }

    async fn do_action_close_prepared_statement(
        &self,
        _query: ActionClosePreparedStatementRequest,
        request: Request<Action>,
    ) -> Result<(), Status> {
        // Nothing is kept of one.
        self.caller(&request).map(|_| ())
    }

    async fn do_put_statement_update(
        &self,
        _ticket: CommandStatementUpdate,
        request: Request<PeekableFlightDataStream>,
    ) -> Result<i64, Status> {
        self.caller(&request)?;
        Err(read_only())
    }

    async fn do_put_prepared_statement_update(
        &self,
        _query: CommandPreparedStatementUpdate,
        request: Request<PeekableFlightDataStream>,
    ) -> Result<i64, Status> {
        self.caller(&request)?;
        Err(read_only())
    }

    async fn get_flight_info_catalogs(
        &self,
        query: CommandGetCatalogs,
        request: Request<FlightDescriptor>,
    ) -> Result<Response<FlightInfo>, Status> {
        self.caller(&request)?;
        let batch = metadata::catalogs().map_err(Status::from)?;
        found(request, &batch.schema(), &query)
    }

    async fn do_get_catalogs(
        &self,
        _query: CommandGetCatalogs,
        request: Request<Ticket>,
    ) -> Result<Response<RowStream>, Status> {
        self.caller(&request)?;
        of_batch(metadata::catalogs())
    }

    async fn get_flight_info_schemas(
        &self,
        query: CommandGetDbSchemas,
        request: Request<FlightDescriptor>,
    ) -> Result<Response<FlightInfo>, Status> {
        self.caller(&request)?;
        let columns = query.clone().into_builder().schema();
        found(request, &columns, &query)
    }

    async fn do_get_schemas(
        &self,
        query: CommandGetDbSchemas,
        request: Request<Ticket>,
    ) -> Result<Response<RowStream>, Status> {
        self.caller(&request)?;
        of_batch(metadata::schemas(query))
    }

    async fn get_flight_info_tables(
        &self,
        query: CommandGetTables,
        request: Request<FlightDescriptor>,
    ) -> Result<Response<FlightInfo>, Status> {
        self.caller(&request)?;
        let columns = query.clone().into_builder().schema();
        found(request, &columns, &query)
    }

    async fn do_get_tables(
        &self,
        query: CommandGetTables,
        request: Request<Ticket>,
    ) -> Result<Response<RowStream>, Status> {
        self.caller(&request)?;
        of_batch(metadata::listed(query))
    }

    async fn get_flight_info_table_types(
        &self,
        query: CommandGetTableTypes,
        request: Request<FlightDescriptor>,
    ) -> Result<Response<FlightInfo>, Status> {
        self.caller(&request)?;
        let batch = metadata::kinds().map_err(Status::from)?;
        found(request, &batch.schema(), &query)
    }

    async fn do_get_table_types(
        &self,
        _query: CommandGetTableTypes,
        request: Request<Ticket>,
    ) -> Result<Response<RowStream>, Status> {
        self.caller(&request)?;
        of_batch(metadata::kinds())
    }

    async fn get_flight_info_sql_info(
        &self,
        query: CommandGetSqlInfo,
        request: Request<FlightDescriptor>,
    ) -> Result<Response<FlightInfo>, Status> {
        self.caller(&request)?;
        let all = metadata::abilities().map_err(Status::from)?;
        found(request, &all.schema(), &query)
    }

    async fn do_get_sql_info(
        &self,
        query: CommandGetSqlInfo,
        request: Request<Ticket>,
    ) -> Result<Response<RowStream>, Status> {
        self.caller(&request)?;
        let all = metadata::abilities().map_err(Status::from)?;
        of_batch(all.record_batch(query.info))
    }

    async fn register_sql_info(&self, _id: i32, _result: &SqlInfo) {}
}
