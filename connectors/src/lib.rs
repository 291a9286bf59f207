//! What outside systems say, decoded to one [`event::Event`].
//!
//! One folder a source. Every `decode` module is pure: bytes in, observations
//! out, no clock, no network. This crate does not depend on DataFusion, so a
//! decoder is written and tested in seconds.

#![warn(missing_docs)]

pub mod alertmanager;
mod autoscaler_log;
pub mod aws;
pub mod aws_auth;
pub mod azure;
pub mod cloud;
pub mod cloudwatch;
pub mod cluster;
mod contract;
pub mod datadog;
pub mod elasticsearch;
pub mod flight_recorder;
pub mod gcp;
pub mod grafana;
mod kubectl;
pub mod kubernetes;
pub mod log_store;
pub mod logs;
pub mod loki;
pub mod node_log;
mod opentelemetry;
pub mod prometheus;
pub mod recording;
pub mod slurm;
#[cfg(test)]
mod tests;
mod torch_error;
mod tracker;

macro_rules! registered {
    ($($kind:ident = $folder:ident, $code:literal;)*) => {
        /// The log stores that there are, in the order of their rank.
        pub const LOG_STORES: &[(event::SourceKind, &log_store::Registration)] =
            &[$((event::SourceKind::$kind, &$folder::LOG_STORE)),*];
    };
}

whathappened_model::log_stores!(registered);

// What all parts speak of, under the names that it has had here.
pub(crate) use whathappened_http as http;
pub(crate) use whathappened_model::{
    collective, connector, coverage, event, exit_code, host_list, ignored_exception, kind, listing,
    machine, object, observation, pci, place, redact, sink, terminal, text_time, time,
};
