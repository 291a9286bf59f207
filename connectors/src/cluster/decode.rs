//! Items of lists and watches to observations, by the code that reads recordings.

use std::borrow::Cow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::resource::Resource;
use crate::event::Origin;
use crate::kubernetes;
use crate::observation::{Observation, Rejection};
use crate::time::Nanos;

/// Decodes what one resource of one cluster says.
#[derive(Clone, Debug)]
pub(super) struct Decoder {
    kind: String,
    api_version: String,
    cluster: Arc<str>,
    file: Arc<str>,
}

impl Decoder {
    /// `alias` and `path` say where it was read, in [`Origin`] only.
    pub(super) fn new(resource: &Resource, cluster: &Arc<str>, alias: &str, path: &str) -> Self {
        Self {
            kind: resource.kind.clone(),
            api_version: resource.api_version(),
            cluster: Arc::clone(cluster),
            file: format!("{alias}{path}").into(),
        }
    }

    fn origin(&self, line: u64) -> Origin {
        Origin {
            file: Arc::clone(&self.file),
            line,
        }
    }

    /// Decodes an item of a list. Served lists leave out the kind of built-in
    /// items, which `kubectl get -o json` puts in.
    pub(super) fn item(
        &self,
        item: &str,
        line: u64,
        observed: Nanos,
        out: &mut Vec<Observation>,
    ) -> Result<(), Rejection> {
        let whole = with_kind(item, &self.api_version, &self.kind);
        self.decode(whole.as_bytes(), line, observed, out)
    }

    /// Decodes a line of a watch.
    pub(super) fn line(
        &self,
        line: &str,
        number: u64,
        observed: Nanos,
        out: &mut Vec<Observation>,
    ) -> Result<(), Rejection> {
        self.decode(line.as_bytes(), number, observed, out)
    }

    fn decode(
        &self,
        json: &[u8],
        line: u64,
        observed: Nanos,
        out: &mut Vec<Observation>,
    ) -> Result<(), Rejection> {
        let before = out.len();
        let origin = self.origin(line);
        // A record that the decoder has a mistake about must not cost the others.
        let decoded = catch_unwind(AssertUnwindSafe(|| {
            kubernetes::decode(json, None, &origin, out)
        }));
        let result = decoded.unwrap_or_else(|_| {
            out.truncate(before);
            let why = "a mistake in the decoder, please report it with this object";
            Err(Rejection::Malformed(why.to_owned()))
        });
        for one in out.iter_mut().skip(before) {
            place(one, &self.cluster, observed);
        }
        result
    }
}

/// Notes where and when it was seen. Neither is part of an id.
pub(super) fn place(observation: &mut Observation, cluster: &str, observed: Nanos) {
    if let Observation::Event(event) = observation {
        event.observed = Some(observed);
        event.entities.cluster = Some(cluster.to_owned());
    }
}

fn with_kind<'a>(item: &'a str, api_version: &str, kind: &str) -> Cow<'a, str> {
    let Some(rest) = item.trim_start().strip_prefix('{') else {
        return Cow::Borrowed(item);
    };
    let rest = rest.trim_start();
    if rest.starts_with("\"kind\"") || rest.starts_with("\"apiVersion\"") {
        return Cow::Borrowed(item);
    }
    let comma = if rest.starts_with('}') { "" } else { "," };
    // Where the item names its kind further on, the later one counts.
    Cow::Owned(format!(
        "{{\"apiVersion\":\"{api_version}\",\"kind\":\"{kind}\"{comma}{rest}"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn items_get_the_kind_that_lists_leave_out() {
        let plain = with_kind(r#"{"metadata":{}}"#, "v1", "Pod");
        assert_eq!(plain, r#"{"apiVersion":"v1","kind":"Pod","metadata":{}}"#);
        assert_eq!(
            with_kind("{}", "v1", "Pod"),
            r#"{"apiVersion":"v1","kind":"Pod"}"#
        );
        let own = r#"{"apiVersion":"ray.io/v1","kind":"RayJob"}"#;
        assert_eq!(with_kind(own, "v1", "Pod"), own);
        assert_eq!(with_kind("7", "v1", "Pod"), "7");
    }
}
