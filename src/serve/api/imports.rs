//! `POST /api/v1/imports`

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use axum::Json;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use futures::StreamExt as _;
use serde::{Deserialize, Serialize};
use tokio::io::AsyncWriteExt as _;
use tokio::sync::mpsc;
use tokio::time::timeout_at;
use utoipa::{IntoParams, ToSchema};
use whathappened_connectors::recording::{FileStatus, Input, Options, Summary};
use whathappened_model::redact::redact;
use whathappened_store::{Store, Written};

use super::extract::{AuthenticatedCaller, Params};
use super::guard::AuditDetails;
use super::problem::{ErrorResponses, Problem};
use crate::error::Error;
use crate::fetch::{self, ImportTarget};
use crate::serve::Service;

/// How often an import says how far it is.
const PROGRESS_INTERVAL: Duration = Duration::from_millis(500);
/// Files and rejected records that are told one by one.
const MOST_LISTED: usize = 100;
/// In each stretch of this length some of an upload has to come,
const STRETCH: Duration = Duration::from_secs(30);
/// namely so many bytes: less is a line on which nobody waits for the end, or somebody
/// who holds a place and a file here.
const LEAST: u64 = 64 << 10;
/// The longest name of an upload.
const LONGEST_NAME: usize = 120;

/// What is uploaded.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Upload {
    /// The file's name, as shown in the origins of records and in messages; `upload` by default.
    name: Option<String>,
}

/// The result of an upload.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(super) struct ImportReport {
    /// Always `done`, and `reading` in lines of progress.
    state: &'static str,
    /// The format that was detected, in words; of an archive, how many files are in it.
    form: String,
    /// Records or log lines found in it.
    records: u64,
    /// Facts and versions of objects in them.
    #[serde(rename = "told")]
    reported: u64,
    /// Those of them that were new or contained something new.
    new: u64,
    /// Invalid records.
    rejected: u64,
    /// Irrelevant records.
    irrelevant: u64,
    /// Log lines that were left out because the log is long.
    left_out: u64,
    /// Files that could not be read completely, at most a hundred.
    short: Vec<IncompleteFile>,
    /// The first rejected records, at most a hundred.
    samples: Vec<UnusedRecord>,
    /// What of the store is damaged; the operator recovers what can be read with `whathappened store repair`.
    warnings: Vec<String>,
}

/// A file that could not be read completely.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(super) struct IncompleteFile {
    /// The file, `archive!member` inside archives.
    file: String,
    /// `truncated` or `failed`.
    status: &'static str,
    /// Where and why it ends.
    why: String,
}

/// A record that was not used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(super) struct UnusedRecord {
    /// File and line.
    origin: String,
    /// What is wrong with it.
    why: String,
}

/// Takes a recording into the store
///
/// The body is a file as it is: everything that `whathappened import` reads, packed or not. Nothing
/// is stored twice, so an upload can be repeated. With `Accept: application/x-ndjson` lines say how far it is, the last one
/// what became of it.
#[utoipa::path(
    post,
    path = "/api/v1/imports",
    operation_id = "import",
    tag = "data",
    params(Upload),
    request_body(description = "The file", content((Vec<u8> = "application/octet-stream"))),
    responses(
        (status = 200, description = "The result of the import", content(
            (ImportReport = "application/json"), (String = "application/x-ndjson"))),
        (status = 408, description = "The upload was too slow", body = Problem, content_type = "application/problem+json"),
        (status = 413, description = "The upload is too large", body = Problem, content_type = "application/problem+json"),
        (status = 422, description = "Nothing in it could be read", body = Problem, content_type = "application/problem+json"),
        (status = 507, description = "The service's disk is full", body = Problem, content_type = "application/problem+json"),
        ErrorResponses,
    )
)]
pub(super) async fn post(
    State(service): State<Arc<Service>>,
    AuthenticatedCaller(caller): AuthenticatedCaller,
    Params(upload): Params<Upload>,
    headers: HeaderMap,
    body: Body,
) -> Response {
    let name = named(upload.name.as_deref());
    let trail = AuditDetails {
        what: Some(format!("import {name}")),
        rows: None,
    };
    let reported = if caller.access.is_whole() {
        take(service, &name, &headers, body).await
    } else {
        Err(Problem::new(
            StatusCode::FORBIDDEN,
            "uploads may contain data of any namespace, and this caller is limited to some",
        ))
    };
    let mut response = reported.unwrap_or_else(Problem::into_response);
    response.extensions_mut().insert(trail);
    response
}

/// A name without a path, of letters that are the same everywhere.
fn named(asked: Option<&str>) -> String {
    let name = redact(asked.unwrap_or_default());
    let name = name.rsplit(['/', '\\']).next().unwrap_or_default();
    let plain = |letter: char| {
        if letter.is_ascii_alphanumeric() || "._-".contains(letter) {
            letter
        } else {
            '_'
        }
    };
    let name: String = name.chars().take(LONGEST_NAME).map(plain).collect();
    if name.trim_matches('.').is_empty() {
        "upload".to_owned()
    } else {
        name
    }
}

