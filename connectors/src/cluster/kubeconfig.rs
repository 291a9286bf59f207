//! The kubeconfig: which contexts there are.

use std::ffi::OsStr;
use std::path::Path;

use kube::config::{Kubeconfig, KubeconfigError};

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
    if let Some(file) = kubeconfig {
        return Kubeconfig::read_from(file)
            .map_err(|error| ClusterError::of_kubeconfig(&place(kubeconfig), &error));
    }
    match std::env::var_os("KUBECONFIG").filter(|list| !list.is_empty()) {
        Some(list) => merged(&list),
        None => Kubeconfig::read()
            .map_err(|error| ClusterError::of_kubeconfig(&place(kubeconfig), &error)),
    }
}

/// The files of a list as one; those that are not there are passed over, as
/// kubectl does.
fn merged(list: &OsStr) -> Result<Kubeconfig, ClusterError> {
    let mut whole: Option<Kubeconfig> = None;
    let mut missing = None;
    for file in std::env::split_paths(list).filter(|file| !file.as_os_str().is_empty()) {
        let emitted = |error| ClusterError::of_kubeconfig(&file.display().to_string(), &error);
        let one = match Kubeconfig::read_from(&file).map_err(emitted) {
            Ok(one) => one,
            Err(error) if error.reason == Reason::NoKubeconfig => {
                missing.get_or_insert(error);
                continue;
            }
            Err(error) => return Err(error),
        };
        whole = Some(match whole {
            Some(before) => before.merge(one).map_err(emitted)?,
            None => one,
        });
    }
    whole.ok_or_else(|| {
        missing.unwrap_or_else(|| {
            ClusterError::of_kubeconfig("KUBECONFIG", &KubeconfigError::FindPath)
        })
    })
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_list_are_merged_and_missing_ones_passed_over() {
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, text: &str| {
            let path = dir.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        };
        let a = file("a", "current-context: a\ncontexts: [{name: a}]");
        let b = file("b", "current-context: b\ncontexts: [{name: b}]");
        let bad = file("bad", "{{{");
        let missing = dir.path().join("missing");
        let list = |paths: &[&std::path::PathBuf]| std::env::join_paths(paths).unwrap();
        let config = merged(&list(&[&missing, &a, &b])).unwrap();
        assert_eq!(config.current_context.as_deref(), Some("a"));
        assert_eq!(config.contexts.len(), 2);
        let error = merged(&list(&[&missing])).unwrap_err();
        assert_eq!(error.reason, Reason::NoKubeconfig);
        let error = merged(&list(&[&a, &bad])).unwrap_err();
        assert_eq!(error.reason, Reason::BadKubeconfig);
        assert!(error.message.contains("bad cannot be used"), "{error}");
    }
}
