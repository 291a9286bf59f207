//! Statements that want more than rows: each is turned away or ended, says why,
//! and leaves the service as it was.

use std::time::{Duration, Instant};

use crate::service::Service;

/// Short limits, so that a test of what runs into them is short as well.
pub(crate) const LIMITS: &str =
    "[serve.sql]\ntimeout = '5s'\nmax_memory = '600MiB'\nmax_rows = 1000\nmax_bytes = '4MiB'\n";

/// What writes, reads files, reaches the network or changes settings.
pub(crate) const FORBIDDEN: &[&str] = &[
    "COPY events TO '/tmp/whathappened-hostile.csv'",
    "COPY (SELECT 1) TO '/tmp/whathappened-hostile.parquet' STORED AS PARQUET",
    "COPY events TO 's3://bucket/x.csv'",
    "CREATE EXTERNAL TABLE x STORED AS CSV LOCATION '/etc/passwd'",
    "CREATE EXTERNAL TABLE x STORED AS PARQUET LOCATION 's3://bucket/x'",
    "CREATE UNBOUNDED EXTERNAL TABLE x (a INT) STORED AS CSV LOCATION '/dev/zero'",
    "SELECT * FROM '/etc/passwd'",
    "SELECT * FROM \"/etc/passwd\"",
    "SELECT * FROM 'file:///etc/passwd'",
    "SELECT * FROM '/proc/self/environ'",
    "SELECT * FROM 's3://bucket/x.parquet'",
    "SELECT * FROM 'http://127.0.0.1:1/x.csv'",
    "SELECT * FROM '*.parquet'",
    "SELECT * FROM '../../../etc/*'",
    "SELECT * FROM read_csv('/etc/passwd')",
    "SELECT * FROM read_parquet('/tmp/x.parquet')",
    "SELECT * FROM read_json('/etc/passwd')",
    "SELECT * FROM parquet_metadata('/tmp/x.parquet')",
    "SELECT * FROM glob('/etc/*')",
    "SELECT pg_read_file('/etc/passwd')",
    "SELECT load_extension('/tmp/x.so')",
    "SELECT sys_exec('id')",
    "ATTACH '/etc/passwd' AS x",
    "LOAD DATA INPATH '/etc/passwd' INTO TABLE events",
    "INSTALL httpfs",
    "SET datafusion.execution.target_partitions = 1000000",
    "SET datafusion.runtime.memory_limit = '100G'",
    "RESET datafusion.execution.batch_size",
    "PREPARE p AS SELECT 1",
    "EXECUTE p",
    "DEALLOCATE p",
    "BEGIN",
    "START TRANSACTION",
    "COMMIT",
    "ROLLBACK",
    "INSERT INTO events SELECT * FROM events",
    "INSERT OVERWRITE events SELECT * FROM events",
    "UPDATE events SET message = 'x'",
    "DELETE FROM events",
    "MERGE INTO events USING objects ON true WHEN MATCHED THEN DELETE",
    "TRUNCATE TABLE events",
    "DROP TABLE events",
    "DROP VIEW events",
    "DROP SCHEMA public CASCADE",
    "ALTER TABLE events ADD COLUMN x INT",
    "CREATE TABLE x AS SELECT * FROM events",
    "CREATE VIEW x AS SELECT * FROM events",
    "CREATE SCHEMA x",
    "CREATE DATABASE x",
    "CREATE FUNCTION f(int) RETURNS int RETURN $1",
    "CREATE INDEX i ON events (pod)",
    "SELECT * INTO x FROM events",
    "WITH x AS (DELETE FROM events RETURNING *) SELECT * FROM x",
    "WITH x AS (INSERT INTO events SELECT * FROM events RETURNING 1) SELECT * FROM x",
    "EXPLAIN ANALYZE INSERT INTO events SELECT * FROM events",
    "EXPLAIN COPY events TO '/tmp/whathappened-hostile.csv'",
    "GRANT ALL ON events TO public",
    "KILL 1",
    "VACUUM",
    "ANALYZE TABLE events COMPUTE STATISTICS",
    "CALL system('id')",
    "USE information_schema",
    "LISTEN x",
    "SELECT 1; DROP TABLE events",
    "SELECT 1; SELECT 2",
    "",
    ";",
    "--",
    "/* SELECT 1",
    "SELECT",
    "\u{feff}DROP TABLE events",
    "ＤＲＯＰ TABLE events",
    "SELECT\u{a0}1\u{202e}",
    "SEL\u{200b}ECT 1",
    "SELECT \0",
    "DROP\0TABLE events",
    "SELECT 'a' || \0 || 'b'",
    "SELECT 1 FROM events\u{0}; COPY events TO '/tmp/whathappened-hostile.csv'",
    "SELECT why(name) FROM runs",
    "SELECT * FROM why('../../etc/passwd')",
    "SELECT * FROM timeline((SELECT 'x'))",
    "SELECT * FROM generate_series(1, 10, 0)",
    "SELECT regexp_like('a', '(')",
    "SELECT CAST(message AS INT) FROM events",
];

