//! What the texts of a few Events say of who made whom and where it went.

use whathappened_model::event::Event;

/// What an Event's text claims beside its own object.
pub(super) enum Claim<'a> {
    /// The pod was bound to a node.
    Placed { node: &'a str },
    /// The workload made a pod.
    Made { pod: &'a str },
    /// The workload deleted a pod.
    Unmade { pod: &'a str },
    /// The operator saw how a pod's process ended.
    Ended { pod: &'a str, code: i32 },
    /// The Deployment scaled a `ReplicaSet` of its own.
    Scaled { replica_set: &'a str },
}

/// Reads the claim of an Event, where it makes one.
pub(super) fn read(event: &Event) -> Option<Claim<'_>> {
    let message = event.message.as_deref()?;
    match event.reason.as_deref()? {
        "Scheduled" => {
            let node = message
                .strip_prefix("Successfully assigned ")?
                .rsplit_once(" to ")?
                .1;
            Some(Claim::Placed { node })
        }
        "SuccessfulCreate" | "SuccessfulCreatePod" => {
            let pod = message
                .strip_prefix("Created pod: ")
                .or_else(|| message.strip_prefix("Created pod "))?;
            Some(Claim::Made {
                pod: first_word(pod),
            })
        }
        "SuccessfulDelete" | "SuccessfulDeletePod" => {
            let pod = message
                .strip_prefix("Deleted pod: ")
                .or_else(|| message.strip_prefix("Deleted pod "))?;
            Some(Claim::Unmade {
                pod: first_word(pod),
            })
        }
        "ExitedWithCode" => {
            let (pod, code) = message
                .strip_prefix("Pod: ")?
                .split_once(" exited with code ")?;
            let pod = pod.split_once('.').map_or(pod, |(_, pod)| pod);
            let code = first_word(code).parse().ok()?;
            // What the operator writes where it does not know.
            (code != 0xbeef).then_some(Claim::Ended { pod, code })
        }
        "ScalingReplicaSet" => {
            let replica_set = message.split_once("replica set ")?.1;
            Some(Claim::Scaled {
                replica_set: first_word(replica_set),
            })
        }
        _ => None,
    }
}

fn first_word(text: &str) -> &str {
    text.split_whitespace().next().unwrap_or_default()
}
