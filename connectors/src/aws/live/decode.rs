//! Live records through the decoders that read files.

use super::api::Fields;
use super::part::KindResult;
use crate::contract::{ForeignOutput, ForeignRecord};
use crate::event::Origin;
use crate::observation::{Observation, Rejection};

/// Where live records are from: `aws/123456789012/us-east-1`.
pub(super) fn origin(account: &str, region: &str) -> Origin {
    Origin {
        file: format!("aws/{account}/{region}").into(),
        line: 0,
    }
}

/// What a record tells; what is wrong with it is counted.
pub(super) fn emitted(fields: &Fields, origin: &Origin, part: &mut KindResult) -> Vec<Observation> {
    let mut emitted = ForeignOutput::default();
    let record = ForeignRecord {
        fields,
        within: "",
        origin,
    };
    // Most of what a cloud lists is of no use here: that is no trouble.
    if let Err(Rejection::Malformed(why)) = crate::aws::decode(record, &mut emitted) {
        part.malformed(why);
    }
    emitted.observations
}

/// The same of many, kept.
pub(super) fn keep<'r>(
    records: impl IntoIterator<Item = &'r Fields>,
    origin: &Origin,
    part: &mut KindResult,
) {
    for fields in records {
        let new = emitted(fields, origin, part);
        part.observations.extend(new);
    }
}
