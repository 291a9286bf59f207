//! Kubernetes, live: what is there, what is new, and what containers said.
//!
//! [`Cluster::connect`] or [`connect`] find clusters; a [`Cluster`] is then a
//! [`Connector`](crate::connector::Connector): it can be checked, fetched from
//! and watched, and gives container [`logs`](Cluster::logs). It only ever
//! reads. Answers are decoded by the same code as recordings are, so that a
//! fact has one id whichever way it came.
//!
//! | file | idea |
//! |---|---|
//! | `kubeconfig` `connect` `error` | from contexts to clusters that answer |
//! | `wire` `page` `lines` `decode` | requests; answers taken apart; observations |
//! | `resource` `discover` `access` `plan` | what there is, and what we may read of it |
//! | `list` `fetch` | everything, in order |
//! | `head` `index` `select` `selector` `event_filter` `event_lists` `select_rows` | what one question concerns, of a large cluster |
//! | `watch` `follow` `pending` `quiet` | what is new |
//! | `logs` `check` `cover` | logs; health; coverage rows |

mod access;
mod api;
mod check;
mod client;
mod connect;
mod cover;
mod decode;
mod discover;
mod error;
mod event_filter;
mod event_lists;
mod event_memory;
mod fetch;
mod follow;
mod head;
mod index;
mod kubeconfig;
mod lines;
mod list;
mod logs;
mod options;
mod page;
mod pending;
mod plan;
mod resource;
mod select;
mod select_rows;
mod selector;
mod unchanged;
mod watch;

#[cfg(test)]
pub(crate) mod tests;

pub use connect::{Cluster, Connected, connect};
pub use error::{ClusterError, Reason};
pub use kubeconfig::{ContextInfo, contexts};
pub use logs::{ContainerLog, PodLogs};
pub use options::{ClusterOptions, Contexts, LogOptions};
pub use select::{Listed, SelectiveList};
