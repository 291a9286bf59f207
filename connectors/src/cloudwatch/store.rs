//! The log store.

use std::collections::BTreeMap;
use std::time::Instant;

use futures::future::{BoxFuture, join_all};

use super::client::{Event, LogsClient, is_error};
use super::groups::{GroupCache, GroupStreams};
use super::options::{CloudWatchOptions, LOGS};
use super::scan::{self, GroupScan, ScanResult};
use super::stream::{self, mentions};
use super::{check, decode, insights, pattern};
use crate::aws_auth::AwsAccess;
use crate::connector::{Clock, Health};
use crate::contract::labels_of_stream;
use crate::event::SourceKind;
use crate::http::{Client, HttpError, HttpOptions};
use crate::log_store::{
    Counts, LabelNames, Labels, Limits, LineFilter, LineQuery, LineSubject, LinesRead, LogStore,
    MILLISECOND, Minute, Span, StoredLine,
};
use crate::time::{Nanos, SECOND};

/// Streams that one question may name.
const STREAMS: usize = 100;

/// Amazon `CloudWatch` Logs of one account in one region.
#[derive(Debug)]
pub struct CloudWatch {
    pub(super) wire: LogsClient,
    pub(super) options: CloudWatchOptions,
    pub(super) known: GroupCache,
    place: String,
}

impl CloudWatch {
    /// Finds region and source of credentials; asks for nothing else yet. `clock`
    /// tells the times of signatures.
    ///
    /// # Errors
    /// Says which option does not make sense.
    pub async fn open(options: CloudWatchOptions, clock: Clock) -> Result<Self, HttpError> {
        let access = AwsAccess::load(&options.aws, clock).await;
        Self::with(options, &access)
    }

    /// With who we are to AWS.
    ///
    /// # Errors
    /// Says which option does not make sense.
    pub fn with(mut options: CloudWatchOptions, access: &AwsAccess) -> Result<Self, HttpError> {
        if options.name.is_empty() {
            options.name = "cloudwatch".to_owned();
        }
        let url = access.url(LOGS)?;
        let mut http = HttpOptions::new(url);
        http.auth = access.signs_for(LOGS.signed_as)?;
        // A few times a second is what an account may ask in some regions.
        http.tries = 6;
        http.concurrency = 3;
        let client = Client::new(http)?;
        let mut place = format!("{} {}", client.address(), access.region()?);
        if !options.groups.is_empty() {
            place.push_str(&format!(" {}", options.groups.join(",")));
        }
        Ok(Self {
            wire: LogsClient { client },
            options,
            known: GroupCache::default(),
            place,
        })
    }

    /// Groups in which lines of this may be.
    async fn groups(
        &self,
        about: &LineSubject,
        deadline: Instant,
    ) -> Result<Vec<String>, HttpError> {
        let groups = self
            .known
            .groups(&self.wire, &self.options, deadline)
            .await?;
        let names = groups.iter().map(|group| &group.log_group_name);
        let fits = |name: &&String| match about {
            LineSubject::Nodes(_) => stream::may_hold_nodes(name),
            _ => stream::may_hold_pods(name),
        };
        Ok(names.filter(fits).cloned().collect())
    }

    /// What is to be read, and what went wrong in finding that out.
    async fn scans(
        &self,
        about: &LineSubject,
        span: Span,
        deadline: Instant,
    ) -> Result<(Vec<GroupScan>, Vec<String>), HttpError> {
        let groups = self.groups(about, deadline).await?;
        if groups.is_empty() {
            // Many keep no lines of machines here; that there is no group at all is
            // told with the lines of pods.
            let emitted = match about {
                LineSubject::Nodes(_) => Vec::new(),
                _ => vec![self.no_group()],
            };
            return Ok((Vec::new(), emitted));
        }
        let from = span.from.div_euclid(MILLISECOND);
        let (mut scans, mut partial, mut failed) = (Vec::new(), Vec::new(), None);
        for group in &groups {
            let listed = self.known.streams(&self.wire, group, from, deadline).await;
            match listed {
                Ok(listed) => scans.extend(chosen(group, &listed, about, &mut partial)),
                Err(failure) => {
                    partial.push(of_group(group, &failure));
                    // Reading may be allowed where listing is not.
                    if failure.is_denied() && !is_error(&failure, "ExpiredToken") {
                        scans.extend(searched(group, about, None));
                    }
                    failed = failed.or(Some(failure));
                }
            }
        }
        match failed {
            Some(failure) if scans.is_empty() && partial.len() == groups.len() => Err(failure),
            _ => Ok((scans, partial)),
        }
    }

