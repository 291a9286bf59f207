//! From a kubeconfig to clusters that answer, each once.

use std::net::Ipv4Addr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use futures::StreamExt as _;
use kube::Config;
use kube::config::KubeConfigOptions;
use serde::Deserialize;
use tokio::time::timeout_at;

use super::client::{self, ApiClient, RequestError};
use super::error::{ClusterError, Reason};
use super::kubeconfig;
use super::options::{ClusterOptions, Contexts};

/// A cluster that answers. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Cluster {
    pub(super) inner: Arc<Inner>,
}

#[derive(Debug)]
pub(super) struct Inner {
    pub(super) wire: ApiClient,
    pub(super) options: ClusterOptions,
    pub(super) server: String,
    pub(super) uid: Option<String>,
    pub(super) id: Arc<str>,
    pub(super) version: Option<String>,
    pub(super) namespace: String,
    pub(super) contexts: Vec<String>,
}

/// The clusters of several contexts.
#[derive(Debug, Default)]
pub struct Connected {
    /// Those that answer, each once, in the order of the contexts.
    pub clusters: Vec<Cluster>,
    /// The others, by context.
    pub failed: Vec<ClusterError>,
}

#[derive(Deserialize)]
struct Version {
    #[serde(rename = "gitVersion", default)]
    git: String,
}

#[derive(Deserialize)]
struct NamedObject {
    metadata: Metadata,
}

#[derive(Deserialize)]
struct Metadata {
    uid: Option<String>,
}

/// Connects to every cluster that `options` means. One that does not answer
/// does not keep the others from being used.
///
/// # Errors
/// The kubeconfig cannot be used, or has no such context.
pub async fn connect(options: &ClusterOptions) -> Result<Connected, ClusterError> {
    let names = match &options.contexts {
        Contexts::Current => vec![None],
        Contexts::Named(names) => {
            let config = kubeconfig::read(options.kubeconfig.as_deref())?;
            let file = kubeconfig::place(options.kubeconfig.as_deref());
            for name in names {
                kubeconfig::choose(&config, Some(name), &file)?;
            }
            names.iter().cloned().map(Some).collect()
        }
        Contexts::All => kubeconfig::contexts(options.kubeconfig.as_deref())?
            .into_iter()
            .map(|context| Some(context.name))
            .collect(),
    };
    let attempts: Vec<_> = futures::stream::iter(names)
        .map(|name| async move { one(options, name.as_deref()).await })
        .buffered(options.concurrency.max(1))
        .collect()
        .await;
    let mut connected = Connected::default();
    for attempt in attempts {
        match attempt {
            Ok(cluster) => connected.add(cluster),
            Err(error) if matches!(options.contexts, Contexts::Current) => return Err(error),
            Err(error) => connected.failed.push(error),
        }
    }
    Ok(connected)
}

impl Connected {
    /// Two contexts of one cluster are one.
    fn add(&mut self, cluster: Cluster) {
        let known = self
            .clusters
            .iter_mut()
            .find(|known| known.id() == cluster.id());
        let Some(known) = known else {
            self.clusters.push(cluster);
            return;
        };
        if let Some(inner) = Arc::get_mut(&mut known.inner) {
            inner.contexts.extend_from_slice(cluster.contexts());
        }
    }
}

impl Cluster {
    /// Connects to the current context, or the first of those named.
    ///
    /// # Errors
    /// Says why not and what to do: see [`Reason`].
    pub async fn connect(options: &ClusterOptions) -> Result<Self, ClusterError> {
        let name = match &options.contexts {
            Contexts::Named(names) => names.first().map(String::as_str),
            _ => None,
        };
        one(options, name).await
    }

    /// What identifies the cluster: the uid of its namespace kube-system, or
    /// its address where that may not be read.
    #[must_use]
    pub fn id(&self) -> &str {
        &self.inner.id
    }

    /// The uid of the namespace kube-system, where it may be read.
    #[must_use]
    pub fn uid(&self) -> Option<&str> {
        self.inner.uid.as_deref()
    }

