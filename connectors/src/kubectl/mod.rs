//! What people paste: the text that `kubectl` prints for people.
//!
//! `get` tables, `describe`, `events` and `logs`, alone or as a session of
//! commands, from a terminal, a ticket or a chat. What a `describe` tells is
//! put back into the object it was printed from and decoded as that, so that
//! every rule works unchanged.
//!
//! Ages (`5m`, `2m12s (x42 over 12m)`) count back from the moment of the
//! capture. That moment is found from absolute times in the same capture, or
//! from what it shares with another one of the same paste; where there is
//! nothing, the fact's time is [`crate::time::Stamp::OPEN`] and its age is
//! kept in the attributes `age_s` and `last_age_s`, its place in the list in
//! `position`. Neither the file's time nor the clock is ever asked.

mod age;
mod anchor;
mod capture_time;
mod command;
mod decode;
mod deleted;
mod describe;
mod earlier;
mod emit_rows;
mod event;
mod owner;
mod paste;
mod pod_row;
mod reused;
mod row;
mod row_times;
mod session;
mod table;

#[cfg(test)]
mod tests;

pub(crate) use command::kind_of;
pub(crate) use decode::{PasteContext, read};
pub(crate) use earlier::{DescribedPod, described_pods};
pub(crate) use session::{looks_like, prints_a_log};