    pub(super) fn no_group(&self) -> String {
        match self.options.groups.as_slice() {
            [] => "no log group of Container Insights or EKS was found: name the groups in the configuration".to_owned(),
            groups => format!("no log group matches {}", groups.join(", ")),
        }
    }

    async fn read(
        &self,
        fetch_request: &LineQuery,
        deadline: Instant,
    ) -> Result<LinesRead, HttpError> {
        let (scans, partial) = self
            .scans(&fetch_request.about, fetch_request.span, deadline)
            .await?;
        let mut got = LinesRead {
            partial,
            ..LinesRead::default()
        };
        let reads = scans
            .iter()
            .map(|one| self.read_one(one, fetch_request, deadline));
        let mut failed = None;
        let mut any = scans.is_empty();
        for (one, scanned) in scans.iter().zip(join_all(reads).await) {
            match scanned {
                Ok(scanned) => {
                    any = true;
                    got.cut |= scanned.cut;
                    got.partial.extend(scanned.partial);
                    let events = scanned.events.iter();
                    got.lines
                        .extend(events.map(|event| decode::line(event, &one.group, 0)));
                }
                Err(failure) => {
                    got.partial.push(of_group(&one.group, &failure));
                    failed = failed.or(Some(failure));
                }
            }
        }
        if let Some(failure) = failed.filter(|_| !any) {
            return Err(failure);
        }
        self.finish(&mut got, fetch_request);
        Ok(got)
    }

    async fn read_one(
        &self,
        one: &GroupScan,
        fetch_request: &LineQuery,
        deadline: Instant,
    ) -> Result<ScanResult, HttpError> {
        let names = &self.options.names;
        let by_pattern = one.pattern.is_some();
        let evidence = fetch_request.about.evidence();
        let is_wanted = |event: &Event| {
            let line = decode::line(event, &one.group, 0);
            is_asked_for(&line, names, &fetch_request.about, by_pattern)
                && fetch_request.span.holds(line.stamp.lo)
                && (fetch_request.only == LineFilter::All || evidence.is_in(&event.message))
        };
        let read = async |scan: &GroupScan| {
            let (span, newest) = (fetch_request.span, fetch_request.newest);
            let limit = fetch_request.limit;
            scan::read(&self.wire, scan, span, newest, limit, &is_wanted, deadline).await
        };
        if by_pattern || fetch_request.only == LineFilter::All {
            return read(one).await;
        }
        let mut all = ScanResult::default();
        for pattern in pattern::evidence(&evidence) {
            let scan = GroupScan {
                pattern: Some(pattern),
                ..one.clone()
            };
            match read(&scan).await {
                Ok(some) => {
                    all.cut |= some.cut;
                    all.events.extend(some.events);
                    all.partial.extend(some.partial);
                }
                // No regular expressions here: all lines are looked through.
                Err(failure) if is_error(&failure, "InvalidParameter") => return read(one).await,
                Err(failure) => return Err(failure),
            }
        }
        Ok(all)
    }

    /// Each line once, in order, at most as many as asked for.
    fn finish(&self, got: &mut LinesRead, fetch_request: &LineQuery) {
        got.lines.sort_by(|a, b| {
            (a.stamp, &a.labels, a.order, &a.id).cmp(&(b.stamp, &b.labels, b.order, &b.id))
        });
        got.lines
            .dedup_by(|a, b| a.id.is_some() && a.id == b.id && a.labels == b.labels);
        let over = got.lines.len().saturating_sub(fetch_request.limit);
        if over > 0 {
            got.cut = true;
            if fetch_request.newest {
                got.lines.drain(..over);
            } else {
                got.lines.truncate(fetch_request.limit);
            }
        }
        got.partial.sort();
        got.partial.dedup();
    }

