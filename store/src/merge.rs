//! Two copies of one fact as one. Which came first does not show.

use whathappened_model::event::{Event, Origin};
use whathappened_model::time::Stamp;

use crate::record::{Fact, Object};

/// The copy with the highest count is kept, then the one with the most precise
/// time, then by the rank of sources, then by place and content; ends, counts
/// and witnesses are those of both.
pub(crate) fn facts(a: Fact, b: Fact) -> Fact {
    let mut seen_by = a.seen_by;
    seen_by.extend(b.seen_by);
    seen_by.sort_unstable();
    seen_by.dedup();
    let (a, b) = (a.event, b.event);
    let (end, count) = (a.end.max(b.end), a.count.max(b.count));
    let observed = match (a.observed, b.observed) {
        (Some(a), Some(b)) => Some(a.min(b)),
        (a, b) => a.or(b),
    };
    let mut event = if rank(&b) < rank(&a) { b } else { a };
    event.end = end;
    event.count = count;
    event.observed = observed;
    Fact {
        event,
        seen_by,
        redacted: false,
    }
}

fn rank(event: &Event) -> impl Ord + use<> {
    (
        std::cmp::Reverse(event.count),
        event.time.width(),
        event.time.lo,
        event.source_kind,
        event.origin.clone(),
        content(event),
    )
}

/// What is neither merged nor a place.
fn content(event: &Event) -> [u8; 32] {
    let mut bare = event.clone();
    bare.end = None;
    bare.count = None;
    bare.observed = None;
    bare.origin = Origin::default();
    *blake3::hash(&postcard::to_stdvec(&bare).unwrap_or_default()).as_bytes()
}

/// The narrower time is kept, then the lower source and place; who made it
/// is kept from whichever copy says so.
pub(crate) fn objects(a: Object, b: Object) -> Object {
    let rank = |one: &Object| {
        (
            one.version.at.map_or(i64::MAX, Stamp::width),
            one.version.at,
            one.version.source_kind,
            one.version.origin.clone(),
        )
    };
    let by = a.version.by.clone().max(b.version.by.clone());
    let mut kept = if rank(&b) < rank(&a) { b } else { a };
    kept.version.by = by;
    kept
}
