//! What containers said: the current run and the one before it.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Instant;

use futures::StreamExt as _;
use url::form_urlencoded::byte_serialize;

use super::access;
use super::check::log_permission;
use super::client::RequestError;
use super::connect::Inner;
use super::cover;
use super::decode::{Decoder, place};
use super::options::LogOptions;
use super::resource::Resource;
use crate::connector::Verdict;
use crate::contract::LogLines;
use crate::coverage::{Coverage, Mode, Status, Tally, first_reasons};
use crate::event::Entities;
use crate::logs::{LogSource, LogStream};
use crate::object::ObjectVersion;
use crate::observation::Observation;
use crate::sink::Sink;
use crate::time::Nanos;

/// Log lines longer than this are turned away.
const MAX_LINE: usize = 1 << 20;

/// Details a row tells of.
const MOST_DETAILS: usize = 5;

/// How often a log that is cut off at its end is asked for with fewer lines.
const SHORTER: u32 = 3;

/// A pod whose logs are wanted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PodLogs {
    /// Its namespace.
    pub namespace: String,
    /// Its name.
    pub pod: String,
    /// Its containers, init containers too; all there are where empty.
    pub containers: Vec<ContainerLog>,
}

/// A container whose log is wanted.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct ContainerLog {
    /// Its name.
    pub name: String,
    /// It may have run before.
    pub restarted: bool,
}

impl PodLogs {
    /// All containers of a pod as one of its versions shows them.
    #[must_use]
    pub fn of(version: &ObjectVersion) -> Option<Self> {
        if version.key.kind != "Pod" {
            return None;
        }
        let restarts = &version.body.restarts;
        let container = |container: &crate::object::Container| ContainerLog {
            name: container.name.clone(),
            // Init containers are not counted, so they may have.
            restarted: restarts.get(&container.name).is_none_or(|count| *count > 0),
        };
        Some(Self {
            namespace: version.key.namespace.clone(),
            pod: version.key.name.clone(),
            containers: version.body.containers.iter().map(container).collect(),
        })
    }

    fn path(&self) -> String {
        format!("/api/v1/namespaces/{}/pods/{}", self.namespace, self.pod)
    }
}

/// What came of one namespace's logs.
#[derive(Debug, Default)]
struct NamespaceTally {
    lines: u64,
    came: Tally,
}

/// One run of one container.
struct Run<'a> {
    pod: &'a PodLogs,
    container: &'a str,
    previous: bool,
}

/// What came of it.
struct ContainerLogs {
    observations: Vec<Observation>,
    lines: u64,
    failure: Option<(Status, String)>,
}

/// Reads logs of pods in order, several at once.
pub(super) async fn read(
    inner: &Arc<Inner>,
    pods: &[PodLogs],
    options: &LogOptions,
    now: Nanos,
    deadline: Instant,
    sink: &mut (dyn Sink + Send),
) -> Vec<Coverage> {
    let mut rows = Vec::new();
    let mut tallies: BTreeMap<&str, NamespaceTally> = BTreeMap::new();
    for pod in pods {
        tallies.entry(&pod.namespace).or_default();
    }
    let denied = denied(inner, tallies.keys().copied().collect(), deadline).await;
    for (namespace, why) in &denied {
        tallies.remove(namespace.as_str());
        let mut detail = format!("missing permission: {}", log_permission(Some(namespace)));
        if let Some(why) = why {
            detail.push_str("; ");
            detail.push_str(why);
        }
        let row = row(inner, namespace, now);
        rows.push(row.ended(Status::Denied, &[detail]).lacking(SHOWS));
    }
    let wanted = pods
        .iter()
        .filter(|pod| tallies.contains_key(pod.namespace.as_str()));
    let wanted: Vec<&PodLogs> = wanted.collect();
    let mut results = futures::stream::iter(wanted)
        .map(|pod| async move { (pod, of_pod(inner, pod, options, now, deadline).await) })
        .buffered(options.concurrency.max(1));
    while let Some((pod, runs)) = results.next().await {
        let tally = tallies.entry(&pod.namespace).or_default();
        for got in runs {
            tally.lines += got.lines;
            if let Some((status, why)) = got.failure {
                tally.came.failed(status, why);
            }
            if !got.observations.is_empty() {
                sink.observe(got.observations);
            }
        }
    }
    for (namespace, tally) in tallies {
        // What one container's log lacks is no less lacking for what another's has.
        let status = tally.came.worst().unwrap_or(Status::Complete);
        let details = first_reasons(tally.came.reasons(), MOST_DETAILS, "more");
        let row = Coverage {
            rows: tally.lines,
            got_to: (status == Status::Complete).then_some(now),
            ..row(inner, namespace, now)
        };
        rows.push(row.ended(status, &details).lacking(SHOWS));
    }
    rows.sort();
    rows
}

