//! Prometheus and what speaks its API (Mimir, Thanos, `VictoriaMetrics`,
//! Grafana's proxy): what GPUs, machines and Kubernetes measured around each
//! death, and which alerts fired.
//!
//! Samples are asked for as they were scraped, by a range selector at an
//! instant; a grid would move edges by up to five minutes. What is told is what
//! changed between two scrapes: such a fact's time is the stretch between them.
//!
//! Asked about nobody, it tells which alerts fired about whom within the window
//! (`alerts`), and nothing that was measured.
//!
//! | fact | says |
//! |---|---|
//! | `metric.gpu.xid` | DCGM shows another Xid than at the scrape before; an old one stays until the next |
//! | `metric.gpu.slowdown` | a GPU's hardware or driver began to lower its clocks for heat or power |
//! | `metric.gpu.counter` | a counter of a GPU rose: memory errors, row remaps, throttling, links |
//! | `metric.gpu.hot` | a GPU's highest temperature, where it is very high |
//! | `metric.node.boot` | the machine started anew, at the time that its kernel says |
//! | `metric.node.counter` | a counter of a machine rose: out-of-memory kills, errors of network links |
//! | `metric.node.memory` | how much of a machine's memory was left |
//! | `metric.node.filesystem` | a file system that ran full |
//! | `metric.target.down` | a scrape of something on the machine failed |
//! | `metric.container.memory` | a container's memory against its limit |
//! | `metric.container.cpu` | a container that was held back at its CPU limit for minutes |
//! | `metric.node.cpu` | a machine whose tasks waited for a processor for minutes |
//! | `k8s.node.condition`, `k8s.node.cordoned`, `k8s.node.uncordoned`, `k8s.node.taint` | what kube-state-metrics saw change |
//! | `k8s.container.terminated` | how a container ended, as kube-state-metrics saw it |
//! | `metric.curve` | how busy and full GPUs were, a machine's memory, the length of queues: to be looked at, evidence of nothing |
//! | `alert.fired` | an alert fired: the claim of whoever wrote its rule |

mod alerts;
mod api;
mod check;
mod cover;
pub(crate) mod emit;
mod files;
mod names;
mod options;
mod plan;
mod selector;
mod source;
pub(crate) mod wire;

#[cfg(test)]
pub(crate) mod tests;

pub(crate) use files::ANSWER;
pub(crate) use names::{Labels, Names, host, mentions};
pub use options::PrometheusOptions;
pub use source::Prometheus;