async fn take(
    service: Arc<Service>,
    name: &str,
    headers: &HeaderMap,
    body: Body,
) -> Result<Response, Problem> {
    // Memory holds a piece of it at a time, whatever its size.
    let file = spool(&service, body).await?;
    let input = Input::Named(name.into(), file.path().to_owned());
    let accepted = headers.get(header::ACCEPT);
    let lines = accepted.is_some_and(|kinds| kinds == "application/x-ndjson");
    let (sender, reported) = mpsc::channel::<Bytes>(16);
    let begun = Arc::clone(&service);
    let work = tokio::task::spawn_blocking(move || {
        let done = import(&begun, &input, &sender);
        drop(file);
        match done {
            Ok((summary, written, warnings)) => imported(&summary, written, warnings),
            Err(error) => Err(Problem::from(&error)),
        }
    });
    if lines {
        return Ok(progress(reported, work));
    }
    drop(reported);
    let done = work.await.map_err(|error| Problem::inside(&error))?;
    Ok(Json(done?).into_response())
}

/// What names of spooled bodies begin with.
const SPOOLED: &str = "upload-";

/// Removes what a service that was killed left of uploads in the store's folder.
/// A living one holds a lock on its own, which goes with it.
pub(super) fn sweep(store: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(store)? {
        let entry = entry?;
        let spooled = entry.file_name().to_string_lossy().starts_with(SPOOLED);
        if !spooled || !entry.file_type()?.is_file() {
            continue;
        }
        let path = entry.path();
        if std::fs::File::open(&path)?.try_lock().is_ok() {
            std::fs::remove_file(&path)?;
            tracing::info!(path = %path.display(), "removed the remains of an upload");
        }
    }
    Ok(())
}

/// How fast an upload comes.
#[derive(Debug)]
struct UploadPace {
    /// The end of the stretch.
    until: Instant,
    /// What came in it.
    came: u64,
}

impl UploadPace {
    fn from(now: Instant) -> Self {
        Self {
            until: now + STRETCH,
            came: 0,
        }
    }

    /// A piece came; whether that is fast enough.
    fn takes(&mut self, bytes: u64, now: Instant) -> bool {
        let in_time = now < self.until || self.goes_on();
        self.came += bytes;
        in_time
    }

    /// The stretch is over; whether enough came in it, and the next one began.
    fn goes_on(&mut self) -> bool {
        let enough = self.came >= LEAST;
        if enough {
            *self = Self::from(self.until);
        }
        enough
    }
}

fn slow(came: u64) -> Problem {
    let seconds = STRETCH.as_secs();
    Problem::new(
        StatusCode::REQUEST_TIMEOUT,
        format!("{came} bytes of the upload arrived in {seconds} s; the minimum is {LEAST}"),
    )
    .hint("send it again over a faster connection; nothing is stored twice")
}

/// The body in a file that goes when it was read.
async fn spool(service: &Service, body: Body) -> Result<tempfile::NamedTempFile, Problem> {
    let most = service.config.serve.max_upload;
    let failed = |error: io::Error| match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Problem::full(&error),
        _ => Problem::inside(&error),
    };
    let file = tempfile::Builder::new()
        .prefix(SPOOLED)
        .tempfile_in(&service.store)
        .map_err(failed)?;
    file.as_file().lock().map_err(failed)?;
    let path = PathBuf::from(file.path());
    let mut to = tokio::fs::File::create(&path).await.map_err(failed)?;
    let mut taken: u64 = 0;
    let mut pieces = body.into_data_stream();
    let mut pace = UploadPace::from(Instant::now());
    loop {
        let piece = match timeout_at(pace.until.into(), pieces.next()).await {
            Ok(Some(piece)) => piece,
            Ok(None) => break,
            Err(_) if pace.goes_on() => continue,
            Err(_) => return Err(slow(pace.came)),
        };
        let piece =
            piece.map_err(|error| Problem::bad(format!("the upload was interrupted: {error}")))?;
        taken = taken.saturating_add(piece.len() as u64);
        if !pace.takes(piece.len() as u64, Instant::now()) {
            return Err(slow(pace.came));
        }
        if taken > most {
            return Err(Problem::new(
                StatusCode::PAYLOAD_TOO_LARGE,
                format!("an upload may be at most {most} bytes long"),
            )
            .hint("split it, or have the operator run `whathappened import`"));
        }
        to.write_all(&piece).await.map_err(failed)?;
    }
    to.flush().await.map_err(failed)?;
    Ok(file)
}

