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
pub mod connector;
pub mod coverage;
pub mod datadog;
pub mod elasticsearch;
pub mod event;
pub mod flight_recorder;
pub mod gcp;
pub mod grafana;
pub mod http;
mod kubectl;
pub mod kubernetes;
pub mod log_store;
pub mod logs;
pub mod loki;
pub mod node_log;
pub mod object;
pub mod observation;
pub mod prometheus;
pub mod recording;
pub mod redact;
pub mod slurm;
pub mod terminal;
pub mod time;
