//! Why a cluster cannot be connected to, and what to do about it.

use std::error::Error as StdError;
use std::io;

use kube::client::AuthError;
use kube::config::KubeconfigError;

use crate::coverage::{Coverage, Mode, Status};
use crate::time::Nanos;

/// What is wrong, as far as callers tell it apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// There is no kubeconfig, and this is no pod.
    NoKubeconfig,
    /// The kubeconfig cannot be read or does not fit together.
    BadKubeconfig,
    /// There is no context of that name, or no current one.
    NoSuchContext,
    /// Nothing answers there.
    Unreachable,
    /// The two do not agree on a secure connection.
    Tls,
    /// The credentials are missing or have expired.
    Unauthorized,
    /// The program that makes the credentials is missing or failed.
    ExecPlugin,
    /// Reached only through a proxy that this build cannot use.
    Proxy,
    /// No answer in time.
    TimedOut,
    /// It answers, but not as an API server does.
    NotKubernetes,
}

/// Why a cluster cannot be used. Displays as one sentence without full stop.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ClusterError {
    /// What is wrong.
    pub reason: Reason,
    /// The context that was meant, where it is known.
    pub context: Option<String>,
    /// What is wrong, in words.
    pub message: String,
    /// What to do about it.
    pub hint: String,
}

impl ClusterError {
    pub(super) fn new(reason: Reason, message: String, hint: impl Into<String>) -> Self {
        Self {
            reason,
            context: None,
            message,
            hint: hint.into(),
        }
    }

    /// The coverage row of a cluster that was asked for and not obtained.
    #[must_use]
    pub fn coverage(&self, source: &str, now: Nanos) -> Coverage {
        let status = match self.reason {
            Reason::Unauthorized => Status::Denied,
            Reason::NoKubeconfig => Status::NotConfigured,
            _ => Status::Failed,
        };
        let row = Coverage {
            cluster: self.context.clone(),
            mode: Mode::Snapshot,
            asked_to: Some(now),
            ..Coverage::new(source, "cluster")
        };
        row.ended(status, &[format!("{}; {}", self.message, self.hint)])
            .lacking("pods, events, nodes and workloads of the cluster")
    }

    pub(super) fn of_kubeconfig(file: &str, error: &KubeconfigError) -> Self {
        let reason = match error {
            KubeconfigError::FindPath => Reason::NoKubeconfig,
            KubeconfigError::ReadConfig(error, _) if error.kind() == io::ErrorKind::NotFound => {
                Reason::NoKubeconfig
            }
            _ => Reason::BadKubeconfig,
        };
        if reason == Reason::NoKubeconfig {
            return Self::new(
                reason,
                format!("there is no kubeconfig at {file}"),
                "set KUBECONFIG or give --kubeconfig",
            );
        }
        let why = chain(error);
        Self::new(
            reason,
            format!("the kubeconfig {file} cannot be used: {why}"),
            "`kubectl config view` shows what kubectl makes of it",
        )
    }

    pub(super) fn of_client(server: &str, error: &kube::Error) -> Self {
        if let kube::Error::ProxyProtocolDisabled { proxy_url, .. }
        | kube::Error::ProxyProtocolUnsupported { proxy_url } = error
        {
            let proxy_url = super::connect::address(&proxy_url.to_string());
            return Self::new(
                Reason::Proxy,
                format!(
                    "{server} is configured with the proxy {proxy_url}, which this build does not support"
                ),
                "unset HTTPS_PROXY or proxy-url, or run where the server is reached directly",
            );
        }
        if let Some(error) = Self::of_auth(server, error) {
            return error;
        }
        if let kube::Error::Api(status) = error {
            return Self::of_status(server, status.code, &status.message);
        }
        let why = chain(error).replace("ServiceError: ", "");
        if has_tls(error) || why.contains("tls handshake") || why.contains("certificate") {
            return Self::new(
                Reason::Tls,
                format!("cannot establish a secure connection to {server}: {why}"),
                "check the server's address, certificate-authority-data and client certificate of the context",
            );
        }
        Self::new(
            Reason::Unreachable,
            format!("{server} cannot be reached: {why}"),
            "check the network, the VPN and the server's address in the kubeconfig",
        )
    }

