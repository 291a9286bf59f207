//! The log store.

use std::collections::BTreeMap;
use std::time::Instant;

use futures::future::{BoxFuture, join_all};

use super::groups::{Known, Listed};
use super::options::CloudWatchOptions;
use super::scan::{self, Scan, Scanned};
use super::stream::{self, mentions};
use super::wire::{Event, Wire, is_error};
use super::{check, decode, insights, pattern};
use crate::aws_auth::{AwsAccess, Service};
use crate::connector::{Clock, Health};
use crate::event::SourceKind;
use crate::http::{Client, HttpOptions, Trouble};
use crate::log_store::{
    About, Counts, Got, LabelNames, Labels, Limits, LineQuery, LogStore, MILLISECOND, Minute, Only,
    Span, StoredLine,
};
use crate::time::{Nanos, SECOND};

/// Streams that one question may name.
const STREAMS: usize = 100;

/// Amazon `CloudWatch` Logs of one account in one region.
#[derive(Debug)]
pub struct CloudWatch {
    pub(super) wire: Wire,
    pub(super) options: CloudWatchOptions,
    pub(super) known: Known,
    place: String,
}

impl CloudWatch {
    /// Finds region and source of credentials; asks for nothing else yet. `clock`
    /// tells the times of signatures.
    ///
    /// # Errors
    /// Says which option does not make sense.
    pub async fn open(options: CloudWatchOptions, clock: Clock) -> Result<Self, Trouble> {
        let access = AwsAccess::load(&options.aws, clock).await;
        Self::with(options, &access)
    }

    /// With who we are to AWS.
    ///
    /// # Errors
    /// Says which option does not make sense.
    pub fn with(mut options: CloudWatchOptions, access: &AwsAccess) -> Result<Self, Trouble> {
        if options.name.is_empty() {
            options.name = "cloudwatch".to_owned();
        }
        let url = access.url(Service::LOGS)?;
        let mut http = HttpOptions::new(url);
        http.auth = access.signs_for(Service::LOGS.signed_as)?;
        // A few times a second is what an account may ask in some regions.
        http.tries = 6;
        http.concurrency = 3;
        let client = Client::new(http)?;
        let mut place = format!("{} {}", client.address(), access.region()?);
        if !options.groups.is_empty() {
            place.push_str(&format!(" {}", options.groups.join(",")));
        }
        Ok(Self {
            wire: Wire { client },
            options,
            known: Known::default(),
            place,
        })
    }

    /// Groups in which lines of this may be.
    async fn groups(&self, about: &About, deadline: Instant) -> Result<Vec<String>, Trouble> {
        let groups = self
            .known
            .groups(&self.wire, &self.options, deadline)
            .await?;
        let names = groups.iter().map(|group| &group.log_group_name);
        let fits = |name: &&String| match about {
            About::Nodes(_) => stream::may_hold_nodes(name),
            _ => stream::may_hold_pods(name),
        };
        Ok(names.filter(fits).cloned().collect())
    }

    /// What is to be read, and what went wrong in finding that out.
    async fn scans(
        &self,
        about: &About,
        span: Span,
        deadline: Instant,
    ) -> Result<(Vec<Scan>, Vec<String>), Trouble> {
        let groups = self.groups(about, deadline).await?;
        if groups.is_empty() {
            // Many keep no lines of machines here; that there is no group at all is
            // told with the lines of pods.
            let told = match about {
                About::Nodes(_) => Vec::new(),
                _ => vec![self.no_group()],
            };
            return Ok((Vec::new(), told));
        }
        let from = span.from.div_euclid(MILLISECOND);
        let (mut scans, mut partial, mut failed) = (Vec::new(), Vec::new(), None);
        for group in &groups {
            let listed = self.known.streams(&self.wire, group, from, deadline).await;
            match listed {
                Ok(listed) => scans.extend(chosen(group, &listed, about, &mut partial)),
                Err(trouble) => {
                    partial.push(of_group(group, &trouble));
                    // Reading may be allowed where listing is not.
                    if trouble.is_denied() && !is_error(&trouble, "ExpiredToken") {
                        scans.extend(searched(group, about, None));
                    }
                    failed = failed.or(Some(trouble));
                }
            }
        }
        match failed {
            Some(trouble) if scans.is_empty() && partial.len() == groups.len() => Err(trouble),
            _ => Ok((scans, partial)),
        }
    }

