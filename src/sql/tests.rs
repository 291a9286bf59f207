//! The tables over the bundled incident.

use std::path::PathBuf;
use std::sync::{Arc, LazyLock};

use datafusion::arrow::array::{Array as _, AsArray as _, RecordBatch};
use datafusion::arrow::compute::cast;
use datafusion::arrow::datatypes::DataType;
use whathappened_connectors::recording::{Input, Options};

use super::catalog::Table;
use super::column::DESCRIPTION;
use super::session::Session;
use crate::case::{Case, Rules};
use crate::error::Error;

static CASE: LazyLock<Arc<Case>> = LazyLock::new(|| {
    let folder = PathBuf::from("fixtures/lab-cluster");
    let inputs = ["input", "loki"].map(|part| Input::Path(folder.join(part)));
    let rules = Arc::new(Rules::load(&[]).unwrap());
    Arc::new(Case::read(&inputs, &Options::default(), rules, &mut |_, _| {}).unwrap())
});

pub(super) fn session() -> Session {
    Session::new(Arc::clone(&CASE)).unwrap()
}

async fn rows(text: &str) -> Vec<RecordBatch> {
    match session().query(text).await {
        Ok(rows) => rows,
        Err(error) => panic!("{text}: {error}"),
    }
}

/// Rows as lines of text, NULL as a dash.
async fn lines(text: &str) -> Vec<String> {
    let mut lines = Vec::new();
    for batch in rows(text).await {
        let columns: Vec<_> = batch
            .columns()
            .iter()
            .map(|column| cast(column, &DataType::Utf8).unwrap())
            .collect();
        for row in 0..batch.num_rows() {
            let cells = columns.iter().map(|column| {
                if column.is_null(row) {
                    "-".to_owned()
                } else {
                    column.as_string::<i32>().value(row).to_owned()
                }
            });
            lines.push(cells.collect::<Vec<_>>().join("|"));
        }
    }
    lines
}

async fn refused(text: &str) -> String {
    match session().query(text).await {
        Ok(_) => panic!("{text}: was run"),
        Err(error) => error.to_string(),
    }
}

fn from(table: &Table) -> String {
    let call = if table.is_function {
        "('gpt2-small-7f3')"
    } else {
        ""
    };
    format!("SELECT * FROM {}{call}", table.name)
}

#[tokio::test]
async fn every_table_has_rows_of_its_types_and_says_what_they_mean() {
    for table in session().tables() {
        for field in table.schema.fields() {
            let meaning = field.metadata().get(DESCRIPTION).map_or("", String::as_str);
            assert!(!meaning.is_empty(), "{}.{}", table.name, field.name());
        }
        let found = rows(&from(table)).await;
        assert!(
            found.iter().map(RecordBatch::num_rows).sum::<usize>() > 0,
            "{}",
            table.name
        );
        for batch in &found {
            assert_eq!(
                batch.schema().fields(),
                table.schema.fields(),
                "{}",
                table.name
            );
        }
    }
}

#[tokio::test]
async fn everything_in_the_input_is_explained() {
    let found = lines("SELECT experiment, cause FROM incidents WHERE role = 'main' AND level <> 'hypothesis' AND time IS NOT NULL ORDER BY experiment").await;
    let wanted = [
        "atari-dqn-42|ops.node_drained",
        "dota-5v5-scale|sched.unschedulable_capacity",
        "gpt2-small-7f3|node.not_ready",
        "imagenet-resnet-88|sched.preempted",
        "musenet-piano-3|code.host_oom",
        "rlhf-prod-eval|ops.manual_delete",
        "robot-hand-sim|code.deadline",
        "sparse-transformer-9|code.exception",
    ];
    assert_eq!(found, wanted);
    // What a run survived is there, and told apart.
    let survived =
        lines("SELECT DISTINCT experiment, cause FROM incidents WHERE role = 'recovered'");
    assert_eq!(survived.await, ["musenet-piano-3|code.host_oom"]);
}

