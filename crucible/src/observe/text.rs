//! A person's session of kubectl, as text.

use super::files::File;
use crate::case::Case;

/// What somebody would have printed.
pub(super) fn session(_case: &Case, _files: &mut Vec<File>) {}