    pub(super) fn no_group(&self) -> String {
        match self.options.groups.as_slice() {
            [] => "no log group of Container Insights or EKS is found: name groups in the configuration".to_owned(),
            groups => format!("no log group matches {}", groups.join(", ")),
        }
    }

    async fn read(&self, ask: &LineQuery, deadline: Instant) -> Result<Got, Trouble> {
        let (scans, partial) = self.scans(&ask.about, ask.span, deadline).await?;
        let mut got = Got {
            partial,
            ..Got::default()
        };
        let reads = scans.iter().map(|one| self.read_one(one, ask, deadline));
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
                Err(trouble) => {
                    got.partial.push(of_group(&one.group, &trouble));
                    failed = failed.or(Some(trouble));
                }
            }
        }
        if let Some(trouble) = failed.filter(|_| !any) {
            return Err(trouble);
        }
        self.finish(&mut got, ask);
        Ok(got)
    }

    async fn read_one(
        &self,
        one: &Scan,
        ask: &LineQuery,
        deadline: Instant,
    ) -> Result<Scanned, Trouble> {
        let names = &self.options.names;
        let by_pattern = one.pattern.is_some();
        let telling = ask.about.telling();
        let is_wanted = |event: &Event| {
            let line = decode::line(event, &one.group, 0);
            is_asked_for(&line, names, &ask.about, by_pattern)
                && ask.span.holds(line.stamp.lo)
                && (ask.only == Only::All || telling.is_in(&event.message))
        };
        let read = async |scan: &Scan| {
            let (span, newest) = (ask.span, ask.newest);
            let limit = ask.limit;
            scan::read(&self.wire, scan, span, newest, limit, &is_wanted, deadline).await
        };
        if by_pattern || ask.only == Only::All {
            return read(one).await;
        }
        let mut all = Scanned::default();
        for pattern in pattern::telling(telling) {
            let scan = Scan {
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
                Err(trouble) if is_error(&trouble, "InvalidParameter") => return read(one).await,
                Err(trouble) => return Err(trouble),
            }
        }
        Ok(all)
    }

    /// Each line once, in order, at most as many as asked for.
    fn finish(&self, got: &mut Got, ask: &LineQuery) {
        got.lines.sort_by(|a, b| {
            (a.stamp, &a.labels, a.order, &a.id).cmp(&(b.stamp, &b.labels, b.order, &b.id))
        });
        got.lines
            .dedup_by(|a, b| a.id.is_some() && a.id == b.id && a.labels == b.labels);
        let over = got.lines.len().saturating_sub(ask.limit);
        if over > 0 {
            got.cut = true;
            if ask.newest {
                got.lines.drain(..over);
            } else {
                got.lines.truncate(ask.limit);
            }
        }
        got.partial.sort();
        got.partial.dedup();
    }

    async fn count(
        &self,
        about: &About,
        span: Span,
        deadline: Instant,
    ) -> Result<Option<Counts>, Trouble> {
        if !self.options.insights {
            return Ok(None);
        }
        let (scans, partial) = self.scans(about, span, deadline).await?;
        let names: Vec<String> = match about {
            About::Pods(pods) => pods.iter().map(|pod| pod.name.clone()).collect(),
            About::Nodes(_) => Vec::new(),
            About::Experiment(name) => vec![name.clone()],
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

    async fn any(&self, span: Span, deadline: Instant) -> Result<bool, Trouble> {
        let groups = self
            .known
            .groups(&self.wire, &self.options, deadline)
            .await?;
        let mut failed = None;
        for group in groups {
            let one = Scan {
                group: group.log_group_name.clone(),
                streams: Vec::new(),
                pattern: None,
            };
            match scan::read(&self.wire, &one, span, false, 1, &|_| true, deadline).await {
                Ok(got) if !got.events.is_empty() => return Ok(true),
                Ok(_) => {}
                Err(trouble) => failed = failed.or(Some(trouble)),
            }
        }
        failed.map_or(Ok(false), Err)
    }
}

fn of_group(group: &str, trouble: &Trouble) -> String {
    if is_error(trouble, "ResourceNotFound") {
        format!("there is no log group {group} in this account and region")
    } else {
        format!("{group}: {trouble}; {}", trouble.hint())
    }
}

/// Scans of the streams that are of this, and of what streams' names do not tell.
fn chosen(group: &str, listed: &Listed, about: &About, partial: &mut Vec<String>) -> Vec<Scan> {
    let mut streams = Vec::new();
    let mut names_tell = false;
    let mut found = vec![
        false;
        match about {
            About::Pods(pods) => pods.len(),
            _ => 1,
        }
    ];
    for stream in &listed.streams {
        let name = &stream.log_stream_name;
        let labels = stream::named(name);
        let (pod, namespace) = (
            labels.get("kubernetes_pod_name"),
            labels.get("kubernetes_namespace_name"),
        );
        names_tell |= pod.is_some();
        let mut is_of = false;
        match about {
            About::Pods(pods) => {
                for (at, asked) in pods.iter().enumerate() {
                    let same = match pod {
                        Some(pod) => {
                            *pod == asked.name
                                && (asked.namespace.is_none()
                                    || asked.namespace.as_ref() == namespace)
                        }
                        None => mentions(name, &asked.name),
                    };
                    found[at] |= same;
                    is_of |= same;
                }
            }
            About::Nodes(nodes) => {
                is_of = pod.is_none() && nodes.iter().any(|node| is_on(name, &labels, node));
            }
            About::Experiment(experiment) => {
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
            "{group} has more streams than are looked through; older ones are searched by name"
        ));
    }
    streams.sort();
    let mut scans: Vec<Scan> = streams
        .chunks(STREAMS)
        .map(|some| Scan {
            group: group.to_owned(),
            streams: some.to_vec(),
            pattern: None,
        })
        .collect();
    if !names_tell || listed.capped {
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
fn searched(group: &str, about: &About, found: Option<&[bool]>) -> Vec<Scan> {
    let is_missing = |at: usize| found.is_none_or(|found| !found.get(at).unwrap_or(&false));
    let patterns = match about {
        About::Pods(pods) => {
            let missing = pods.iter().enumerate().filter(|(at, _)| is_missing(*at));
            pattern::names(missing.map(|(_, pod)| pod.name.as_str()))
        }
        About::Experiment(name) if is_missing(0) => pattern::names(std::iter::once(name.as_str())),
        _ => Vec::new(),
    };
    patterns
        .into_iter()
        .map(|pattern| Scan {
            group: group.to_owned(),
            streams: Vec::new(),
            pattern: Some(pattern),
        })
        .collect()
}

/// Streams of a pod's name are the pod's; a line found by a name must say that it
/// is the pod's, for others mention it, too.
fn is_asked_for(line: &StoredLine, names: &LabelNames, about: &About, by_pattern: bool) -> bool {
    let About::Pods(pods) = about else {
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
    ) -> BoxFuture<'a, Result<Got, Trouble>> {
        Box::pin(self.read(query, deadline))
    }

    fn counts<'a>(
        &'a self,
        about: &'a About,
        span: Span,
        deadline: Instant,
    ) -> BoxFuture<'a, Result<Option<Counts>, Trouble>> {
        Box::pin(self.count(about, span, deadline))
    }

    fn has_any(&self, span: Span, deadline: Instant) -> BoxFuture<'_, Result<bool, Trouble>> {
        Box::pin(self.any(span, deadline))
    }
}
