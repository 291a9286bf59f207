//! Rows as PostgreSQL's clients read them.

use std::io::Cursor;
use std::sync::Arc;

use arrow_pg::datatypes::arrow_schema_to_pg_fields;
use arrow_pg::row_encoder::RowEncoder;
use datafusion::arrow::datatypes::SchemaRef;
use datafusion::arrow::error::ArrowError;
use datafusion::arrow::ipc::reader::StreamReader;
use pgwire::api::Type;
use pgwire::api::portal::Format;
use pgwire::api::results::{DataRowEncoder, FieldFormat, FieldInfo, QueryResponse};
use pgwire::error::{PgWireError, PgWireResult};
use pgwire::messages::data::DataRow;

use super::errors::error;
use super::held::Room;
use crate::serve::statement::StatementOutput;

/// The rows of a statement in a child's answer, read one by one.
struct Rows {
    reader: StreamReader<Cursor<Vec<u8>>>,
    batch: Option<RowEncoder>,
    fields: Arc<Vec<FieldInfo>>,
    /// How many there are, where there are more that were left out.
    cut_at: Option<u64>,
    _room: Room,
}

impl Iterator for Rows {
    type Item = PgWireResult<DataRow>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(row) = self.batch.as_mut().and_then(RowEncoder::next_row) {
                return Some(row);
            }
            self.batch = match self.reader.next() {
                Some(Ok(batch)) => Some(RowEncoder::new(batch, Arc::clone(&self.fields))),
                Some(Err(broken)) => return Some(Err(unreadable(&broken))),
                None => {
                    // Who draws a figure of some of the rows has to know.
                    let rows = self.cut_at.take()?;
                    return Some(Err(cut(rows)));
                }
            };
        }
    }
}

fn cut(rows: u64) -> PgWireError {
    let mut cut = error(
        "54000",
        format!(
            "only the first {rows} rows were sent: the result is larger than the service allows"
        ),
    );
    if let PgWireError::UserError(info) = &mut cut {
        let hint = "narrow it with LIMIT, or with WHERE, ideally on time, pod or experiment";
        info.hint = Some(hint.to_owned());
    }
    cut
}

fn unreadable(broken: &ArrowError) -> PgWireError {
    error("XX000", format!("the rows cannot be read: {broken}"))
}

/// The columns of a schema in the form that a client asked for.
pub(super) fn fields(schema: &SchemaRef, format: &Format) -> PgWireResult<Vec<FieldInfo>> {
    if let Format::Individual(formats) = format
        && formats.len() != schema.fields().len()
    {
        return Err(error(
            "08P01",
            format!(
                "{} formats were sent for {} columns",
                formats.len(),
                schema.fields().len()
            ),
        ));
    }
    arrow_schema_to_pg_fields(schema, format, None)
}

/// The columns of an answer without rows.
pub(super) fn columns(output: &StatementOutput, format: &Format) -> PgWireResult<Vec<FieldInfo>> {
    let reader = StreamReader::try_new(Cursor::new(&output.body), None);
    let reader = reader.map_err(|broken| unreadable(&broken))?;
    fields(&reader.schema(), format)
}

/// The rows of an answer.
pub(super) fn response(
    output: StatementOutput,
    format: &Format,
    room: Room,
) -> PgWireResult<QueryResponse> {
    let reader = StreamReader::try_new(Cursor::new(output.body), None);
    let reader = reader.map_err(|broken| unreadable(&broken))?;
    let fields = Arc::new(fields(&reader.schema(), format)?);
    let rows = Rows {
        reader,
        batch: None,
        fields: Arc::clone(&fields),
        cut_at: output.truncated.then_some(output.rows),
        _room: room,
    };
    Ok(QueryResponse::new(fields, futures::stream::iter(rows)))
}

/// The one column of a setting.
pub(super) fn setting_column(name: &str) -> Vec<FieldInfo> {
    let field = FieldInfo::new(name.to_owned(), None, None, Type::TEXT, FieldFormat::Text);
    vec![field]
}

/// One row with the value of a setting.
pub(super) fn setting(name: &str, value: &str) -> PgWireResult<QueryResponse> {
    let fields = Arc::new(setting_column(name));
    let mut row = DataRowEncoder::new(Arc::clone(&fields));
    row.encode_field(&Some(value))?;
    let row = row.take_row();
    let mut response = QueryResponse::new(fields, futures::stream::iter([Ok(row)]));
    response.set_command_tag("SHOW");
    Ok(response)
}
