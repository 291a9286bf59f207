//! What `kubectl delete` prints, and pods that a table shows on their way out.

use std::sync::{Arc, LazyLock};

use regex::Regex;

use super::paste::Line;
use crate::event::{Event, EventId, Origin, SourceKind};
use crate::object::ObjectVersion;
use crate::observation::Observation;
use crate::redact::redact;
use crate::time::Stamp;

/// A pod that a command of the session deleted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Deleted {
    pub(super) namespace: Option<String>,
    pub(super) name: String,
    pub(super) line: u64,
    pub(super) raw: String,
}

/// A dry run says so behind these words.
static SHAPE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"^(?<kind>[a-z][a-z0-9.-]*) "(?<name>[a-z0-9][a-z0-9.-]*)" (?:force )?deleted(?: from (?<namespace>[a-z0-9-]+) namespace)?$"#,
    )
    .ok()
});

/// Reads a line that tells of the deletion of a pod.
pub(super) fn parse(line: &Line<'_>, namespace: Option<&str>) -> Option<Deleted> {
    let found = SHAPE.as_ref()?.captures(line.words())?;
    let get = |name: &str| found.name(name).map(|part| part.as_str().to_owned());
    (super::kind_of(&get("kind")?) == Some("Pod")).then_some(Deleted {
        namespace: get("namespace").or(namespace.map(str::to_owned)),
        name: get("name")?,
        line: line.number,
        raw: redact(line.words()).into_owned(),
    })
}

/// That the end of a pod was asked for, at a time that nothing tells.
pub(super) fn asked(one: &Deleted, file: &Arc<str>) -> Observation {
    let fact = "k8s.pod.deletion_requested";
    let namespace = one.namespace.clone().unwrap_or_default();
    let id = EventId::of(&[fact, "text", &namespace, &one.name]);
    let mut event = Event::new(id, fact, Stamp::OPEN, SourceKind::Kubernetes);
    event.object_kind = Some("Pod".to_owned());
    event.entities.namespace.clone_from(&one.namespace);
    event.entities.pod = Some(one.name.clone());
    event.raw.clone_from(&one.raw);
    event.origin = Origin {
        file: Arc::clone(file),
        line: one.line,
    };
    Observation::Event(Box::new(event))
}

/// A pod that was deleted does not run on as it was printed before.
pub(super) fn no_longer_runs(emitted: &mut [Observation]) {
    for observation in emitted {
        if let Observation::Object(version) = observation {
            let version: &mut ObjectVersion = version;
            version.body.phase = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::paste;
    use super::*;

    fn read(text: &str) -> Option<Deleted> {
        let lines = paste::lines(text);
        parse(lines.first()?, Some("ml"))
    }

    #[test]
    fn what_was_deleted_is_named() {
        let one = read("pod \"run-0\" deleted").unwrap();
        assert_eq!(
            (one.name.as_str(), one.namespace.as_deref()),
            ("run-0", Some("ml"))
        );
        let other = read("pod \"run-0\" force deleted from lab namespace").unwrap();
        assert_eq!(other.namespace.as_deref(), Some("lab"));
        for text in [
            "pod \"run-0\" deleted (dry run)",
            "pod \"run-0\" deleted (server dry run)",
            "job.batch \"run\" deleted",
            "Error from server (NotFound): pods \"run-0\" not found",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
    }
}
