//! `/search` and `/suggest`: from what was typed to a page.

use axum::Json;
use axum::http::StatusCode;
use axum::response::{IntoResponse as _, Redirect, Response};
use serde::{Deserialize, Serialize};
use whathappened_store::Store;

use super::visit::Visit;
use crate::render::in_address;
use crate::render::site::Tab;
use crate::serve::Service;
use crate::serve::api::Problem;

/// Suggestions at once.
const MOST: usize = 10;

#[derive(Debug, Deserialize)]
struct Typed {
    q: String,
}

/// A page that may be meant.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(super) struct Suggestion {
    name: String,
    kind: &'static str,
    path: String,
}

impl Suggestion {
    fn run(name: String) -> Self {
        let path = format!("/x/{}", in_address(&name));
        Self {
            name,
            kind: "experiment or run",
            path,
        }
    }

    fn machine(name: String) -> Self {
        let path = format!("/node/{}", in_address(&name));
        Self {
            name,
            kind: "machine",
            path,
        }
    }
}

/// `GET /search?q=`
pub(super) async fn get(visit: Visit) -> Response {
    match found(&visit).await {
        Ok(path) => Redirect::to(&path).into_response(),
        Err(problem) => visit.reply(Tab::Elsewhere, Err(problem)),
    }
}

async fn found(visit: &Visit) -> Result<String, Problem> {
    let Typed { q } = visit.params()?;
    let typed = q.trim().to_owned();
    if typed.is_empty() {
        return Ok("/".to_owned());
    }
    if let Some(machine) = typed
        .strip_prefix("node/")
        .filter(|name| !name.contains('/'))
    {
        return Ok(Suggestion::machine(machine.to_owned()).path);
    }
    let (runs, machines) = names(visit).await?;
    let is_machine = !runs.contains(&typed) && machines.contains(&typed);
    let found = if is_machine {
        Suggestion::machine(typed)
    } else {
        Suggestion::run(typed)
    };
    Ok(found.path)
}

/// `GET /suggest?q=`
pub(super) async fn suggest(visit: Visit) -> Response {
    let found = async {
        let Typed { q } = visit.params()?;
        let (runs, machines) = names(&visit).await?;
        Ok::<_, Problem>(suggested(&q, runs, machines))
    };
    match found.await {
        Ok(found) => Json(found).into_response(),
        Err(_) => (
            StatusCode::SERVICE_UNAVAILABLE,
            Json(Vec::<Suggestion>::new()),
        )
            .into_response(),
    }
}

/// Names of runs and of machines, as far as the reader may see them.
async fn names(visit: &Visit) -> Result<(Vec<String>, Vec<String>), Problem> {
    let access = visit.reader.caller.access.clone();
    let read = move |service: &Service| {
        let store = Store::open_to_read(&service.store)?;
        let snapshot = store.snapshot_for(&access)?;
        Ok((snapshot.run_names()?, snapshot.machine_names()?))
    };
    visit
        .service
        .work(read)
        .await
        .map_err(|error| Problem::from(&error))
}

/// Names that begin with what was typed, then those that hold it.
fn suggested(typed: &str, runs: Vec<String>, machines: Vec<String>) -> Vec<Suggestion> {
    let typed = typed.trim().to_lowercase();
    if typed.is_empty() {
        return Vec::new();
    }
    let runs = runs.into_iter().map(Suggestion::run);
    let all = runs.chain(machines.into_iter().map(Suggestion::machine));
    let mut found: Vec<(usize, Suggestion)> = all
        .filter_map(|one| Some((one.name.to_lowercase().find(&typed)?, one)))
        .collect();
    found.sort_by(|(at, a), (other, b)| {
        (*at > 0, a.name.len(), &a.name, a.kind).cmp(&(*other > 0, b.name.len(), &b.name, b.kind))
    });
    found.into_iter().map(|(_, one)| one).take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_begins_so_comes_first() {
        let texts = |names: &[&str]| {
            names
                .iter()
                .map(|name| (*name).to_owned())
                .collect::<Vec<_>>()
        };
        let found = suggested(
            " GPT",
            texts(&["my-gpt2", "gpt2-small", "gpt2", "bert"]),
            texts(&["gpt-node"]),
        );
        let names: Vec<&str> = found.iter().map(|one| one.name.as_str()).collect();
        assert_eq!(names, ["gpt2", "gpt-node", "gpt2-small", "my-gpt2"]);
        assert_eq!(found[1].path, "/node/gpt-node");
        assert!(suggested("  ", texts(&["a"]), Vec::new()).is_empty());
        assert_eq!(Suggestion::run("a/b?c".to_owned()).path, "/x/a%2Fb%3Fc");
    }
}
