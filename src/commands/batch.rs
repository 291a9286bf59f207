//! `whathappened batch`

use std::io::{BufRead as _, Write as _};
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use whathappened_connectors::recording::Options;
use whathappened_model::time::Stamp;

use super::common;
use crate::answer::Answer;
use crate::case::{Case, Rules};
use crate::error::Error;
use crate::report::{self, Question};

/// Answers many questions about recordings in one process, for tests and scripts
///
/// Reads one request per line from standard input, {"id":"7","from":["cases/7/input"],
/// "name":"Job/research/run-1","at":null}, and writes one line for each, in the same order: {"id":"7","answer":{…}} with the answer that --format json gives, or
/// {"id":"7","error":"…"}; a line that is not a request gets {"id":null,"error":"line 3: …"}. Consecutive requests for the same recordings read them once.
/// No live source is queried and nothing is stored.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Folder with your own rules: *.sql for causes, *.toml for signals.
    #[arg(long, value_name = "FOLDER", env = "WHATHAPPENED_RULES")]
    pub rules: Option<std::path::PathBuf>,
}

/// One question.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    id: String,
    from: Vec<String>,
    name: String,
    at: Option<String>,
}

/// What became of it.
#[derive(Serialize)]
struct Reply<'a> {
    /// Null for a line that is no request.
    id: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<Answer>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Answers until standard input ends.
///
/// # Errors
/// When a rule is wrong, or the output is closed.
pub async fn run(args: &Args) -> Result<(), Error> {
    let rules = Arc::new(Rules::load(&common::own_rules(args.rules.as_deref())?)?);
    let mut last: Option<(Vec<String>, Case)> = None;
    let mut line = String::new();
    for number in 1.. {
        line.clear();
        let read = std::io::stdin().lock().read_line(&mut line);
        if read.map_err(|error| failed("standard input", error))? == 0 {
            break;
        }
        if line.trim().is_empty() {
            continue;
        }
        let request: Request = match serde_json::from_str(&line) {
            Ok(request) => request,
            // Those behind it are asked for nevertheless.
            Err(error) => {
                let why = format!(
                    "line {number}: not a valid request: {error}; write {{\"id\":…,\"from\":[…],\"name\":…}}"
                );
                reply(None, None, Some(why))?;
                continue;
            }
        };
        let done = match last.take().filter(|(from, _)| *from == request.from) {
            Some((_, case)) => Ok(case),
            None => read_case(&request.from, &rules),
        };
        let done = match done {
            Ok(case) => {
                let done = answer(&case, &request).await;
                last = Some((request.from.clone(), case));
                done
            }
            Err(error) => Err(error),
        };
        let (answer, error) = match done {
            Ok(answer) => (Some(answer), None),
            Err(error) => (None, Some(error.to_string())),
        };
        reply(Some(&request.id), answer, error)?;
    }
    Ok(())
}

/// Writes one line.
fn reply(id: Option<&str>, answer: Option<Answer>, error: Option<String>) -> Result<(), Error> {
    let reply = Reply { id, answer, error };
    let mut out = std::io::stdout().lock();
    serde_json::to_writer(&mut out, &reply)
        .map_err(std::io::Error::from)
        .and_then(|()| out.write_all(b"\n"))
        .and_then(|()| out.flush())
        .map_err(|error| failed("standard output", error))
}

fn read_case(from: &[String], rules: &Arc<Rules>) -> Result<Case, Error> {
    let options = Options::default();
    let case = Case::read(
        &common::inputs(from),
        &options,
        Arc::clone(rules),
        &mut |_, _| {},
    )?;
    common::nothing_read(&case.summary)?;
    Ok(case)
}

async fn answer(case: &Case, request: &Request) -> Result<Answer, Error> {
    let at = request.at.as_deref().map(|text| {
        Stamp::parse(text)
            .map(|stamp| stamp.lo)
            .ok_or_else(|| Error::Usage(format!("at: {text:?} is not an RFC 3339 time")))
    });
    let question = Question {
        name: request.name.clone(),
        at: at.transpose()?,
        ..Question::default()
    };
    report::answer(case, &question).await
}

fn failed(path: &str, error: std::io::Error) -> Error {
    Error::Io {
        path: path.to_owned(),
        error,
    }
}
