//! Datadog: its logs and events, asked live or read from what it exports.
//!
//! Contract (API v2): a search is a POST with a window, a query and a tier of
//! storage, answered in pages of at most 1,000 by a cursor. The cursor is there
//! on the last page, too: a search ends with a page without records or without
//! cursor, never with a short one. Times are milliseconds, ties are common and
//! their order means nothing. `meta.status` and `meta.warnings` tell answers that
//! are partial although they are 200. Flex and archived logs are invisible
//! unless that tier is named. Lines take some ten seconds to be found.
//!
//! Requests are few (300 in an hour, or 10 in ten seconds) and shared by the
//! whole organisation, people with dashboards among them: a share of what is
//! left is left to them.
//!
//! Kubernetes Events come as events of the cluster agent, which drops most
//! reasons unless told otherwise: that one is absent proves nothing.

mod answer;
mod budget;
mod bundle;
mod check;
mod client;
mod decode;
mod event;
mod files;
mod options;
mod page;
mod query;
mod registration;
mod store;
mod tags;

#[cfg(test)]
pub(crate) mod tests;

pub use options::{DatadogOptions, SITES, Tier};
pub(crate) use registration::LOG_STORE;
pub use store::Datadog;
