//! The formats of text that are known: the tables of all sources, tried in
//! the order of [`FORMATS`] on the first bytes of a file.

use crate::contract::{FileHead, TextFormat};

/// All tables, the more particular formats first.
static FORMATS: &[&[TextFormat]] = &[
    crate::autoscaler_log::FORMATS,
    crate::node_log::FORMATS,
    crate::slurm::FORMATS,
];

/// The format that a file begins as.
pub(super) fn recognise(head: &[u8]) -> Option<&'static TextFormat> {
    let text = String::from_utf8_lossy(head);
    let whole = text.rfind('\n').map_or(text.as_ref(), |end| &text[..end]);
    let head = FileHead {
        bytes: head,
        text: whole,
    };
    FORMATS
        .iter()
        .copied()
        .flatten()
        .find(|format| (format.is)(&head))
}
