//! Which clusters to connect to, and within which bounds.

use std::path::PathBuf;
use std::time::Duration;

/// Which contexts of the kubeconfig are meant.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Contexts {
    /// The current one; inside a pod without kubeconfig, the pod's own cluster.
    #[default]
    Current,
    /// Those of these names.
    Named(Vec<String>),
    /// Every one in the file.
    All,
}

/// How to connect, and the bounds of what is read.
#[derive(Clone, Debug)]
pub struct ClusterOptions {
    /// The name of the source in coverage rows.
    pub source: String,
    /// `--kubeconfig`; else `$KUBECONFIG` (a list of files), else `~/.kube/config`.
    pub kubeconfig: Option<PathBuf>,
    /// Which contexts.
    pub contexts: Contexts,
    /// Namespaces to fall back on where the whole cluster may not be listed,
    /// beside the context's own.
    pub namespaces: Vec<String>,
    /// Speak as this user, as `kubectl --as` does.
    pub impersonate: Option<String>,
    /// How long a connection may take to come about, credentials included.
    pub connect_timeout: Duration,
    /// How long one answer may take.
    pub request_timeout: Duration,
    /// Objects a page.
    pub page_size: u32,
    /// The largest page that is taken in; a larger one is asked for in smaller pieces.
    pub max_page_bytes: usize,
    /// The largest line of a watch.
    pub max_line_bytes: usize,
    /// Objects of one resource after which a list is cut off.
    pub max_objects: u64,
    /// Requests under way at once.
    pub concurrency: usize,
    /// Of a cluster with more pods than four pages hold, read what a question concerns alone.
    pub selective: bool,
    /// How long a watch is asked to last before it is renewed.
    pub watch_lasts: Duration,
    /// How long to wait after a first failure of a watch; doubles up to a minute.
    pub backoff: Duration,
    /// Spreads the pauses of collectors that would otherwise wait alike.
    pub seed: u64,
}

impl Default for ClusterOptions {
    fn default() -> Self {
        Self {
            source: "kubernetes".to_owned(),
            kubeconfig: None,
            contexts: Contexts::Current,
            namespaces: Vec::new(),
            impersonate: None,
            connect_timeout: Duration::from_secs(10),
            request_timeout: Duration::from_secs(30),
            page_size: 500,
            max_page_bytes: 64 << 20,
            max_line_bytes: 16 << 20,
            max_objects: 200_000,
            concurrency: 6,
            selective: false,
            watch_lasts: Duration::from_secs(290),
            backoff: Duration::from_secs(1),
            seed: 0,
        }
    }
}

/// Which logs to read, and how much of them.
#[derive(Clone, Debug)]
pub struct LogOptions {
    /// The last lines of each container's run.
    pub tail_lines: u64,
    /// Bytes of each container's run.
    pub limit_bytes: u64,
    /// Logs under way at once.
    pub concurrency: usize,
    /// Also the run before the last, where there was one.
    pub previous: bool,
}

impl Default for LogOptions {
    fn default() -> Self {
        Self {
            tail_lines: 20_000,
            limit_bytes: 8 << 20,
            concurrency: 8,
            previous: true,
        }
    }
}