    /// The contexts that lead to it, the one used first.
    #[must_use]
    pub fn contexts(&self) -> &[String] {
        &self.inner.contexts
    }

    /// The server's address.
    #[must_use]
    pub fn server(&self) -> &str {
        &self.inner.server
    }

    /// The server's version, where it says.
    #[must_use]
    pub fn version(&self) -> Option<&str> {
        self.inner.version.as_deref()
    }

    /// What it is called in names of origins and in answers.
    #[must_use]
    pub fn alias(&self) -> &str {
        self.inner
            .contexts
            .first()
            .map_or(&self.inner.server, |name| name)
    }
}

async fn one(options: &ClusterOptions, name: Option<&str>) -> Result<Cluster, ClusterError> {
    // Both TLS providers may be compiled in; without a choice the first
    // connection panics. Someone else's choice is as good.
    crate::http::choose_encryption();
    let (mut config, context) = configure(options, name).await?;
    config.connect_timeout = Some(options.connect_timeout);
    if let Some(user) = &options.impersonate {
        config.auth_info.impersonate = Some(user.clone());
    }
    leave_out_proxy(&mut config);
    let server = address(&config.cluster_url.to_string());
    let plugin = config.auth_info.exec.as_ref();
    let plugin = plugin.and_then(|exec| exec.command.clone());
    let named = |mut error: ClusterError| {
        if let (Reason::ExecPlugin, Some(plugin)) = (error.reason, &plugin) {
            let which = format!("the program {plugin:?}");
            error.message = error.message.replacen("the program", &which, 1);
        }
        error.context.get_or_insert_with(|| context.clone());
        error
    };
    let deadline = Instant::now() + options.connect_timeout;
    let reached = timeout_at(deadline.into(), reach(options, config, &server, deadline)).await;
    let reached = reached.unwrap_or_else(|_| Err(late(&server, options.connect_timeout)));
    let (wire, namespace, version, uid) = reached.map_err(named)?;
    let id = uid.clone().unwrap_or_else(|| server.clone());
    Ok(Cluster {
        inner: Arc::new(Inner {
            wire,
            options: options.clone(),
            server,
            uid,
            id: id.into(),
            version,
            namespace,
            contexts: vec![context],
        }),
    })
}

/// An address without the credentials that may stand in it.
pub(super) fn address(url: &str) -> String {
    let Ok(mut plain) = url::Url::parse(url) else {
        return url.trim_end_matches('/').to_owned();
    };
    // Only addresses without a host refuse this, which have no credentials.
    let _hostless = plain.set_username("").and(plain.set_password(None));
    plain.as_str().trim_end_matches('/').to_owned()
}

fn late(server: &str, after: Duration) -> ClusterError {
    ClusterError::new(
        Reason::TimedOut,
        format!(
            "{server} does not respond within {:.1} s",
            after.as_secs_f64()
        ),
        "check the network, the VPN and whether the exec plugin waits for a login",
    )
}

/// The configuration and the context's name.
async fn configure(
    options: &ClusterOptions,
    name: Option<&str>,
) -> Result<(Config, String), ClusterError> {
    let path = options.kubeconfig.as_deref();
    let file = kubeconfig::place(path);
    let found = kubeconfig::read(path);
    if let Err(error) = &found
        && error.reason == Reason::NoKubeconfig
        && path.is_none()
        && name.is_none()
        && let Ok(config) = Config::incluster()
    {
        return Ok((config, "in-cluster".to_owned()));
    }
    let found = found?;
    let context = kubeconfig::choose(&found, name, &file)?;
    let choice = KubeConfigOptions {
        context: Some(context.clone()),
        ..KubeConfigOptions::default()
    };
    match Config::from_custom_kubeconfig(found, &choice).await {
        Ok(config) => Ok((config, context)),
        Err(error) => {
            let mut error = ClusterError::of_kubeconfig(&file, &error);
            error.context = Some(context);
            Err(error)
        }
    }
}

