//! What the other files of a folder say of a file that does not say it itself.
//!
//! People save a pod's description and its log beside each other, the log
//! under a name like `logs.txt`. Where the folder describes one pod, a log that
//! names none is taken to be that pod's.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::sniff::{self, Form, HEAD};
use crate::contract::Input;
use crate::kubectl::{self, DescribedPod};
use crate::logs::LogSource;

/// Folders with more files than this are archives of something else.
const MAX_FILES: usize = 400;

/// What a folder's files describe.
#[derive(Clone, Debug, Default)]
pub(super) struct FolderContext {
    /// Pods, by namespace and name.
    pub(super) pods: Arc<[(String, String)]>,
    /// The same pods, as far as they were read whole.
    pub(super) described: Arc<[DescribedPod]>,
    /// Some files hold objects as the API writes them.
    pub(super) objects: bool,
}

/// Remembers the folder looked at last; files come folder by folder.
#[derive(Debug, Default)]
pub(super) struct Folder {
    /// What was given to be read: a file that lies beside it says nothing.
    given: Vec<PathBuf>,
    path: PathBuf,
    found: FolderContext,
}

impl Folder {
    /// Of the folders in which some inputs lie.
    pub(super) fn of_inputs(inputs: &[Input]) -> Self {
        let given = inputs.iter().filter_map(|input| match input {
            Input::Path(path) => Some(plain(path).to_owned()),
            Input::Stdin | Input::Bytes(..) | Input::Named(..) => None,
        });
        Self {
            given: given.collect(),
            ..Self::default()
        }
    }

    /// What the files beside `name` describe, itself included.
    pub(super) fn of(&mut self, name: &str) -> FolderContext {
        let path = Path::new(name);
        let Some(folder) = path
            .parent()
            .filter(|_| !name.contains('!') && path.is_file())
        else {
            return FolderContext::default();
        };
        if self.path != folder || folder.as_os_str().is_empty() {
            self.found = look(folder, &self.given);
            self.path = folder.to_owned();
        }
        self.found.clone()
    }
}

/// A path without the folder that all paths are in.
fn plain(path: &Path) -> &Path {
    path.strip_prefix(".").unwrap_or(path)
}

fn look(folder: &Path, given: &[PathBuf]) -> FolderContext {
    let is_given = |path: &Path| given.iter().any(|one| plain(path).starts_with(one));
    let folder = if folder.as_os_str().is_empty() {
        Path::new(".")
    } else {
        folder
    };
    let mut names: Vec<PathBuf> = fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .take(MAX_FILES + 1)
        .collect();
    if names.len() > MAX_FILES {
        return FolderContext::default();
    }
    names.sort();
    let mut pods = BTreeSet::new();
    let mut described = Vec::new();
    let mut objects = false;
    for name in names.iter().filter(|name| is_given(name) && name.is_file()) {
        let mut head = Vec::new();
        let read = File::open(name).and_then(|file| file.take(HEAD as u64).read_to_end(&mut head));
        if read.is_err() {
            continue;
        }
        match sniff::recognise(&head) {
            Form::Kubectl => {
                let text = String::from_utf8_lossy(&head);
                let mut found = kubectl::described_pods(&text, 64);
                let name = |pod: &DescribedPod| (pod.namespace.clone(), pod.name.clone());
                pods.extend(found.iter().map(name));
                // The last one was cut off where the file goes on.
                if head.len() >= HEAD {
                    found.pop();
                }
                described.extend(found);
            }
            Form::Json | Form::Yaml | Form::Gzip | Form::Zstd | Form::Tar | Form::Zip => {
                objects = true;
            }
            _ => {}
        }
    }
    FolderContext {
        pods: pods.into_iter().collect(),
        described: described.into(),
        objects,
    }
}

impl FolderContext {
    /// Says whose log it is, where only one answer is left: the pod whose name's
    /// last part the file's name holds, else the only pod described.
    pub(super) fn name_pod(&self, source: &mut LogSource) {
        if source.entities.pod.is_some() {
            return;
        }
        let Some(stem) = source.file_stem.as_deref().filter(|stem| is_log_name(stem)) else {
            return;
        };
        let named: Vec<_> = self
            .pods
            .iter()
            .filter(|(_, pod)| names(stem, pod))
            .collect();
        let found = match (named.as_slice(), &*self.pods) {
            ([one], _) => *one,
            ([], [one]) => one,
            _ => return,
        };
        source.entities.namespace = Some(found.0.clone()).filter(|name| !name.is_empty());
        source.entities.pod = Some(found.1.clone());
        source.previous |= words(stem).any(|word| word == "previous");
    }
}

/// A file that its name calls a log; of a node's or a program's own it says more.
fn is_log_name(stem: &str) -> bool {
    const WORDS: [&str; 12] = [
        "kubectl",
        "oc",
        "pod",
        "container",
        "log",
        "logs",
        "previous",
        "current",
        "fetch",
        "get",
        "all",
        "containers",
    ];
    let says_log = words(stem).any(|word| matches!(word, "log" | "logs"));
    let first = words(stem).next().unwrap_or_default();
    says_log && WORDS.contains(&first)
}

fn words(stem: &str) -> impl Iterator<Item = &str> {
    stem.split(['_', '-', '.', ' '])
}

/// Whether a file's name holds a pod's name, or the part that a controller made.
fn names(stem: &str, pod: &str) -> bool {
    let made = pod.rsplit_once('-').map_or("", |(_, made)| made);
    stem.contains(pod) || (made.len() == 5 && words(stem).any(|word| word == made))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(pods: &[&str], file: &str) -> Option<String> {
        let beside = FolderContext {
            pods: pods
                .iter()
                .map(|pod| ("lab".to_owned(), (*pod).to_owned()))
                .collect(),
            ..FolderContext::default()
        };
        let mut source = LogSource {
            file_stem: Some(file.to_owned()),
            ..LogSource::default()
        };
        beside.name_pod(&mut source);
        source.entities.pod
    }

    #[test]
    fn a_log_beside_one_description_is_that_pods() {
        assert_eq!(
            named(&["run-x7k2p"], "kubectl_logs").as_deref(),
            Some("run-x7k2p")
        );
        assert_eq!(
            named(&["run-x7k2p"], "previous_logs").as_deref(),
            Some("run-x7k2p")
        );
        assert_eq!(
            named(&["run-x7k2p", "run-b4c5d"], "logs_b4c5d").as_deref(),
            Some("run-b4c5d")
        );
        assert_eq!(named(&["run-x7k2p", "run-b4c5d"], "logs"), None);
        for file in ["dmesg", "kubelet-log", "train", "login", "slurm-log"] {
            assert_eq!(named(&["run-x7k2p"], file), None, "{file}");
        }
        assert_eq!(named(&[], "logs"), None);
    }
}
