//! Grafana's annotations: notes that people and tools left on the timeline.
//!
//! | fact | says |
//! |---|---|
//! | `note.annotation` | somebody noted something: a deployment, maintenance, a state of an alert |

mod decode;
mod options;
mod source;

#[cfg(test)]
pub(crate) mod tests;

pub(crate) use decode::ANNOTATION;
pub use options::GrafanaOptions;
pub use source::Grafana;
