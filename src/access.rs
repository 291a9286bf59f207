//! What a caller may see.
//!
//! It is enforced where records leave the store, below every face: what a
//! caller may not see is not there for the case, so no face can show it.

pub use whathappened_store::Access;