/// What asks for more time or memory than there is; some of them may answer.
pub(crate) fn greedy() -> Vec<String> {
    let nested = |depth: usize| format!("SELECT {}1{}", "(".repeat(depth), ")".repeat(depth));
    let mut all: Vec<String> = [
        "SELECT count(*) FROM events a, events b, events c, events d",
        "SELECT * FROM events a CROSS JOIN events b CROSS JOIN events c ORDER BY a.message, c.raw",
        "SELECT a.raw || b.raw || c.raw FROM events a, events b, events c",
        "SELECT count(DISTINCT a.id || b.id || c.id) FROM events a, events b, events c",
        "SELECT * FROM generate_series(1, 9223372036854775807)",
        "SELECT count(*) FROM generate_series(1, 9223372036854775807)",
        "SELECT array_agg(value) FROM generate_series(1, 9223372036854775807)",
        "SELECT string_agg(raw, '') FROM (SELECT a.raw FROM events a, events b, events c)",
        "SELECT a.value * b.value FROM generate_series(1, 1000000) a, generate_series(1, 1000000) b ORDER BY 1",
        "SELECT generate_series(1, 9223372036854775807)",
        "SELECT range(0, 9223372036854775807)",
        "SELECT length(repeat('x', 2000000000))",
        "SELECT length(repeat(raw, 100000)) FROM events",
        "SELECT length(repeat(repeat(repeat('x', 100000), 100000), 100000))",
        "SELECT lpad('x', 2000000000)",
        "SELECT rpad(raw, 2000000000, 'y') FROM events",
        "SELECT array_repeat(array_repeat('x', 100000), 100000)",
        "SELECT replace(replace(replace(replace(repeat('a', 1000), 'a', repeat('a', 1000)), 'a', repeat('a', 1000)), 'a', repeat('a', 1000)), 'a', 'b')",
        "WITH RECURSIVE r AS (SELECT 1 AS n UNION ALL SELECT n + 1 FROM r) SELECT count(*) FROM r",
        "WITH RECURSIVE r AS (SELECT 'x' AS s UNION ALL SELECT s || s FROM r) SELECT max(length(s)) FROM r",
        "WITH RECURSIVE r AS (SELECT id FROM events UNION ALL SELECT e.id FROM r, events e) SELECT count(*) FROM r",
        "SELECT regexp_count(repeat('a', 100000) || 'b', '(a|a)*c')",
        "SELECT regexp_like(repeat('a', 50000000), '(a?){500}a{500}')",
        "SELECT regexp_like('a', '((((a{99}){99}){99}){99}){99}')",
        "SELECT regexp_replace(repeat('a', 10000), 'a', repeat('b', 100000), 'g')",
        "SELECT count(*) FROM events WHERE raw LIKE '%a%b%c%d%e%f%g%h%i%j%k%l%' OR raw SIMILAR TO '(%a%)*'",
        "SELECT sum(power(a.value, b.value)) FROM generate_series(1, 100000000) a, generate_series(1, 100000000) b",
        "SELECT 9223372036854775807 * 9223372036854775807",
        "SELECT median(a.value + b.value) FROM generate_series(1, 100000) a, generate_series(1, 100000) b",
        "SELECT row_number() OVER (ORDER BY a.raw) FROM events a, events b, events c",
        "EXPLAIN ANALYZE SELECT count(*) FROM events a, events b, events c, events d",
    ]
    .map(str::to_owned)
    .into();
    all.push(nested(100_000));
    all.push(format!("SELECT {}", "- ".repeat(300_000) + "1"));
    all.push(format!("SELECT {}1", "NOT ".repeat(200_000)));
    all.push(format!("SELECT 1{}", " + 1".repeat(200_000)));
    all.push(format!(
        "SELECT {}1{}",
        "abs(".repeat(5_000),
        ")".repeat(5_000)
    ));
    all.push(format!(
        "SELECT {} 1 {}",
        "CASE WHEN true THEN ".repeat(20_000),
        "END ".repeat(20_000)
    ));
    all.push(format!(
        "SELECT * FROM {}runs{}",
        "(SELECT * FROM ".repeat(3_000),
        ") x".repeat(3_000)
    ));
    all.push(format!("SELECT 1 {}", "UNION ALL SELECT 1 ".repeat(20_000)));
    all.push(format!("SELECT 1 WHERE 1 IN ({}1)", "1, ".repeat(250_000)));
    all.push(format!(
        "SELECT {} FROM events",
        vec!["raw"; 50_000].join(", ")
    ));
    let joins: String = (0..60).map(|n| format!(", runs r{n}")).collect();
    all.push(format!("SELECT count(*) FROM runs{joins}"));
    let levels: String = (1..40)
        .map(|n| format!(", l{n} AS (SELECT s || s AS s FROM l{})", n - 1))
        .collect();
    all.push(format!(
        "WITH l0 AS (SELECT 'x' AS s){levels} SELECT length(s) FROM l39"
    ));
    all
}

