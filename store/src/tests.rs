//! How the store behaves, through what it offers others.

mod access_filter;
mod backup;
mod crash;
pub(crate) mod damage;
mod full;
mod index_damage;
mod many;
mod older_rows;
mod once;
mod samples;
mod search;
mod version;

use whathappened_model::event::{Event, EventId, SourceKind};
use whathappened_model::observation::Observation;
use whathappened_model::time::{Nanos, SECOND, Stamp};

use crate::{Fact, Limits, Store};
use samples::{DAY, START, event, facts, import, pod, reported, store};