#[tokio::test]
async fn a_table_function_tells_of_one_experiment() {
    let roles = lines("SELECT role FROM why('gpt2-small-7f3') ORDER BY step").await;
    assert_eq!(roles.first().map(String::as_str), Some("verdict"));
    assert!(
        roles.iter().any(|role| role == "cause") && roles.iter().any(|role| role == "death"),
        "{roles:?}"
    );
    let chained = lines("SELECT count(*) FROM timeline('gpt2-small-7f3') WHERE in_chain").await;
    assert_ne!(chained, ["0"]);
    for text in [
        "SELECT * FROM why('gpt2-smal-7f3')",
        "SELECT * FROM timeline('gpt2-smal-7f3')",
    ] {
        match session().query(text).await {
            Err(Error::UnknownName { nearest, .. }) => {
                assert!(nearest.iter().any(|name| name == "gpt2-small-7f3"));
            }
            other => panic!("{other:?}"),
        }
    }
    assert!(refused("SELECT * FROM why(1)").await.contains("why('"));
}

#[tokio::test]
async fn json_columns_come_apart() {
    let agents = "SELECT DISTINCT attributes ->> 'user_agent' FROM events WHERE attributes ->> 'user_agent' LIKE 'kubectl/%'";
    assert!(!lines(agents).await.is_empty());
    // What may be of any JSON type is shown as JSON text.
    let codes = lines("SELECT DISTINCT json_get(attributes, 'code') AS code FROM events WHERE json_get_str(attributes, 'code') = '201'").await;
    assert_eq!(codes, ["\"201\""]);
    assert_eq!(
        lines("SELECT json_get_int('{\"a\": {\"b\": 7}}', 'a', 'b')").await,
        ["7"]
    );
}

/// Pairs of the same question, once as a filter that is pushed down and once as one that is not.
#[tokio::test]
async fn a_filter_that_is_pushed_down_loses_nothing() {
    let pod = lines("SELECT pod FROM events WHERE pod IS NOT NULL AND node IS NOT NULL LIMIT 1")
        .await
        .remove(0);
    let id = lines("SELECT id FROM events LIMIT 1 OFFSET 100")
        .await
        .remove(0);
    for filter in [
        format!("pod = '{pod}'"),
        format!("'{pod}' = pod AND message IS NOT NULL"),
        format!("pod IN ('{pod}', 'nobody', 'x', 'y', 'z')"),
        format!("pod = '{pod}' OR node LIKE '%0002'"),
        format!("pod = '{pod}' OR namespace = 'kube-system'"),
        format!("NOT pod = '{pod}'"),
        format!("id = '{id}'"),
        "pod = 'nobody'".to_owned(),
        "pod IS NULL".to_owned(),
        "fact IN ('k8s.event', 'log.line')".to_owned(),
        "time >= '2026-11-21T15:21:00Z' AND time < '2026-11-21T15:22:00Z'".to_owned(),
        "time BETWEEN '2026-11-21T15:21:00Z' AND '2026-11-21T15:22:00Z'".to_owned(),
        "time_hi > now() - INTERVAL '1 minute' AND namespace <> 'research'".to_owned(),
    ] {
        let pushed = lines(&format!("SELECT id FROM events WHERE {filter}")).await;
        // A filter does not move below a limit.
        let stored = format!(
            "SELECT id FROM (SELECT *, ({filter}) AS passes FROM events LIMIT 1000000) WHERE passes"
        );
        assert_eq!(pushed, lines(&stored).await, "{filter}");
    }
    let plan = lines(&format!(
        "EXPLAIN SELECT message FROM events WHERE pod = '{pod}'"
    ))
    .await
    .join("\n");
    assert!(plan.contains("partial_filters=[events.pod"), "{plan}");
}

#[tokio::test]
async fn rows_come_in_order_of_time() {
    let as_read = lines("SELECT id FROM events").await;
    assert_eq!(
        as_read,
        lines("SELECT id FROM events ORDER BY time, id").await
    );
    let whole = lines("SELECT time, id FROM (SELECT time, id, message FROM events)").await;
    assert_eq!(whole.len(), as_read.len());
    let plan = lines("EXPLAIN SELECT message FROM events ORDER BY time")
        .await
        .join("\n");
    assert!(!plan.contains("SortExec"), "{plan}");
    assert_eq!(
        lines("SELECT count(*) FROM events").await,
        [as_read.len().to_string()]
    );
}