fn import(
    service: &Service,
    input: &Input,
    sender: &mpsc::Sender<Bytes>,
) -> Result<(Summary, Written, Vec<String>), Error> {
    let mut store = Store::open(&service.store, service.config.limits())?;
    let now = (service.clock)();
    let mut last = Instant::now();
    let mut progress = |done: u64, total: Option<u64>| {
        if last.elapsed() < PROGRESS_INTERVAL {
            return;
        }
        last = Instant::now();
        let line = serde_json::json!({"state": "reading", "bytes": done, "of": total});
        // Who does not read on is not waited for.
        sender.try_send(format!("{line}\n").into()).ok();
    };
    let inputs = std::slice::from_ref(input);
    let (summary, written) = fetch::import(
        ImportTarget::Open(&mut store),
        &service.rules.signals,
        inputs,
        now,
        &Options::default(),
        &mut progress,
    )?;
    let warnings = fetch::warnings(&store)?;
    store.retain(now)?;
    Ok((summary, written, warnings))
}

fn imported(
    summary: &Summary,
    written: Written,
    warnings: Vec<String>,
) -> Result<ImportReport, Problem> {
    let short: Vec<IncompleteFile> = summary
        .files
        .iter()
        .filter_map(|file| {
            let (status, why) = match &file.status {
                FileStatus::Complete => return None,
                FileStatus::Truncated(why) => ("truncated", why),
                FileStatus::Failed(why) => ("failed", why),
            };
            Some(IncompleteFile {
                file: file.name.to_string(),
                status,
                why: why.clone(),
            })
        })
        .take(MOST_LISTED)
        .collect();
    let total = &summary.total;
    if let Some(why) = fetch::unusable(summary) {
        return Err(Problem::new(StatusCode::UNPROCESSABLE_ENTITY, why).hint(
            "send the file unchanged, as application/octet-stream; the README lists the supported formats",
        ));
    }
    let samples = summary
        .rejected
        .iter()
        .take(MOST_LISTED)
        .map(|record| UnusedRecord {
            origin: record.origin.to_string(),
            why: record.why.clone(),
        });
    Ok(ImportReport {
        state: "done",
        form: match summary.files.as_slice() {
            [one] => one.form.clone(),
            _ => total.form.clone(),
        },
        records: total.records,
        reported: written.reported,
        new: written.new,
        rejected: total.rejected,
        irrelevant: total.irrelevant,
        left_out: total.left_out,
        short,
        samples: samples.collect(),
        warnings,
    })
}

/// Lines of progress, then the outcome.
fn progress(
    reported: mpsc::Receiver<Bytes>,
    work: tokio::task::JoinHandle<Result<ImportReport, Problem>>,
) -> Response {
    let lines = futures::stream::unfold(reported, |mut reported| async move {
        reported.recv().await.map(|line| (line, reported))
    });
    let last = futures::stream::once(async move {
        let text = match work.await {
            Ok(Ok(done)) => serde_json::to_string(&done),
            Ok(Err(problem)) => serde_json::to_string(&problem),
            Err(error) => serde_json::to_string(&Problem::inside(&error)),
        };
        Bytes::from(text.unwrap_or_default() + "\n")
    });
    let body = Body::from_stream(lines.chain(last).map(Ok::<Bytes, io::Error>));
    ([(header::CONTENT_TYPE, "application/x-ndjson")], body).into_response()
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{LEAST, STRETCH, UploadPace, named, sweep};

    #[test]
    fn an_upload_that_trickles_is_cut() {
        let begun = Instant::now();
        // A byte every ten seconds, and never silence.
        let mut pace = UploadPace::from(begun);
        let after = |seconds| begun + Duration::from_secs(seconds);
        assert!(pace.takes(1, after(10)) && pace.takes(1, after(20)));
        assert!(!pace.takes(1, begun + STRETCH));
        assert!(!pace.goes_on());
        // Slow and steady is fast enough, as is a pause in a stretch that had its part.
        let mut pace = UploadPace::from(begun);
        for stretch in 0..20 {
            assert!(pace.takes(LEAST, after(stretch * STRETCH.as_secs() + 1)));
        }
        assert!(pace.goes_on());
    }

    #[test]
    fn what_dead_services_left_of_uploads_goes_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        for name in ["upload-dead", "upload-alive", "audit.ndjson"] {
            std::fs::write(folder.path().join(name), "x").unwrap();
        }
        let alive = std::fs::File::open(folder.path().join("upload-alive")).unwrap();
        alive.lock().unwrap();
        sweep(folder.path()).unwrap();
        let left = std::fs::read_dir(folder.path()).unwrap();
        let mut left: Vec<_> = left.map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, ["audit.ndjson", "upload-alive"]);
    }

    #[test]
    fn the_name_of_an_upload_is_no_path() {
        for (asked, name) in [
            (None, "upload"),
            (Some("../../etc/passwd"), "passwd"),
            (Some("C:\\a b.json"), "a_b.json"),
            (Some(".."), "upload"),
            (Some("é\n.gz"), "__.gz"),
        ] {
            assert_eq!(named(asked), name);
        }
    }
}
