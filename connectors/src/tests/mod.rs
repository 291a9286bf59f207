//! What holds for every live source.

pub(crate) mod conformance;
mod situations;
