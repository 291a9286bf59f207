//! Requests to an API server, as its audit log tells of them.

use whathappened_model::event::Event;

/// Whether a request was carried out: a refused one, and one that only tries, changed nothing.
pub(crate) fn was_done(event: &Event) -> bool {
    let code = event.attribute("code");
    code.is_none_or(|code| code.starts_with('2')) && event.attribute("dry_run").is_none()
}
