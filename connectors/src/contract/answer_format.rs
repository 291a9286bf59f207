//! An answer that is as large as a log: its parts are taken while it is read, and decoded together.

use std::fmt;
use std::sync::Arc;

use crate::event::Origin;
use crate::observation::{Observation, Rejection};

/// Told of each line: where it stands, and whether it could be used.
pub(super) type LineDone<'d> = &'d mut dyn FnMut(u64, Result<(), Rejection>);

/// Decodes a whole answer.
pub(crate) type DecodeWhole = fn(&[u8], &Origin, &mut Vec<Observation>) -> Result<(), Rejection>;

/// Decodes the elements of one result, each with its line, of a file.
pub(crate) type DecodeParts = fn(&[(Vec<u8>, u64)], &Arc<str>, &mut Vec<Observation>, LineDone<'_>);

/// A kind of answer, of the shape that Prometheus gave to answers: `{"data": {"resultType", "result"}}`.
pub(crate) struct AnswerFormat {
    /// What people call it.
    pub(crate) name: &'static str,
    /// The type of results that can be used.
    pub(crate) result_type: &'static str,
    /// Words after the result that tell that it is not whole, and what that means.
    pub(crate) partial: (&'static str, &'static str),
    /// A whole answer.
    pub(crate) decode: DecodeWhole,
    /// The elements of one result, each with its line, of a file.
    pub(crate) decode_parts: DecodeParts,
}

impl fmt::Debug for AnswerFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name)
    }
}

impl PartialEq for AnswerFormat {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}