    pub(super) fn of_status(server: &str, code: u16, message: &str) -> Self {
        let message = short(message);
        if code == 401 {
            return Self::new(
                Reason::Unauthorized,
                format!("{server} does not accept the credentials (401): {message}"),
                "they are missing or have expired; log in again as you would for kubectl",
            );
        }
        Self::new(
            Reason::NotKubernetes,
            format!("{server} returned {code}: {message}"),
            "check that this is the address of an API server",
        )
    }

    /// What is wrong with the credentials, where that is what is wrong. Only
    /// this may tell of an exec plugin: its error holds secrets.
    pub(super) fn of_auth(server: &str, error: &kube::Error) -> Option<Self> {
        find::<AuthError>(error).map(|error| Self::of_credentials(server, error))
    }

    fn of_credentials(server: &str, error: &AuthError) -> Self {
        let why = chain(error);
        match error {
            AuthError::AuthExecStart(_) => Self::new(
                Reason::ExecPlugin,
                format!(
                    "the program that creates the credentials for {server} cannot be started: {why}"
                ),
                "install the exec plugin that the kubeconfig names, or put it on PATH",
            ),
            // Its command line has the values of its environment in it.
            AuthError::AuthExecRun { out, .. } => {
                let stderr = String::from_utf8_lossy(&out.stderr);
                Self::new(
                    Reason::ExecPlugin,
                    format!(
                        "the program that makes the credentials for {server} failed ({}): {}",
                        out.status,
                        short(&crate::redact::redact(&stderr)),
                    ),
                    "run any kubectl command to see whether it asks you to log in",
                )
            }
            _ => Self::new(
                Reason::Unauthorized,
                format!("there are no usable credentials for {server}: {why}"),
                "log in again as you would for kubectl",
            ),
        }
    }
}

/// The first line, at most 300 characters of it.
pub(super) fn short(text: &str) -> String {
    let line = text.trim().lines().next().unwrap_or_default();
    let mut out: String = line.chars().take(300).collect();
    if out.len() < line.len() {
        out.push('…');
    }
    out
}

/// An error and what caused it, each said once.
pub(super) fn chain(error: &(dyn StdError + 'static)) -> String {
    let mut out = short(&error.to_string());
    let mut next = error.source();
    while let Some(cause) = next {
        let text = short(&cause.to_string());
        if !text.is_empty() && !out.contains(&text) {
            out.push_str(": ");
            out.push_str(&text);
        }
        next = cause.source();
    }
    out
}

fn find<'a, E: StdError + 'static>(error: &'a (dyn StdError + 'static)) -> Option<&'a E> {
    let mut next = Some(error);
    while let Some(error) = next {
        if let Some(found) = error.downcast_ref() {
            return Some(found);
        }
        // An I/O error does not name what it wraps as its source.
        if let Some(inner) = error
            .downcast_ref::<io::Error>()
            .and_then(io::Error::get_ref)
            && let Some(found) = find(inner)
        {
            return Some(found);
        }
        next = error.source();
    }
    None
}

fn has_tls(error: &(dyn StdError + 'static)) -> bool {
    find::<rustls::Error>(error).is_some() || find::<kube::client::RustlsTlsError>(error).is_some()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The way a handshake that failed comes out of the client.
    #[test]
    fn what_is_wrapped_twice_is_found() {
        let handshake = rustls::Error::InvalidCertificate(rustls::CertificateError::UnknownIssuer);
        let inner = io::Error::new(io::ErrorKind::InvalidData, handshake);
        let outer = io::Error::other(inner);
        let error = ClusterError::of_client("https://h", &kube::Error::Service(Box::new(outer)));
        assert_eq!(error.reason, Reason::Tls, "{error:?}");
        let refused = io::Error::from(io::ErrorKind::ConnectionRefused);
        let error = ClusterError::of_client("https://h", &kube::Error::Service(Box::new(refused)));
        assert_eq!(error.reason, Reason::Unreachable, "{error:?}");
    }
}
