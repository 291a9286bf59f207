use std::collections::BTreeSet;
use std::sync::Arc;

use datafusion::arrow::array::{
    ArrayRef, BooleanArray, Float64Array, Int32Array, Int64Array, RecordBatch, StringArray,
};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::{DataType, SchemaRef};
use datafusion::arrow::util::display::array_value_to_string;
use datafusion::prelude::{SessionConfig, SessionContext};

use super::{RuleTables, VIEWS, tables};
use crate::explain::built_in;

/// What columns of names may hold.
const NAMES: &[&str] = &["a", "system:serviceaccount:x"];

/// Numbers that look like chance, the same in each run.
struct Chance(u64);

impl Chance {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % end
    }

    fn one_of<'a>(&mut self, words: &[&'a str]) -> &'a str {
        words[self.below(words.len())]
    }
}

/// Rows of a table that a statement may find something in: the words are its own.
fn rows(schema: &SchemaRef, count: usize, words: &[String], chance: &mut Chance) -> RecordBatch {
    let signals: Vec<&str> = words
        .iter()
        .map(String::as_str)
        .filter(|word| word.contains('.'))
        .collect();
    let columns = schema.fields().iter().map(|field| -> ArrayRef {
        let mut text = |among: &[&str]| -> ArrayRef {
            Arc::new(StringArray::from_iter_values(
                (0..count).map(|_| chance.one_of(among)),
            ))
        };
        match field.name().as_str() {
            "signal" => return text(&signals),
            "via" => return text(&["pod", "node", "workload", "named", "gang"]),
            "mode" => return text(&["killed", "exited", "lost"]),
            "state" => return text(&["died", "never_created", "restarted"]),
            _ => {}
        }
        let mut number = |end: usize| {
            (0..count)
                .map(|_| i64::try_from(chance.below(end)).ok())
                .collect::<Int64Array>()
        };
        match field.data_type() {
            DataType::Utf8 => Arc::new(
                number(3)
                    .iter()
                    .map(|drawn| NAMES.get(usize::try_from(drawn?).ok()?))
                    .collect::<StringArray>(),
            ),
            DataType::Boolean => Arc::new(
                number(3)
                    .iter()
                    .map(|drawn| drawn.filter(|drawn| *drawn < 2).map(|drawn| drawn == 1))
                    .collect::<BooleanArray>(),
            ),
            DataType::Int32 => Arc::new(Int32Array::from_iter_values((0..count).map(|_| 137))),
            DataType::Float64 => Arc::new(
                number(90)
                    .iter()
                    .map(|drawn| {
                        drawn
                            .and_then(|drawn| i32::try_from(drawn).ok())
                            .map(f64::from)
                    })
                    .collect::<Float64Array>(),
            ),
            kind => cast(&number(4), kind).unwrap(),
        }
    });
    RecordBatch::try_new(Arc::clone(schema), columns.collect()).unwrap()
}

/// A statement and those of the views that it selects from, and of theirs.
fn with_views(sql: &str) -> String {
    let mut all = sql.to_owned();
    // A view may use those before it.
    for (name, view) in VIEWS.iter().rev() {
        let mut words = all.split(|letter: char| !letter.is_alphanumeric() && letter != '_');
        if words.any(|word| word == *name) {
            all.push_str(view);
        }
    }
    all
}

/// The words of a statement in quotes; what stands for more is made to be some of it.
fn words(sql: &str) -> Vec<String> {
    let quoted = sql.split('\'').skip(1).step_by(2);
    let words: BTreeSet<String> = quoted.map(|word| word.replace('%', "user")).collect();
    words.into_iter().collect()
}

fn lines(batches: &[RecordBatch]) -> Vec<String> {
    let mut lines: Vec<String> = batches
        .iter()
        .flat_map(|batch| {
            (0..batch.num_rows()).map(|row| {
                let cells = batch
                    .columns()
                    .iter()
                    .map(|column| array_value_to_string(column, row).unwrap());
                cells.collect::<Vec<_>>().join(" ")
            })
        })
        .collect();
    lines.sort();
    lines
}

#[tokio::test]
async fn a_rule_answers_in_parts_what_it_answers_as_a_whole() {
    let mut found = 0;
    for rule in built_in().unwrap() {
        let context =
            SessionContext::new_with_config(SessionConfig::new().with_target_partitions(1));
        let mut chance = Chance(7);
        let all = words(&with_views(&rule.sql));
        let deaths = rows(&tables::deaths_schema(), 6, &all, &mut chance);
        let links = rows(&tables::links_schema(), 300, &all, &mut chance);
        context.register_batch("deaths", deaths.clone()).unwrap();
        context.register_batch("links", links.clone()).unwrap();
        for (name, view) in VIEWS {
            context
                .sql(&format!("CREATE VIEW {name} AS {view}"))
                .await
                .unwrap();
        }
        let whole = context
            .sql(&rule.sql)
            .await
            .unwrap()
            .collect()
            .await
            .unwrap();
        let signals = links.column_by_name("signal").unwrap();
        let signals: Vec<String> = (0..links.num_rows())
            .map(|row| array_value_to_string(signals, row).unwrap())
            .collect();
        let signals: BTreeSet<&str> = signals.iter().map(String::as_str).collect();
        let asked = RuleTables::over(deaths, links, &signals).await.unwrap();
        let parts = asked.answer(&rule.sql).await.unwrap();
        assert_eq!(lines(&parts), lines(&whole), "{}", rule.file);
        found += usize::from(!lines(&whole).is_empty());
    }
    assert!(found > 40, "only {found} rules found anything");
}
