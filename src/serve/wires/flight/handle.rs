//! A statement as clients carry it about between preparing, binding and running it:
//! nothing of it is kept here.

use serde::{Deserialize, Serialize};
use tonic::Status;

/// A statement and the values that are bound to it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Handle {
    /// The statement.
    pub(super) statement: String,
    /// A row of values in Arrow's stream format; none where it is empty.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) row: Vec<u8>,
}

impl Handle {
    pub(super) fn of(statement: String) -> Self {
        Self {
            statement,
            row: Vec::new(),
        }
    }

    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, Status> {
        serde_json::to_vec(self).map_err(|error| Status::internal(error.to_string()))
    }

    pub(super) fn from_bytes(bytes: &[u8]) -> Result<Self, Status> {
        serde_json::from_slice(bytes)
            .map_err(|_| Status::invalid_argument("this statement was not prepared here"))
    }
}
