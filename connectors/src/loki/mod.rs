//! Loki: recorded answers, and a Loki that is asked.
//!
//! Contract: `GET /loki/api/v1/query_range` answers streams of `[time, line]` or,
//! asked for with `categorize-labels`, `[time, line, {"structuredMetadata",
//! "parsed"}]`. In the first form what is known of a line is merged into the
//! stream's labels, so one pod's log comes as several streams; it is put together
//! again here. There is no cursor; `read` tells how every line comes once.
//! Errors are plain text without `Retry-After`; `refusal` reads the limits out
//! of them. A tenant that does not exist, a time in milliseconds and a window
//! older than what is kept all answer 200 and nothing.
//!
//! Grafana may stand between as a proxy: `/api/datasources/proxy/uid/<uid>/` and
//! then the same, with Grafana's token.

mod answer;
mod check;
mod client;
mod counts;
mod decode;
mod events;
mod logql;
mod options;
mod plan;
mod read;
mod read_events;
mod refusal;
mod registration;
mod store;
mod streams;
mod window;

#[cfg(test)]
pub(crate) mod tests;

pub use decode::decode;
pub use options::LokiOptions;
pub(crate) use registration::LOG_STORE;
pub use store::Loki;
