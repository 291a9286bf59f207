//! What is done later, on the same machines and under the same names.

use super::OPERATOR;
use crate::control::{
    delete_namespace, delete_root, drain, machine_dies, machine_returns, make, set_taint,
};
use crate::plan::{Aftermath, LoadKind};
use crate::time::SEC;
use crate::world::{Ask, Client, Phase, Taint, Unit, World, names};

/// Plays a deed; the first workload is the one that is asked for.
pub fn play(w: &mut World, deed: Aftermath) {
    let operator = Client::person(OPERATOR);
    // The machine where it died, now that nothing else of it runs there.
    let node = w
        .deaths
        .iter()
        .filter(|death| w.pods.get(death.pod).is_some_and(|pod| pod.load == 0))
        .min_by_key(|death| (death.time, death.pod))
        .and_then(|death| w.pods.get(death.pod))
        .and_then(|pod| pod.node);
    let alive = w
        .pods
        .iter()
        .any(|pod| pod.load == 0 && pod.alive && pod.gone.is_none());
    match deed {
        Aftermath::SameNameElsewhere => {
            let Some(plan) = w.loads.first().map(|load| load.plan.clone()) else {
                return;
            };
            let other = crate::plan::Load {
                namespace: "sandbox".to_owned(),
                size: 1,
                gpus: 0,
                trains: None,
                priority: None,
                deadline_s: None,
                label: None,
                owner: "erin@lab.example".to_owned(),
                gang: false,
                ..plan
            };
            let at = crate::case::add_load(w, other);
            make(w, at);
            return;
        }
        _ if alive => return,
        _ => {}
    }
    match deed {
        Aftermath::Rerun => {
            let Some(plan) = w.loads.first().map(|load| load.plan.clone()) else {
                return;
            };
            if !matches!(plan.kind, LoadKind::Job | LoadKind::JobSet) {
                return;
            }
            let act = w.deed(
                "its owner clears it away",
                &[],
                &[plan.owner.as_str()],
                None,
            );
            delete_root(w, 0, &Client::person(&plan.owner), act);
            let lag = w.rng.secs(8, 60);
            w.after(lag, move |w| {
                let at = crate::case::add_load(
                    w,
                    crate::plan::Load {
                        deadline_s: None,
                        trains: None,
                        ..plan
                    },
                );
                make(w, at);
            });
        }
        Aftermath::DeleteRun => {
            let Some(plan) = w.loads.first().map(|load| load.plan.clone()) else {
                return;
            };
            let act = w.deed(
                "its owner clears it away",
                &[],
                &[plan.owner.as_str()],
                None,
            );
            delete_root(w, 0, &Client::person(&plan.owner), act);
        }
        Aftermath::DeleteNamespace => {
            let Some(namespace) = w.loads.first().map(|load| load.plan.namespace.clone()) else {
                return;
            };
            let busy = w
                .pods
                .iter()
                .any(|pod| pod.namespace == namespace && pod.alive && pod.gone.is_none());
            if !busy {
                let act = w.deed("the namespace is cleared away", &[], &[OPERATOR], None);
                delete_namespace(w, &namespace, &operator, act);
            }
        }
        _ => on_node(w, deed, node, &operator),
    }
}

fn on_node(w: &mut World, deed: Aftermath, node: Option<usize>, operator: &Client) {
    let Some(node) = node else { return };
    let others = w.pods.iter().any(|pod| {
        pod.node == Some(node)
            && pod.gone.is_none()
            && !matches!(pod.phase, Phase::Succeeded | Phase::Failed)
    });
    let up = w
        .nodes
        .get(node)
        .is_some_and(|node| node.up && node.gone.is_none());
    match deed {
        Aftermath::TaintNode if !others => {
            let act = w.deed(
                "the node is set aside",
                &["ops.node_drained"],
                &[OPERATOR],
                None,
            );
            set_taint(
                w,
                node,
                Taint {
                    key: "lab.example/quarantine".to_owned(),
                    value: Some("investigate".to_owned()),
                    effect: "NoExecute",
                    added: None,
                    by: None,
                },
                operator,
                act,
            );
        }
        Aftermath::DrainNode if !others => {
            let act = w.deed(
                "the node is drained later",
                &["ops.node_drained"],
                &[OPERATOR],
                None,
            );
            drain(w, node, operator, act);
        }
        Aftermath::RebootNode if !others && up => {
            let act = w.act("the node is rebooted later", &["node.reboot"], None);
            w.host_line(
                node,
                Unit::Systemd,
                "The system will reboot now!",
                &names(act),
            );
            w.after(3 * SEC, move |w| {
                machine_dies(w, node, act);
                let lag = w.rng.secs(70, 200);
                w.after(lag, move |w| machine_returns(w, node, act));
            });
        }
        Aftermath::DeleteNode if !others => {
            let act = w.deed(
                "the node is deleted later",
                &["ops.node_drained"],
                &[OPERATOR],
                None,
            );
            w.drop_node(
                node,
                Ask::new(operator.clone(), "delete", "").with_tags(&names(act)),
            );
            let lag = w.rng.secs(20, 80);
            w.after(lag, move |w| {
                crate::control::collect_orphans(w, node, Some(act));
            });
        }
        Aftermath::XidLater if up => {
            let act = w.act("a GPU breaks later", &["hw.gpu"], None);
            w.host_line(node, Unit::Kernel, "NVRM: Xid (PCI:0000:18:00): 79, pid=4711, name=nvidia-smi, GPU has fallen off the bus.", &names(act));
        }
        _ => {}
    }
}
