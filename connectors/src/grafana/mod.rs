//! Grafana's annotations, notes that people and tools left on the timeline, and the logs that it lets people download.
//!
//! | fact | says |
//! |---|---|
//! | `note.annotation` | somebody noted something: a deployment, maintenance, a state of an alert |

mod decode;
mod explore;
mod options;
mod source;

#[cfg(test)]
pub(crate) mod tests;

pub(crate) use decode::ANNOTATION;
pub(crate) use explore::FORMATS;
pub use options::GrafanaOptions;
pub use source::Grafana;
