//! Leaves out what says nothing new: heartbeats of nodes, lists read again.

use std::collections::HashMap;

use crate::event::Event;
use crate::observation::Observation;

/// Objects that are remembered, in each of two generations.
const REMEMBERED: usize = 100_000;

/// What was last said of each object. Of more objects than it can remember the
/// ones not seen for longest are forgotten, and then told once more.
#[derive(Debug, Default)]
pub(super) struct UnchangedFilter {
    young: HashMap<Box<str>, [u8; 16]>,
    old: HashMap<Box<str>, [u8; 16]>,
}

impl UnchangedFilter {
    /// Keeps what is new. The observations of one object stand together and
    /// end with its version, as the decoders write them.
    pub(super) fn keep(&mut self, observations: Vec<Observation>) -> Vec<Observation> {
        let mut kept = Vec::new();
        let mut of_one: Vec<Observation> = Vec::new();
        for one in observations {
            match &one {
                Observation::Event(event) if event.fact == "k8s.event" => {
                    let mut hash = blake3::Hasher::new();
                    event_into(event, &mut hash);
                    if self.is_new(&event.id.to_string(), &hash) {
                        kept.push(one);
                    }
                }
                Observation::Object(version) => {
                    let mut hash = blake3::Hasher::new();
                    for fact in &of_one {
                        if let Observation::Event(event) = fact {
                            event_into(event, &mut hash);
                        }
                    }
                    hash.update(&[u8::from(version.deleted)]);
                    // Text cannot fail to be written; if it did, all are new.
                    let body = serde_json::to_vec(&version.body);
                    hash.update(body.as_deref().unwrap_or_default());
                    let new = body.is_err()
                        || version.key.uid.is_empty()
                        || self.is_new(&version.key.uid, &hash);
                    of_one.push(one);
                    if new {
                        kept.append(&mut of_one);
                    } else {
                        of_one.clear();
                    }
                }
                _ => of_one.push(one),
            }
        }
        kept.append(&mut of_one);
        kept
    }

    fn is_new(&mut self, key: &str, hash: &blake3::Hasher) -> bool {
        let mut digest = [0; 16];
        digest.copy_from_slice(&hash.finalize().as_bytes()[..16]);
        let before = self.young.get(key).or_else(|| self.old.get(key)).copied();
        if self.young.len() >= REMEMBERED && !self.young.contains_key(key) {
            self.old = std::mem::take(&mut self.young);
        }
        self.young.insert(key.into(), digest);
        before != Some(digest)
    }
}

fn event_into(event: &Event, hash: &mut blake3::Hasher) {
    hash.update(&event.id.0.to_le_bytes());
    hash.update(&event.count.unwrap_or_default().to_le_bytes());
    hash.update(&event.end.map_or(0, |end| end.lo).to_le_bytes());
    for text in [&event.reason, &event.message, &event.severity] {
        let text = text.as_deref().unwrap_or_default();
        hash.update(&(text.len() as u64).to_le_bytes());
        hash.update(text.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::Origin;
    use crate::kubernetes::decode;

    fn node(heartbeat: &str, ready: &str, rv: u32) -> Vec<Observation> {
        let json = serde_json::json!({
            "type": "MODIFIED",
            "object": {
                "apiVersion": "v1", "kind": "Node",
                "metadata": { "name": "n1", "uid": "u1", "resourceVersion": rv.to_string() },
                "status": { "conditions": [{
                    "type": "Ready", "status": ready,
                    "lastHeartbeatTime": heartbeat, "lastTransitionTime": "2026-11-21T15:00:00Z",
                }] },
            },
        });
        let mut out = Vec::new();
        decode(
            json.to_string().as_bytes(),
            None,
            &Origin::default(),
            &mut out,
        )
        .unwrap();
        out
    }

    #[test]
    fn heartbeats_are_left_out_and_changes_are_not() {
        let mut quiet = UnchangedFilter::default();
        assert_eq!(quiet.keep(node("2026-11-21T15:01:00Z", "True", 1)).len(), 2);
        assert_eq!(quiet.keep(node("2026-11-21T15:06:00Z", "True", 2)).len(), 0);
        assert_eq!(
            quiet.keep(node("2026-11-21T15:07:00Z", "False", 3)).len(),
            2
        );
        assert_eq!(quiet.keep(node("2026-11-21T15:08:00Z", "True", 4)).len(), 2);
    }

    #[test]
    fn memory_is_bounded() {
        let mut quiet = UnchangedFilter::default();
        for n in 0..3 * REMEMBERED {
            let mut hash = blake3::Hasher::new();
            hash.update(&n.to_le_bytes());
            assert!(quiet.is_new(&n.to_string(), &hash));
        }
        assert!(quiet.young.len() + quiet.old.len() <= 2 * REMEMBERED);
    }
}
