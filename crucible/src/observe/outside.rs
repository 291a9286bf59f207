//! The cloud's records, as they are exported.

use super::files::{File, Record};
use crate::case::Case;
use crate::world::CloudRecord;

/// What could be read by now.
pub(super) fn records(case: &Case, files: &mut Vec<File>) {
    let mut records: Vec<&CloudRecord> = case
        .world
        .cloud
        .iter()
        .filter(|one| one.received <= case.now)
        .collect();
    records.sort_by_key(|one| one.received);
    let mut gcp = File::lines("cloud", "cloud-audit.jsonl");
    let mut trail = File::list("cloud", "cloudtrail.json", "{\"Records\":[\n", "\n]}\n");
    let mut bridge = File::lines("cloud", "eventbridge.jsonl");
    let mut azure = File::list("cloud", "activity-log.json", "{\"value\":[\n", "\n]}\n");
    for one in records {
        let record = Record::new(one.body.to_string(), &one.tags);
        if one.body.get("protoPayload").is_some() {
            gcp.records.push(record);
        } else if one.body.get("eventVersion").is_some() {
            trail.records.push(record);
        } else if one.body.get("detail-type").is_some() {
            bridge.records.push(record);
        } else {
            azure.records.push(record);
        }
    }
    files.extend([gcp, trail, bridge, azure]);
}
