//! Rows of queries in every format.

use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, Float64Array, Int32Array, ListBuilder, RecordBatch, StringArray, StringBuilder,
    TimestampNanosecondArray,
};
use datafusion::arrow::datatypes::{DataType, Field, Schema, SchemaRef};
use datafusion::parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;

use super::fixtures::large;
use super::timeline_batch::timeline_batch;
use super::{Format, RowWriter, Style, rows};

fn batch() -> RecordBatch {
    let mut lists = ListBuilder::new(StringBuilder::new());
    lists.append_value([Some("k8s.node.not_ready"), Some("a,\"b\"")]);
    lists.append_value([None::<&str>; 0]);
    lists.append_null();
    let nanos = vec![
        Some(1_795_274_463_000_000_000),
        Some(1_795_274_463_022_113_000),
        None,
    ];
    let columns: [(&str, ArrayRef); 7] = [
        (
            "time",
            Arc::new(TimestampNanosecondArray::from(nanos.clone()).with_timezone("UTC")),
        ),
        ("naive", Arc::new(TimestampNanosecondArray::from(nanos))),
        (
            "pod",
            Arc::new(StringArray::from(vec![
                Some("gpt2-small-7f3-1-qp9zc"),
                Some("=1+1"),
                None,
            ])),
        ),
        (
            "message",
            Arc::new(StringArray::from(vec![
                "\u{1b}[31mred | blue",
                "two\nlines, \"quoted\"",
                "-5",
            ])),
        ),
        (
            "exit_code",
            Arc::new(Int32Array::from(vec![Some(137), None, Some(-1)])),
        ),
        (
            "hours",
            Arc::new(Float64Array::from(vec![0.5, -1.25, f64::NAN])),
        ),
        ("signals", Arc::new(lists.finish())),
    ];
    RecordBatch::try_from_iter_with_nullable(columns.map(|(name, array)| (name, array, true)))
        .unwrap()
}

fn written(format: Format, width: usize, batches: &[RecordBatch]) -> Vec<u8> {
    let style = Style {
        width,
        ..Style::default()
    };
    let mut out = Vec::new();
    let schema = batches
        .first()
        .map_or_else(|| batch().schema(), RecordBatch::schema);
    let n = rows(&schema, batches, format, &style, &mut out).unwrap();
    assert_eq!(
        n as usize,
        batches.iter().map(RecordBatch::num_rows).sum::<usize>()
    );
    out
}

fn text(format: Format, width: usize, batches: &[RecordBatch]) -> String {
    String::from_utf8(written(format, width, batches)).unwrap()
}

#[test]
fn tables() {
    insta::assert_snapshot!(text(Format::Table, 200, &[batch()]));
    insta::assert_snapshot!(text(Format::Table, 140, &[batch(), batch()]));
    insta::assert_snapshot!(text(Format::Table, 60, &[batch()]));
}

#[test]
fn texts() {
    insta::assert_snapshot!(text(Format::Json, 80, &[batch(), batch()]));
    insta::assert_snapshot!(text(Format::Ndjson, 80, &[batch()]));
    insta::assert_snapshot!(text(Format::Csv, 80, &[batch()]));
    insta::assert_snapshot!(text(Format::Md, 80, &[batch()]));
}

#[test]
fn no_rows() {
    assert_eq!(text(Format::Json, 80, &[]), "[]\n");
    assert_eq!(text(Format::Ndjson, 80, &[]), "");
    assert_eq!(
        text(Format::Csv, 80, &[]),
        "time,naive,pod,message,exit_code,hours,signals\r\n"
    );
    assert_eq!(text(Format::Table, 80, &[]).lines().count(), 2);
    assert_eq!(read_parquet(&written(Format::Parquet, 80, &[])).len(), 0);
}

#[test]
fn no_columns() {
    let schema: SchemaRef = Arc::new(Schema::empty());
    for format in Format::ALL {
        let mut out = Vec::new();
        rows(&schema, &[], format, &Style::default(), &mut out).unwrap();
    }
}

#[test]
fn columns_of_one_name_are_told_apart() {
    let field = || Field::new("id", DataType::Int32, false);
    let schema: SchemaRef = Arc::new(Schema::new(vec![
        field(),
        field(),
        Field::new("id_2", DataType::Int32, false),
    ]));
    let column = || Arc::new(Int32Array::from(vec![1])) as ArrayRef;
    let batch = RecordBatch::try_new(schema, vec![column(), column(), column()]).unwrap();
    assert_eq!(
        text(Format::Ndjson, 80, &[batch]),
        "{\"id\":1,\"id_2\":1,\"id_2_2\":1}\n"
    );
}

#[test]
fn parquet_reads_back() {
    let batches = read_parquet(&written(Format::Parquet, 80, &[batch(), batch()]));
    assert_eq!(batches.iter().map(RecordBatch::num_rows).sum::<usize>(), 6);
    assert_eq!(
        batches[0].schema().field(0).data_type(),
        batch().schema().field(0).data_type()
    );
    assert_eq!(&batches[0].column(6).slice(0, 3), batch().column(6));

    let timeline = timeline_batch(&large()).unwrap();
    let batches = read_parquet(&written(Format::Parquet, 80, &[timeline]));
    assert_eq!(
        batches.iter().map(RecordBatch::num_rows).sum::<usize>(),
        3_000
    );
}

#[test]
fn a_long_table_streams_with_one_head() {
    let style = Style {
        width: 120,
        ..Style::default()
    };
    let many = timeline_batch(&large())
        .unwrap()
        .project(&[0, 5, 6])
        .unwrap();
    let schema = many.schema();
    let mut out = Vec::new();
    let mut writer = RowWriter::new(&schema, Format::Table, &style, &mut out).unwrap();
    for at in (0..3_000).step_by(750) {
        writer.write(&many.slice(at, 750)).unwrap();
    }
    assert_eq!(writer.finish().unwrap(), 3_000);
    let text = String::from_utf8(out).unwrap();
    // Three names of nodes are wider than the first thousand names of pods.
    assert_eq!(text.lines().count(), 3_005);
    assert_eq!(text.matches("entity").count(), 1);
}

fn read_parquet(bytes: &[u8]) -> Vec<RecordBatch> {
    use std::io::{Seek as _, SeekFrom, Write as _};
    let mut file = tempfile::tempfile().unwrap();
    file.write_all(bytes).unwrap();
    file.seek(SeekFrom::Start(0)).unwrap();
    let reader = ParquetRecordBatchReaderBuilder::try_new(file)
        .unwrap()
        .build()
        .unwrap();
    reader.map(Result::unwrap).collect()
}