/// A proxy from the environment is not for addresses that `NO_PROXY` names,
/// nor for this machine.
fn leave_out_proxy(config: &mut Config) {
    let host = config.cluster_url.host().unwrap_or_default().to_owned();
    let local = matches!(host.as_str(), "localhost" | "127.0.0.1" | "[::1]" | "::1");
    let list = std::env::var("NO_PROXY").or_else(|_| std::env::var("no_proxy"));
    let list = list.unwrap_or_default();
    let named = list.split(',').any(|entry| covers(entry.trim(), &host));
    if local || named {
        config.proxy_url = None;
    }
}

/// Whether an entry of `NO_PROXY` names the host: `*`, a name, the end of
/// names, or a range of IPv4 addresses.
fn covers(entry: &str, host: &str) -> bool {
    if let Some((network, bits)) = entry.split_once('/')
        && let (Ok(network), Ok(host)) = (network.parse::<Ipv4Addr>(), host.parse::<Ipv4Addr>())
        && let Ok(bits @ 0..=32) = bits.parse::<u32>()
    {
        let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
        return network.to_bits() & mask == host.to_bits() & mask;
    }
    let entry = entry.trim_start_matches('.');
    !entry.is_empty() && (entry == "*" || host == entry || host.ends_with(&format!(".{entry}")))
}

/// Making a client may run the exec plugin, which may wait for a person. It
/// has a thread of its own, since the runtime's must end before the process can.
async fn make(config: Config) -> Result<kube::Client, kube::Error> {
    let (to, from) = tokio::sync::oneshot::channel();
    let runtime = tokio::runtime::Handle::current();
    std::thread::spawn(move || {
        let _entered = runtime.enter();
        // Nobody waits any more where it took too long.
        let _late = to.send(kube::Client::try_from(config));
    });
    from.await
        .unwrap_or_else(|gone| Err(kube::Error::Service(Box::new(gone))))
}

type ReachedCluster = (ApiClient, String, Option<String>, Option<String>);

async fn reach(
    options: &ClusterOptions,
    config: Config,
    server: &str,
    deadline: Instant,
) -> Result<ReachedCluster, ClusterError> {
    let namespace = config.default_namespace.clone();
    let client = make(config)
        .await
        .map_err(|error| ClusterError::of_client(server, &error))?;
    let wire = ApiClient::new(client, options.request_timeout);
    let head = wire.head("/version").await;
    let head = head.map_err(|error| ClusterError::of_client(server, &error))?;
    if head.code == 401 {
        return Err(ClusterError::of_status(server, 401, "Unauthorized"));
    }
    let version = match wire.get("/version", None, 1 << 20, deadline).await {
        Ok(body) => {
            let version: Version =
                client::parse(&body).map_err(|failure| client::refused(server, &failure))?;
            Some(version.git).filter(|version| !version.is_empty())
        }
        // Some clusters hide their version from users.
        Err(RequestError::Status { code: 403, .. }) => None,
        Err(failure) => return Err(client::refused(server, &failure)),
    };
    let path = "/api/v1/namespaces/kube-system";
    let uid = match wire.get(path, None, 1 << 20, deadline).await {
        Ok(body) => {
            let named: Result<NamedObject, _> = client::parse(&body);
            named.ok().and_then(|named| named.metadata.uid)
        }
        Err(failure @ RequestError::Status { code: 401, .. }) => {
            return Err(client::refused(server, &failure));
        }
        Err(_) => None,
    };
    Ok((wire, namespace, version, uid))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_proxy_names_hosts() {
        assert!(covers("10.0.0.0/8", "10.1.2.3"));
        assert!(!covers("10.0.0.0/8", "11.1.2.3"));
        assert!(covers("0.0.0.0/0", "11.1.2.3"));
        assert!(covers(".lab.example", "api.lab.example"));
        assert!(covers("*", "x"));
        assert!(!covers("", "x"));
        assert!(!covers("ab", "b"));
    }

    #[test]
    fn addresses_carry_no_credentials() {
        assert_eq!(address("https://u:secret@h:6443/"), "https://h:6443");
        assert_eq!(
            address("https://h/k8s/clusters/c-1"),
            "https://h/k8s/clusters/c-1"
        );
    }
}
