//! The run as people and programs read it.

use std::sync::Arc;

use datafusion::arrow::array::{ArrayRef, Int64Array, RecordBatch, StringArray};
use datafusion::arrow::error::ArrowError;
use serde_json::{Value, json};

use super::baseline::BASELINES;
use super::judge::Verdict;
use super::run::QuestionResult;
use super::score::Scores;

/// Two tables: each answer that is not right, and the counts. That eight of eight are right, the counts say.
///
/// # Errors
/// Never for columns of one length, which these are.
pub fn table(judged: &[QuestionResult], scores: &Scores) -> Result<[RecordBatch; 2], ArrowError> {
    let judged: Vec<&QuestionResult> = judged
        .iter()
        .filter(|one| one.verdict != Verdict::Right)
        .collect();
    let text = |of: &dyn Fn(&QuestionResult) -> String| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(
            judged.iter().map(|one| of(one)),
        ))
    };
    let mut columns = vec![
        ("case", text(&|one| one.case.clone())),
        ("asked", text(&|one| one.asked.clone())),
        ("expected", text(&|one| one.expected.join(" "))),
        (
            "got",
            text(&|one| {
                if one.got_level.is_empty() {
                    one.got.clone()
                } else {
                    format!("{} ({})", one.got, one.got_level)
                }
            }),
        ),
        ("verdict", text(&|one| verdict(one).to_owned())),
    ];
    if judged.iter().any(|one| !one.remark.is_empty()) {
        columns.push(("remark", text(&|one| one.remark.clone())));
    }
    let verdicts = RecordBatch::try_from_iter(columns)?;
    let rows = || scores.rows.iter();
    let words = |of: &dyn Fn(&(String, String, super::Score)) -> String| -> ArrayRef {
        Arc::new(StringArray::from_iter_values(rows().map(of)))
    };
    let asked: Int64Array = rows()
        .map(|(_, _, score)| i64::try_from(score.asked).ok())
        .collect();
    let counts = RecordBatch::try_from_iter([
        ("scored by", words(&|(who, _, _)| who.clone())),
        (
            "level",
            words(&|(_, level, _)| match level.as_str() {
                "owed" => "answer required".to_owned(),
                level => level.to_owned(),
            }),
        ),
        ("asked", Arc::new(asked)),
        ("top-1", words(&|(_, _, score)| part(score, score.right))),
        (
            "false blame",
            words(&|(_, _, score)| part(score, score.false_blame)),
        ),
        (
            "unknown",
            words(&|(_, _, score)| part(score, score.unknown)),
        ),
    ])?;
    Ok([verdicts, counts])
}

/// An answer that is owed and did not come is as bad as a wrong one.
fn verdict(one: &QuestionResult) -> &'static str {
    match one.verdict {
        Verdict::Unknown if one.owed => "unknown, answer required",
        Verdict::Wrong if !one.owed => "wrong, no answer required",
        other => other.as_str(),
    }
}

fn part(score: &super::Score, part: usize) -> String {
    format!("{part} ({} %)", score.percent(part))
}

/// The same as one JSON document.
#[must_use]
pub fn json(judged: &[QuestionResult], scores: &Scores, skipped: &[String]) -> Value {
    let cases: Vec<Value> = judged.iter().map(case).collect();
    let counts: Vec<Value> = scores
        .rows
        .iter()
        .map(|(who, level, score)| {
            json!({
                "who": who, "level": level, "asked": score.asked, "right": score.right,
                "false_blame": score.false_blame, "unknown": score.unknown, "top1_percent": score.percent(score.right),
            })
        })
        .collect();
    json!({ "cases": cases, "scores": counts, "skipped": skipped })
}

fn case(one: &QuestionResult) -> Value {
    let baselines: serde_json::Map<String, Value> = BASELINES
        .iter()
        .zip(one.baselines)
        .map(|(name, cause)| ((*name).to_owned(), json!(cause)))
        .collect();
    json!({
        "case": one.case, "asked": one.asked, "level": one.level, "expected": one.expected, "must_not": one.must_not,
        "got": one.got, "got_level": one.got_level, "verdict": one.verdict.as_str(), "owed": one.owed,
        "remark": one.remark, "baselines": baselines,
    })
}
