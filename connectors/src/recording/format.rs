//! The formats of text that are known: the tables of all sources, tried in
//! the order of [`FORMATS`] on the first bytes of a file.

use crate::contract::{FileHead, TextFormat};

/// All tables, the more particular formats first.
static FORMATS: &[&[TextFormat]] = &[
    crate::autoscaler_log::FORMATS,
    crate::grafana::FORMATS,
    crate::node_log::FORMATS,
    crate::slurm::FORMATS,
];

fn all() -> impl DoubleEndedIterator<Item = &'static TextFormat> {
    FORMATS.iter().copied().flatten()
}

/// How many come before whatever else a file may be, those before the last such one included.
fn early() -> usize {
    let late = all().rev().take_while(|format| !format.first).count();
    all().count() - late
}

/// The format that a file begins as, if it is one of those.
pub(super) fn recognise_early(head: &[u8]) -> Option<&'static TextFormat> {
    recognise(head, all().take(early()))
}

/// The same for those that only text has which is nothing else.
pub(super) fn recognise_late(head: &[u8]) -> Option<&'static TextFormat> {
    recognise(head, all().skip(early()))
}

fn recognise(
    head: &[u8],
    mut formats: impl Iterator<Item = &'static TextFormat>,
) -> Option<&'static TextFormat> {
    let text = String::from_utf8_lossy(head);
    let whole = text.rfind('\n').map_or(text.as_ref(), |end| &text[..end]);
    let head = FileHead {
        bytes: head,
        text: whole,
    };
    formats.find(|format| (format.is)(&head))
}