#[tokio::test]
async fn columns_from_memory_are_those_of_the_whole_fact() {
    let names = "id, fact, seen_by, time, time_lo, time_hi, end_time, namespace, workload, pod, pod_uid, node";
    let cheap = rows(&format!("SELECT {names} FROM events")).await;
    let whole = rows(&format!(
        "SELECT {names} FROM (SELECT * FROM events LIMIT 1000000) WHERE origin IS NOT NULL"
    ))
    .await;
    let joined = |batches: &[RecordBatch]| {
        datafusion::arrow::compute::concat_batches(&batches[0].schema(), batches).unwrap()
    };
    assert_eq!(joined(&cheap), joined(&whole));
}

#[tokio::test]
async fn statements_that_do_more_than_read_are_refused_with_a_reason() {
    for (text, reason) in [
        (
            "COPY events TO '/tmp/whathappened.csv'",
            "cannot write files",
        ),
        (
            "EXPLAIN COPY events TO '/tmp/whathappened.csv'",
            "cannot write files",
        ),
        (
            "CREATE EXTERNAL TABLE x STORED AS CSV LOCATION '/etc/passwd'",
            "cannot read files",
        ),
        ("SELECT * FROM '/etc/passwd'", "cannot read files"),
        ("SELECT * FROM 'file:///etc/hosts.csv'", "cannot read files"),
        ("INSERT INTO events VALUES (1)", "the data is read-only"),
        (
            "WITH x AS (SELECT 1) INSERT INTO events SELECT * FROM x",
            "the data is read-only",
        ),
        ("UPDATE events SET pod = 'x'", "the data is read-only"),
        ("DELETE FROM events", "the data is read-only"),
        ("SELECT * INTO x FROM events", "the data is read-only"),
        ("CREATE TABLE x AS SELECT 1", "the data is read-only"),
        ("CREATE VIEW x AS SELECT 1", "the data is read-only"),
        ("DROP TABLE events", "the data is read-only"),
        (
            "SET datafusion.execution.batch_size = 1",
            "settings are fixed",
        ),
        (
            "RESET datafusion.execution.batch_size",
            "settings are fixed",
        ),
        ("PREPARE x AS SELECT 1", "only SELECT"),
        ("BEGIN", "only SELECT"),
        ("CREATE FUNCTION f() RETURNS INT RETURN 1", "only SELECT"),
    ] {
        let why = refused(text).await;
        assert!(why.contains(reason), "{text}: {why}");
        assert_eq!(why.lines().count(), 1, "{why}");
    }
}

#[tokio::test]
async fn a_statement_cannot_eat_the_machine() {
    let bomb = "SELECT a.raw FROM events a, events b, events c ORDER BY a.raw, b.raw, c.raw";
    assert!(refused(bomb).await.contains("512 MiB"));
}

#[tokio::test]
async fn a_mistyped_name_is_answered_with_the_nearest() {
    assert_eq!(
        refused("SELECT podd FROM events").await,
        "there is no column \"podd\"; did you mean pod, pod_uid?"
    );
    assert_eq!(
        refused("SELECT * FROM event").await,
        "there is no table \"event\"; did you mean events?"
    );
    assert_eq!(
        refused("SELECT * FROM ties").await,
        "there is no table \"ties\"; did you mean links?"
    );
    assert_eq!(
        refused("SELECT * FROM timeline").await,
        "\"timeline\" is a function of an experiment: write timeline('EXPERIMENT')"
    );
    assert!(refused("SELEC 1").await.starts_with("SQL syntax error"));
}

#[tokio::test]
async fn the_catalog_can_be_asked() {
    let tables = lines("SHOW TABLES").await;
    assert!(tables.is_sorted(), "{tables:?}");
    assert!(!lines("DESCRIBE events").await.is_empty());
    assert!(
        !lines("SELECT start, end FROM tenures WHERE end IS NOT NULL")
            .await
            .is_empty()
    );
    assert_eq!(
        lines(
            "SELECT now() = max(time_hi) OR now() = max(end_time) OR now() > max(time) FROM events"
        )
        .await,
        ["true"]
    );
}