/// The service answers others meanwhile and afterwards.
pub(crate) fn is_well(service: &Service, after: &str) {
    let begun = Instant::now();
    let health = service.get("/healthz", &[]);
    assert_eq!(health.status, 200, "{after}");
    assert!(begun.elapsed() < Duration::from_secs(3), "{after}");
}

pub(crate) fn shown(statement: &str) -> String {
    statement.chars().take(100).collect()
}

#[test]
fn what_is_no_question_is_refused_and_says_why() {
    let service = Service::start(&["fixtures/gke-host-maintenance/input"], LIMITS);
    assert!(FORBIDDEN.len() >= 60);
    for statement in FORBIDDEN {
        let reported = service.sql(statement.as_bytes(), &[]);
        assert_eq!(reported.status, 400, "{statement}: {}", reported.text());
        assert!(
            reported.head.contains("application/problem+json"),
            "{statement}"
        );
        let detail = reported.json()["detail"].as_str().unwrap().to_owned();
        assert!(detail.len() > 5, "{statement}: {detail}");
        assert!(!detail.contains("root:"), "{statement}: {detail}");
    }
    is_well(&service, "what is refused");
    assert!(!std::path::Path::new("/tmp/whathappened-hostile.csv").exists());
    let rows = service.sql(b"SELECT count(*) AS n FROM events", &[]).json();
    assert!(rows[0]["n"].as_u64().unwrap() > 0, "{rows}");
}

#[test]
fn what_asks_for_too_much_is_ended_and_harms_nobody() {
    let service = Service::start(&["fixtures/gke-host-maintenance/input"], LIMITS);
    service.sql(b"SELECT 1", &[]);
    let before = service.memory();
    for statement in greedy() {
        let begun = Instant::now();
        let reported = service.sql(statement.as_bytes(), &[]);
        let took = begun.elapsed();
        let name = shown(&statement);
        assert!(
            matches!(reported.status, 200 | 400 | 413 | 422),
            "{name}: {} {}",
            reported.status,
            shown(&reported.text())
        );
        assert!(took < Duration::from_secs(20), "{name}: {took:?}");
        if reported.status != 200 {
            assert!(
                !reported.json()["detail"].as_str().unwrap().is_empty(),
                "{name}"
            );
        }
        is_well(&service, &name);
        println!("{} {took:?} {name}", reported.status);
    }
    // Ten megabytes of statement are not even taken.
    let long = format!("SELECT '{}'", "x".repeat(10 << 20));
    assert_eq!(service.sql(long.as_bytes(), &[]).status, 413);
    let grown = service.memory().saturating_sub(before);
    assert!(grown < 200 << 20, "the service grew by {grown} bytes");
}

#[test]
fn a_statement_ends_when_nobody_waits_for_it() {
    let service = Service::start(
        &["fixtures/gke-host-maintenance/input"],
        "[serve.sql]\ntimeout = '60s'\nat_once = 1\n",
    );
    {
        use std::io::Write as _;
        let statement = "SELECT count(*) FROM generate_series(1, 9223372036854775807)";
        let mut gone = service.connect();
        write!(
            gone,
            "POST /api/v1/sql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/sql\r\ncontent-length: {}\r\n\r\n{statement}",
            statement.len()
        )
        .unwrap();
        std::thread::sleep(Duration::from_secs(1));
    }
    // There is one place, which is free again long before the time is up.
    let begun = Instant::now();
    assert_eq!(service.sql(b"SELECT 1", &[]).status, 200);
    assert!(begun.elapsed() < Duration::from_secs(15));
}

/// The command line has the same limits: each ends, says why in a line, and panics for nobody.
#[test]
fn what_asks_for_too_much_ends_in_the_command_line_too() {
    // What the parser tries in several ways, and what the planner plans one by one.
    let deep = [
        format!("SELECT {}1{}", "cast(".repeat(60), " AS int)".repeat(60)),
        format!("SELECT 1 {}", "UNION ALL SELECT 1 ".repeat(5_000)),
    ];
    for statement in greedy().iter().step_by(3).chain(&deep) {
        let begun = Instant::now();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), statement).unwrap();
        let output = std::process::Command::new(env!("CARGO_BIN_EXE_whathappened"))
            .args(["sql", "-", "--from", "fixtures/gke-host-maintenance/input"])
            .args(["--timeout", "3s", "--max-memory", "600MiB", "--quiet"])
            .env_clear()
            .env("PATH", "/usr/bin:/bin")
            .env("HOME", "/nonexistent")
            .stdin(std::fs::File::open(file.path()).unwrap())
            .stdout(std::process::Stdio::null())
            .output()
            .unwrap();
        let reported = String::from_utf8_lossy(&output.stderr);
        let what = shown(statement);
        assert!(output.status.code().is_some(), "{what}: {}", output.status);
        assert!(
            !reported.contains("panicked") && !reported.contains("overflow its stack"),
            "{what}: {reported}"
        );
        let is_told = output.status.success() || reported.contains("error:");
        assert!(is_told && reported.len() < 2_000, "{what}: {reported}");
        assert!(
            begun.elapsed() < Duration::from_secs(40),
            "{what}: {:?}",
            begun.elapsed()
        );
    }
}
