//! Azure asked live.
//!
//! Azure Resource Manager is asked for what it logged about the machines of a
//! question, their groups and the subscription (Activity Log, with Resource
//! Health and Service Health in it), for the health that each machine had, and
//! for what the machines are; a machine itself may be asked for the events that
//! are scheduled for it. Records are decoded as those in files are.

mod activity;
mod arm;
mod check;
mod cloud;
mod cover;
mod error_messages;
mod health;
mod instances;
mod locate;
mod login;
mod machine_scope;
mod options;
mod query;
mod scheduled;
mod source;
mod tokens;

#[cfg(test)]
pub(crate) mod tests;

pub use cloud::CloudPlace;
pub use login::LoginMethod;
pub use options::{AzureOptions, SCHEDULED_EVENTS};
pub use source::Azure;