const SHOWS: &str = "what the processes logged before they ended";

fn row(inner: &Inner, namespace: &str, now: Nanos) -> Coverage {
    Coverage {
        mode: Mode::Interval,
        ..cover::row(inner, "logs", Some(namespace), now)
    }
}

/// Namespaces whose logs may not be read, and why.
async fn denied(
    inner: &Inner,
    namespaces: Vec<&str>,
    deadline: Instant,
) -> Vec<(String, Option<String>)> {
    let Some(pods) = Resource::built_in().into_iter().next() else {
        return Vec::new();
    };
    let pods = &pods;
    let reviews = futures::stream::iter(namespaces)
        .map(|namespace| async move {
            let reviewed =
                access::review(&inner.wire, "get", pods, "log", Some(namespace), deadline).await;
            (namespace.to_owned(), reviewed)
        })
        .buffered(inner.options.concurrency.max(1));
    reviews
        .filter_map(|(namespace, reviewed)| async move {
            (reviewed.verdict == Verdict::Denied).then_some((namespace, reviewed.detail))
        })
        .collect()
        .await
}

/// The runs of a pod's containers, each container's earlier one first.
async fn of_pod(
    inner: &Arc<Inner>,
    pod: &PodLogs,
    options: &LogOptions,
    now: Nanos,
    deadline: Instant,
) -> Vec<ContainerLogs> {
    let mut pod = pod.clone();
    if pod.containers.is_empty() {
        match containers(inner, &pod, deadline).await {
            Ok(containers) => pod.containers = containers,
            Err(failure) => return vec![ContainerLogs::nothing(judge(&pod, "", &failure))],
        }
    }
    let mut out = Vec::new();
    for container in &pod.containers {
        for previous in [true, false] {
            if previous && !(options.previous && container.restarted) {
                continue;
            }
            let run = Run {
                pod: &pod,
                container: &container.name,
                previous,
            };
            out.push(run.read(inner, options, now, deadline).await);
        }
    }
    out
}

async fn containers(
    inner: &Inner,
    pod: &PodLogs,
    deadline: Instant,
) -> Result<Vec<ContainerLog>, RequestError> {
    let path = pod.path();
    let body = inner
        .wire
        .get(&path, None, inner.options.max_page_bytes, deadline)
        .await?;
    let Some(pods) = Resource::built_in().into_iter().next() else {
        return Ok(Vec::new());
    };
    let decoder = Decoder::new(&pods, &inner.id, "", &path);
    let mut observations = Vec::new();
    let decoded = decoder.item(&String::from_utf8_lossy(&body), 1, 0, &mut observations);
    decoded.map_err(|why| RequestError::Garbage(why.to_string()))?;
    let version = observations.iter().find_map(|one| match one {
        Observation::Object(version) => PodLogs::of(version),
        _ => None,
    });
    Ok(version.map(|pod| pod.containers).unwrap_or_default())
}

impl ContainerLogs {
    fn nothing(failure: Option<(Status, String)>) -> Self {
        Self {
            observations: Vec::new(),
            lines: 0,
            failure,
        }
    }
}

