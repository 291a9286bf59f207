//! What all clouds have in common: machines' names, host events, activities.
//!
//! | fact | says |
//! |---|---|
//! | `cloud.host_event` | what the platform announces for, or did to, a machine or its host |
//! | `cloud.activity` | what a principal asked the cloud's API for, and whether it was done |
//! | `cloud.group_activity` | what an instance group or autoscaler did, and why |
//!
//! A host event goes through phases (`announced`, `started`, `acted`, `ended`)
//! and an activity through outcomes (`started`, then `succeeded` or `failed`);
//! each is a fact of its own, all with the same attribute `event_id`.

pub(crate) mod fact;
pub(crate) mod field;

#[cfg(test)]
mod tests;
