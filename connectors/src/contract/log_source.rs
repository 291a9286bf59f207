//! Whose log it is.

use std::sync::Arc;

use crate::event::Entities;

/// What is known of a log before its first line is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogSource {
    /// The file's name as given.
    pub file: Arc<str>,
    /// Whose log it is, where the path says so.
    pub entities: Entities,
    /// The file's name without folder and ending, where it may be a pod's.
    pub file_stem: Option<String>,
    /// The log of the container's run before the last.
    pub previous: bool,
}

impl LogSource {
    /// What tells this stream's lines from those of other streams. Where the
    /// path names no pod its last two parts do, so that equal lines of
    /// different workers do not become one.
    pub(crate) fn identity(&self) -> String {
        let part = |part: &Option<String>| part.clone().unwrap_or_default();
        let Entities {
            namespace,
            pod,
            container,
            ..
        } = &self.entities;
        if pod.is_some() {
            return format!("{}/{}/{}", part(namespace), part(pod), part(container));
        }
        let mut parts = self.file.rsplit(['/', '\\', '!']);
        let name = parts.next().unwrap_or_default();
        format!("{}/{name}", parts.next().unwrap_or_default())
    }
}
