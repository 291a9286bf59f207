//! Live records through the decoders that read files.

use super::api::Fields;
use super::part::Part;
use crate::event::Origin;
use crate::observation::{Observation, Rejection};
use crate::recording::{ForeignRecord, Told};

/// Where live records are from: `aws/123456789012/us-east-1`.
pub(super) fn origin(account: &str, region: &str) -> Origin {
    Origin {
        file: format!("aws/{account}/{region}").into(),
        line: 0,
    }
}

/// What a record tells; what is wrong with it is counted.
pub(super) fn told(fields: &Fields, origin: &Origin, part: &mut Part) -> Vec<Observation> {
    let mut told = Told::default();
    let record = ForeignRecord {
        fields,
        within: "",
        origin,
    };
    // Most of what a cloud lists is of no use here: that is no trouble.
    if let Err(Rejection::Malformed(why)) = crate::aws::decode(record, &mut told) {
        part.malformed(why);
    }
    told.observations
}

/// The same of many, kept.
pub(super) fn keep<'r>(
    records: impl IntoIterator<Item = &'r Fields>,
    origin: &Origin,
    part: &mut Part,
) {
    for fields in records {
        let new = told(fields, origin, part);
        part.observations.extend(new);
    }
}
