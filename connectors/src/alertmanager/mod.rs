//! Alertmanager: which alerts fire now, and which silences there are.
//!
//! | fact | says |
//! |---|---|
//! | `alert.fired` | an alert fired: the claim of whoever wrote its rule |
//! | `alert.silence` | somebody silenced alerts of a machine or pod, which is done before maintenance |
//!
//! It knows no past but that of silences, which it keeps for some days. Asked
//! about nobody, it tells of everybody: so what fires can be kept.

mod decode;
mod options;
mod source;

#[cfg(test)]
pub(crate) mod tests;

pub(crate) use decode::{ALERT, SILENCE};
pub use options::AlertmanagerOptions;
pub use source::Alertmanager;
