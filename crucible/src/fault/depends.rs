//! What runs depend on and share: storage, names, stores, services.

use super::victim;
use crate::control::{Exit, exit};
use crate::plan::Fault;
use crate::time::SEC;
use crate::train::{say, say_all};
use crate::world::{Relation, Unit, World, claims, names};

/// Takes away what a workload depends on.
pub(super) fn strike(w: &mut World, fault: Fault, load: usize) {
    let Some(pod) = victim(w, load) else { return };
    let rank = w.pods.get(pod).map_or(0, |pod| pod.rank);
    match fault {
        Fault::Storage => storage(w, pod),
        Fault::Dns => {
            let act = w.act("names are not resolved", &["dep.dns"], None);
            let text = w.rng.word(&[
                "Traceback (most recent call last):\n  File \"/workspace/data.py\", line 77, in open_shard\n    conn = urllib3.connectionpool.connection_from_url(url)\nsocket.gaierror: [Errno -3] Temporary failure in name resolution",
                "urllib3.exceptions.MaxRetryError: HTTPSConnectionPool(host='storage.lab.example', port=443): Max retries exceeded with url: /shards/000017.tar (Caused by NameResolutionError(\"<urllib3.connection.HTTPSConnection object at 0x7f1>: Failed to resolve 'storage.lab.example' ([Errno -3] Temporary failure in name resolution)\"))",
            ]);
            say_all(w, pod, text, &names(act));
            exit(w, pod, &Exit::code(1, act, Relation::Victim));
        }
        Fault::Redis => {
            let act = w.act("the queue's Redis refuses", &["dep.redis"], None);
            let text = w.rng.word(&[
                "redis.exceptions.ConnectionError: Error 111 connecting to redis-master.platform.svc:6379. Connection refused.",
                "redis.exceptions.ConnectionError: max number of clients reached",
            ]);
            say_all(
                w,
                pod,
                &format!(
                    "Traceback (most recent call last):\n  File \"/workspace/queue.py\", line 41, in pop\n    return self.client.blpop(self.key)\n{text}"
                ),
                &names(act),
            );
            exit(w, pod, &Exit::code(1, act, Relation::Victim));
        }
        _ => {
            let act = w.act("a service refuses", &["dep.service"], None);
            say_all(
                w,
                pod,
                &format!(
                    "[rank{rank}]: Traceback (most recent call last):\n[rank{rank}]:   File \"/workspace/reward.py\", line 55, in score\n[rank{rank}]:     reply = requests.post(URL, json=batch, timeout=30)\n[rank{rank}]: requests.exceptions.ConnectionError: HTTPConnectionPool(host='reward-model.platform.svc', port=8000): Max retries exceeded with url: /score (Caused by NewConnectionError('<urllib3.connection.HTTPConnection object at 0x7f1>: Failed to establish a new connection: [Errno 111] Connection refused'))"
                ),
                &names(act),
            );
            exit(w, pod, &Exit::code(1, act, Relation::Victim));
        }
    }
}

/// The file server falls silent, or the file system is full.
fn storage(w: &mut World, pod: usize) {
    let full = w.rng.chance(40);
    let Some(_node) = w.pods.get(pod).and_then(|pod| pod.node) else {
        return;
    };
    if full {
        let act = w.act("the shared file system is full", &["dep.storage"], None);
        say_all(
            w,
            pod,
            "Traceback (most recent call last):\n  File \"/workspace/ckpt.py\", line 61, in save\n    torch.save(state, path)\nRuntimeError: [enforce fail at inline_container.cc:858] . PytorchStreamWriter failed writing file data/37: file write failed\nOSError: [Errno 28] No space left on device: '/mnt/ckpt/step-1200/model.pt'",
            &names(act),
        );
        exit(w, pod, &Exit::code(1, act, Relation::Victim));
        return;
    }
    let act = w.act("the file server does not answer", &["dep.storage"], None);
    for at in 0..w.nodes.len() {
        let lag = w.rng.millis(0, 4000);
        w.after(lag, move |w| {
            w.host_line(
                at,
                Unit::Kernel,
                "nfs: server 10.9.0.4 not responding, timed out",
                &names(act),
            );
        });
    }
    w.after(45 * SEC, move |w| {
        if w.pods
            .get(pod)
            .is_some_and(|pod| pod.alive && !pod.stopping)
        {
            say(
                w,
                pod,
                true,
                "OSError: [Errno 5] Input/output error: '/mnt/ckpt/data/shard-000311.bin'",
                &claims(act),
            );
            say(
                w,
                pod,
                true,
                "OSError: [Errno 110] Connection timed out: '/mnt/ckpt/data/shard-000311.bin'",
                &claims(act),
            );
            exit(w, pod, &Exit::code(1, act, Relation::Victim));
        }
    });
}
