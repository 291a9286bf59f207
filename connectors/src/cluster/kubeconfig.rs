//! The kubeconfig: which contexts there are.

use std::path::Path;

use kube::config::Kubeconfig;

use super::error::{ClusterError, Reason};

/// A context of the kubeconfig.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextInfo {
    /// Its name.
    pub name: String,
    /// The server's address; empty where the file does not say.
    pub server: String,
    /// The user it speaks as, by the file's name for it.
    pub user: Option<String>,
    /// Its namespace.
    pub namespace: Option<String>,
    /// Whether it is the current one.
    pub current: bool,
}

/// The contexts of a kubeconfig in the file's order; reads files only.
///
/// # Errors
/// There is no kubeconfig, or it cannot be read.
pub fn contexts(kubeconfig: Option<&Path>) -> Result<Vec<ContextInfo>, ClusterError> {
    let config = read(kubeconfig)?;
    let current = config.current_context.as_deref();
    let info = |named: &kube::config::NamedContext| {
        let context = named.context.as_ref();
        let cluster = context.map(|context| context.cluster.as_str());
        let server = config
            .clusters
            .iter()
            .find(|one| Some(one.name.as_str()) == cluster)
            .and_then(|one| one.cluster.as_ref()?.server.clone());
        ContextInfo {
            name: named.name.clone(),
            server: server.unwrap_or_default(),
            user: context.and_then(|context| context.user.clone()),
            namespace: context.and_then(|context| context.namespace.clone()),
            current: current == Some(&named.name),
        }
    };
    Ok(config.contexts.iter().map(info).collect())
}

pub(super) fn read(kubeconfig: Option<&Path>) -> Result<Kubeconfig, ClusterError> {
    let read = match kubeconfig {
        Some(file) => Kubeconfig::read_from(file),
        None => Kubeconfig::read(),
    };
    read.map_err(|error| ClusterError::of_kubeconfig(&place(kubeconfig), &error))
}

/// Where the kubeconfig is looked for, in words.
pub(super) fn place(kubeconfig: Option<&Path>) -> String {
    if let Some(file) = kubeconfig {
        return file.display().to_string();
    }
    match std::env::var_os("KUBECONFIG").filter(|list| !list.is_empty()) {
        Some(list) => format!("{} (KUBECONFIG)", list.to_string_lossy()),
        None => "~/.kube/config".to_owned(),
    }
}

/// The context to use: `name`, else the current one.
pub(super) fn choose(
    config: &Kubeconfig,
    name: Option<&str>,
    file: &str,
) -> Result<String, ClusterError> {
    let have: Vec<&str> = config
        .contexts
        .iter()
        .map(|context| context.name.as_str())
        .collect();
    let listed = if have.is_empty() {
        "it has none".to_owned()
    } else {
        format!("it has: {}", have.join(", "))
    };
    let wanted = name
        .or(config.current_context.as_deref())
        .filter(|wanted| !wanted.is_empty());
    let Some(wanted) = wanted else {
        return Err(ClusterError::new(
            Reason::NoSuchContext,
            format!("the kubeconfig {file} has no current context"),
            format!("choose one with --context; {listed}"),
        ));
    };
    if have.contains(&wanted) {
        return Ok(wanted.to_owned());
    }
    let mut error = ClusterError::new(
        Reason::NoSuchContext,
        format!("the kubeconfig {file} has no context {wanted:?}"),
        listed,
    );
    error.context = Some(wanted.to_owned());
    Err(error)
}