    async fn count(
        &self,
        about: &LineSubject,
        span: Span,
        deadline: Instant,
    ) -> Result<Option<Counts>, HttpError> {
        if !self.options.insights {
            return Ok(None);
        }
        let (scans, partial) = self.scans(about, span, deadline).await?;
        let names: Vec<String> = match about {
            LineSubject::Pods(pods) => pods.iter().map(|pod| pod.name.clone()).collect(),
            LineSubject::Nodes(_) => Vec::new(),
            LineSubject::Experiment(name) => vec![name.clone()],
        };
        let mut counts = Counts {
            partial,
            ..Counts::default()
        };
        let mut counted = Vec::new();
        for one in &scans {
            // Streams that are found by names are in one question, however many patterns.
            let key = (&one.group, &one.streams);
            if !counted.contains(&key) {
                counted.push(key);
                insights::count(&self.wire, one, &names, span, deadline, &mut counts).await?;
            }
        }
        let mut minutes: BTreeMap<Nanos, u64> = BTreeMap::new();
        for Minute { at, lines } in counts.minutes {
            *minutes.entry(at).or_default() += lines;
        }
        let minutes = minutes.into_iter();
        counts.minutes = minutes.map(|(at, lines)| Minute { at, lines }).collect();
        Ok(Some(counts))
    }

    async fn any(&self, span: Span, deadline: Instant) -> Result<bool, HttpError> {
        let groups = self
            .known
            .groups(&self.wire, &self.options, deadline)
            .await?;
        let mut failed = None;
        for group in groups {
            let one = GroupScan {
                group: group.log_group_name.clone(),
                streams: Vec::new(),
                pattern: None,
            };
            match scan::read(&self.wire, &one, span, false, 1, &|_| true, deadline).await {
                Ok(got) if !got.events.is_empty() => return Ok(true),
                Ok(_) => {}
                Err(failure) => failed = failed.or(Some(failure)),
            }
        }
        failed.map_or(Ok(false), Err)
    }
}

fn of_group(group: &str, failure: &HttpError) -> String {
    if is_error(failure, "ResourceNotFound") {
        format!("there is no log group {group} in this account and region")
    } else {
        format!("{group}: {failure}; {}", failure.hint())
    }
}

/// Scans of the streams that are of this, and of what streams' names do not tell.
fn chosen(
    group: &str,
    listed: &GroupStreams,
    about: &LineSubject,
    partial: &mut Vec<String>,
) -> Vec<GroupScan> {
    let mut streams = Vec::new();
    let mut has_pod_names = false;
    let mut found = vec![
        false;
        match about {
            LineSubject::Pods(pods) => pods.len(),
            _ => 1,
        }
    ];
    for stream in &listed.streams {
        let name = &stream.log_stream_name;
        let labels = labels_of_stream(name);
        let (pod, namespace) = (
            labels.get("kubernetes_pod_name"),
            labels.get("kubernetes_namespace_name"),
        );
        has_pod_names |= pod.is_some();
        let mut is_of = false;
        match about {
            LineSubject::Pods(pods) => {
                for (at, requested) in pods.iter().enumerate() {
                    let same = match pod {
                        Some(pod) => {
                            *pod == requested.name
                                && (requested.namespace.is_none()
                                    || requested.namespace.as_ref() == namespace)
                        }
                        None => mentions(name, &requested.name),
                    };
                    found[at] |= same;
                    is_of |= same;
                }
            }
            LineSubject::Nodes(nodes) => {
                is_of = pod.is_none() && nodes.iter().any(|node| is_on(name, &labels, node));
            }
            LineSubject::Experiment(experiment) => {
                is_of = match pod {
                    Some(pod) => pod.starts_with(experiment.as_str()),
                    None => mentions(name, experiment),
                };
                found[0] |= is_of;
            }
        }
        if is_of {
            streams.push(name.clone());
        }
    }
    if listed.capped {
        partial.push(format!(
            "{group} has too many streams to search them all; older ones are searched by name"
        ));
    }
    streams.sort();
    let mut scans: Vec<GroupScan> = streams
        .chunks(STREAMS)
        .map(|some| GroupScan {
            group: group.to_owned(),
            streams: some.to_vec(),
            pattern: None,
        })
        .collect();
    if !has_pod_names || listed.capped {
        scans.extend(searched(group, about, Some(&found)));
    }
    scans
}

