//! Damaged statements: none may panic, and whatever is refused stays refused however
//! it is written.

use super::guard;
use super::session::Session;
use super::tests::session;

/// Statements, allowed and not; `DIR` stands for a folder that must stay empty.
const STATEMENTS: &[&str] = &[
    "SELECT pod, count(*) FROM events WHERE time > now() - INTERVAL '10 minutes' GROUP BY pod ORDER BY 2 DESC LIMIT 5",
    "WITH late AS (SELECT id, signals FROM events WHERE array_has(signals, 'k8s.node.cordoned')) SELECT * FROM late, unnest(signals)",
    "SELECT a.pod, b.reason FROM events a LEFT JOIN events b ON a.pod = b.pod AND a.time < b.time WHERE a.attributes->>'x' LIKE '%y%'",
    "EXPLAIN SELECT * FROM why('gpt2-small-7f3') UNION ALL SELECT * FROM why('x')",
    "SELECT t.death, lag_s, row_number() OVER (PARTITION BY t.death ORDER BY lag_s) FROM links t JOIN deaths d USING (death)",
    "COPY (SELECT 1) TO 'DIR/a.csv' STORED AS CSV; SELECT 1",
    "CREATE EXTERNAL TABLE x STORED AS CSV LOCATION 'DIR/b/'; INSERT INTO x VALUES (1)",
    "SELECT * INTO y FROM events",
    "SET datafusion.execution.batch_size = 1; SHOW TABLES; DESCRIBE events",
    "DROP TABLE events; DELETE FROM events; TRUNCATE events; CREATE VIEW v AS SELECT 1",
];

const ODD: &[&str] = &[
    "",
    "(",
    ")",
    "((((((((",
    "'",
    "\"",
    ";",
    ",",
    "*",
    "--",
    "/*",
    "SELECT",
    "INTO",
    "COPY",
    "NULL",
    "-9223372036854775808",
    "1e400",
    "0x",
    "$1",
    "@x",
    "::",
    "->>",
    "\0",
    "é\u{202e}",
    "CAST(NULL AS BIGINT)",
    "EXPLAIN ANALYZE",
    "WITH RECURSIVE r AS (SELECT 1 UNION ALL SELECT 1)",
    "LIMIT -1",
    "INTERVAL '999999999 years'",
];

/// The same numbers on every machine (`SplitMix64`).
struct Chance(u64);

impl Chance {
    fn below(&mut self, len: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        usize::try_from((z ^ (z >> 31)) % len.max(1) as u64).unwrap()
    }
}

fn damaged(chance: &mut Chance) -> String {
    let pick = |chance: &mut Chance| STATEMENTS[chance.below(STATEMENTS.len())];
    let text = pick(chance);
    let mut words: Vec<&str> = text.split_inclusive([' ', ',', '(', ')', '.']).collect();
    for _ in 0..=chance.below(4) {
        let (at, other) = (chance.below(words.len()), chance.below(words.len()));
        match chance.below(6) {
            0 => drop(words.remove(at)),
            1 => words.swap(at, other),
            2 => words.insert(at, ODD[chance.below(ODD.len())]),
            3 => words[at] = ODD[chance.below(ODD.len())],
            4 => words.insert(at, words[other]),
            _ => {
                let theirs: Vec<&str> = pick(chance).split_inclusive(' ').collect();
                words.truncate(at);
                words.extend(&theirs[chance.below(theirs.len())..]);
            }
        }
        if words.is_empty() {
            break;
        }
    }
    words.concat()
}

#[tokio::test]
async fn damaged_statements_neither_panic_nor_write() {
    let folder = tempfile::tempdir().unwrap();
    let session = session();
    let runs = std::env::var("FUZZ_RUNS").map_or(1_500, |text| text.parse().unwrap());
    let mut chance = Chance(std::env::var("FUZZ_SEED").map_or(1, |text| text.parse().unwrap()));
    let mut planned = 0;
    for _ in 0..runs {
        let text = damaged(&mut chance).replace("DIR", folder.path().to_str().unwrap());
        for statement in Session::parse(&text).unwrap_or_default() {
            // Its rows are never asked for: planning is what sees the words.
            planned += u64::from(session.run(statement).await.is_ok());
        }
    }
    assert!(planned > 0);
    let written: Vec<_> = std::fs::read_dir(folder.path()).unwrap().collect();
    assert!(written.is_empty(), "{written:?}");
    assert_eq!(session.query("SHOW TABLES").await.unwrap().len(), 1);
}

/// The same for the guard alone, which takes a hundredth of the time: what it lets through
/// begins as a question does, and it lets that through however it is written.
#[test]
fn what_the_guard_lets_through_is_a_question_however_it_is_written() {
    const QUESTIONS: [&str; 10] = [
        "SELECT", "FROM", "WITH", "VALUES", "EXPLAIN", "SHOW", "DESCRIBE", "DESC", "TABLE", "(",
    ];
    let runs = std::env::var("FUZZ_RUNS").map_or(30_000, |text| text.parse().unwrap());
    let mut chance = Chance(std::env::var("FUZZ_SEED").map_or(2, |text| text.parse().unwrap()));
    let (mut let_through, mut refused) = (0_u64, 0_u64);
    for _ in 0..runs {
        let text = damaged(&mut chance);
        for statement in Session::parse(&text).unwrap_or_default() {
            if guard::refusal(&statement.0).is_some() {
                refused += 1;
                continue;
            }
            let_through += 1;
            let written = statement.0.to_string();
            let is_question = QUESTIONS.iter().any(|word| written.starts_with(word));
            assert!(is_question, "{text} -> {written}");
            for again in Session::parse(&written).unwrap_or_default() {
                let why = guard::refusal(&again.0);
                assert!(why.is_none(), "{text} -> {written}: {why:?}");
            }
        }
    }
    assert!(
        let_through > runs / 20 && refused > runs / 50,
        "{let_through} and {refused} of {runs}"
    );
}