impl Run<'_> {
    fn words(&self) -> String {
        let run = if self.previous { " (run before)" } else { "" };
        format!("{}/{}{run}", self.pod.pod, self.container)
    }

    fn path(&self) -> String {
        let container: String = byte_serialize(self.container.as_bytes()).collect();
        let previous = if self.previous { "&previous=true" } else { "" };
        format!(
            "{}/log?container={container}&timestamps=true{previous}",
            self.pod.path()
        )
    }

    async fn read(
        &self,
        inner: &Arc<Inner>,
        options: &LogOptions,
        now: Nanos,
        deadline: Instant,
    ) -> ContainerLogs {
        let mut tail = options.tail_lines.max(1);
        let limit = options.limit_bytes.max(1);
        let cap = usize::try_from(limit)
            .unwrap_or(usize::MAX)
            .saturating_add(1 << 20);
        let mut shorter = 0;
        let (body, lines, cut) = loop {
            let path = format!("{}&tailLines={tail}&limitBytes={limit}", self.path());
            let body = match inner.wire.get(&path, None, cap, deadline).await {
                Ok(body) => body,
                Err(failure) => {
                    return ContainerLogs::nothing(judge(self.pod, &self.words(), &failure));
                }
            };
            let lines = memchr::memchr_iter(b'\n', &body).count() as u64;
            let cut = body.len() as u64 >= limit;
            // The limit cuts off the end, which is what matters most.
            if !cut || lines < 2 || shorter >= SHORTER {
                break (body, lines, cut);
            }
            shorter += 1;
            tail = (lines * 3 / 4).max(1);
        };
        if body.starts_with(b"unable to retrieve container logs for") {
            let why = format!("{}: the node no longer has it", self.words());
            return ContainerLogs::nothing(Some((Status::Expired, why)));
        }
        let failure = if cut {
            let why = format!("{}: more than {limit} bytes, cut off", self.words());
            Some((Status::Truncated, why))
        } else if lines >= tail {
            let why = format!("{}: only the last {tail} lines were read", self.words());
            Some((Status::Truncated, why))
        } else {
            None
        };
        let source = self.source(inner);
        let cluster = Arc::clone(&inner.id);
        let decoding = tokio::task::spawn_blocking(move || decode(&body, source, &cluster, now));
        match decoding.await {
            Ok(observations) => ContainerLogs {
                observations,
                lines,
                failure,
            },
            Err(panic) => {
                ContainerLogs::nothing(Some((Status::Failed, format!("{}: {panic}", self.words()))))
            }
        }
    }

    fn source(&self, inner: &Inner) -> LogSource {
        let alias = inner.contexts.first().unwrap_or(&inner.server);
        LogSource {
            file: format!("{alias}{}", self.path()).into(),
            entities: Entities {
                namespace: Some(self.pod.namespace.clone()),
                pod: Some(self.pod.pod.clone()),
                container: Some(self.container.to_owned()),
                ..Entities::default()
            },
            file_stem: None,
            previous: self.previous,
        }
    }
}

/// The lines by the code that reads log files.
fn decode(body: &[u8], source: LogSource, cluster: &str, now: Nanos) -> Vec<Observation> {
    let mut stream = LogStream::new(Arc::new(source), LogLines::default(), MAX_LINE);
    let mut out = Vec::new();
    for (number, line) in (1..).zip(body.split(|&byte| byte == b'\n')) {
        if line.is_empty() {
            continue;
        }
        // Only lines that are too long are turned away.
        let _too_long = stream.line(&String::from_utf8_lossy(line), number, &mut out);
    }
    stream.finish(&mut out);
    for one in &mut out {
        place(one, cluster, now);
    }
    out
}

/// What a failure means; `None` where it is none.
fn judge(pod: &PodLogs, what: &str, failure: &RequestError) -> Option<(Status, String)> {
    let what = if what.is_empty() { &pod.pod } else { what };
    let RequestError::Status { code, message, .. } = failure else {
        return Some((Status::Failed, format!("{what}: {}", failure.words())));
    };
    let says = |words: &str| message.contains(words);
    match code {
        400 if says("previous terminated container") => None,
        400 if says("waiting to start") || says("is not available") || says("PodInitializing") => {
            None
        }
        401 | 403 => {
            let missing = log_permission(Some(&pod.namespace));
            Some((
                Status::Denied,
                format!("{what}: missing permission: {missing}; {message}"),
            ))
        }
        404 => Some((
            Status::Expired,
            format!("{what}: gone, and its log with it"),
        )),
        _ => Some((Status::Failed, format!("{what}: {}", failure.words()))),
    }
}