/// Whether a stream is of a node: hosts may have the full name or the short one.
fn is_on(stream: &str, labels: &Labels, node: &str) -> bool {
    let short = |name: &str| name.split('.').next().unwrap_or(name).to_owned();
    match labels.get("kubernetes_host") {
        Some(host) => host == node || short(host) == short(node),
        None => mentions(stream, node) || mentions(stream, &short(node)),
    }
}

/// Scans of a whole group for the names of what was not `found` by its streams.
fn searched(group: &str, about: &LineSubject, found: Option<&[bool]>) -> Vec<GroupScan> {
    let is_missing = |at: usize| found.is_none_or(|found| !found.get(at).unwrap_or(&false));
    let patterns = match about {
        LineSubject::Pods(pods) => {
            let missing = pods.iter().enumerate().filter(|(at, _)| is_missing(*at));
            pattern::names(missing.map(|(_, pod)| pod.name.as_str()))
        }
        LineSubject::Experiment(name) if is_missing(0) => {
            pattern::names(std::iter::once(name.as_str()))
        }
        _ => Vec::new(),
    };
    patterns
        .into_iter()
        .map(|pattern| GroupScan {
            group: group.to_owned(),
            streams: Vec::new(),
            pattern: Some(pattern),
        })
        .collect()
}

/// Streams of a pod's name are the pod's; a line found by a name must say that it
/// is the pod's, for others mention it, too.
fn is_asked_for(
    line: &StoredLine,
    names: &LabelNames,
    about: &LineSubject,
    by_pattern: bool,
) -> bool {
    let LineSubject::Pods(pods) = about else {
        return true;
    };
    let entities = names.entities(&line.labels);
    match entities.pod {
        Some(name) => pods.iter().any(|pod| {
            let other = pod.namespace.is_some()
                && entities.namespace.is_some()
                && pod.namespace != entities.namespace;
            pod.name == name && !other
        }),
        None => !by_pattern,
    }
}

impl LogStore for CloudWatch {
    fn name(&self) -> &str {
        &self.options.name
    }

    fn place(&self) -> &str {
        &self.place
    }

    fn source_kind(&self) -> SourceKind {
        SourceKind::CloudwatchLogs
    }

    fn limits(&self) -> Limits {
        Limits {
            pods_at_once: 100,
            questions_at_once: 2,
            metered: true,
            lag: 120 * SECOND,
        }
    }

    fn names(&self) -> &LabelNames {
        &self.options.names
    }

    fn requests(&self) -> u64 {
        self.wire.client.sent()
    }

    fn check(&self, now: Nanos, deadline: Instant) -> BoxFuture<'_, Health> {
        Box::pin(check::check(self, now, deadline))
    }

    fn lines<'a>(
        &'a self,
        query: &'a LineQuery,
        deadline: Instant,
    ) -> BoxFuture<'a, Result<LinesRead, HttpError>> {
        Box::pin(self.read(query, deadline))
    }

    fn counts<'a>(
        &'a self,
        about: &'a LineSubject,
        span: Span,
        deadline: Instant,
    ) -> BoxFuture<'a, Result<Option<Counts>, HttpError>> {
        Box::pin(self.count(about, span, deadline))
    }

    fn has_any(&self, span: Span, deadline: Instant) -> BoxFuture<'_, Result<bool, HttpError>> {
        Box::pin(self.any(span, deadline))
    }
}
