//! AWS asked live.
//!
//! | asked | resource | permission |
//! |---|---|---|
//! | EC2 `DescribeInstances` | `instances` | `ec2:DescribeInstances` |
//! | EC2 `DescribeInstanceStatus` | `scheduled_events` | `ec2:DescribeInstanceStatus` |
//! | EC2 `DescribeSpotInstanceRequests` | `spot_requests` | `ec2:DescribeSpotInstanceRequests` |
//! | Auto Scaling `DescribeScalingActivities` | `scaling_activities` | `autoscaling:DescribeScalingActivities` |
//! | `CloudTrail` `LookupEvents` | `activity` | `cloudtrail:LookupEvents` |
//! | AWS Health | `health` | `health:DescribeEvents` and its kin |
//!
//! Each account is asked in the regions of the machines that the question is
//! about, which their provider ids tell, else in those that are configured. XML
//! is turned into the JSON that AWS's command line prints, and the same decoders
//! read both, so that a record gives the same facts whichever way it came.

mod api;
mod check;
mod decode;
mod fetch;
mod instances;
mod lookups;
mod notices;
mod options;
mod part;
mod question;
mod region;
mod scaling;
mod source;
mod spot;
mod status;
mod wire;
mod xml;

#[cfg(test)]
pub(crate) mod tests;

pub use options::LiveOptions;
pub use source::Aws;
