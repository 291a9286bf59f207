//! Whose deed a finding was.

use whathappened_core::death::Death;
use whathappened_core::graph::{EntityGraph, Fact, Phase, is_by_operator};
use whathappened_core::lifecycle::{Mode, is_operated};
use whathappened_core::signals::{ActorKind, named};
use whathappened_model::event::SourceKind;
use whathappened_model::time::{CLOCKS, Nanos, SECOND};

use super::actor::actor;
use super::context::ReportContext;
use crate::answer::Actor;
use crate::explain::SILENCE;
use crate::explain::candidate::Step;
use crate::explain::edge::Role;
use crate::explain::gang::Finding;

/// What a pod was lost with its node for is evicted within this long, at last.
const EVICTED_WITHIN: Nanos = 3_600 * SECOND;

impl ReportContext<'_> {
    /// The principal of the earliest deliberate act, else who deleted the first victim.
    pub(super) fn culprit(&self, finding: &Finding) -> Option<Actor> {
        let run = self.case.runs.get(finding.run)?;
        let graph = self.graph();
        let path = finding
            .candidate
            .as_ref()
            .map_or(&[][..], |candidate| candidate.path.as_slice());
        if self.is_cleared_away(finding) {
            return None;
        }
        let acts: Vec<&Step> = path.iter().filter(|step| step.role == Role::Act).collect();
        let acted = self.principal(finding, &acts);
        let first = finding.first.first().and_then(|death| self.death(*death));
        let first = first.filter(|first| first.mode != Mode::Exited || !acts.is_empty());
        let found = acted.or_else(|| {
            let first = first?;
            // Another record of the same act may name who did it.
            let act = acts.first().and_then(|step| self.fact(step.fact));
            let same = |fact: &&Fact| {
                act.is_some_and(|act| act.signal == fact.signal) && names_who(graph, fact)
            };
            let deleted = |fact: &&Fact| {
                let signal = graph.name(fact.signal);
                let by = signal.starts_with("k8s.pod.deleted_by_")
                    || signal.starts_with("k8s.pod.evicted_by_")
                    || (signal == named::K8S_POD_EVICTED_TAINT && fact.actor.is_some());
                // These carry out what somebody asked for, seen or not.
                let follows = [
                    named::K8S_POD_DELETED_BY_KUBELET,
                    named::K8S_POD_DELETED_BY_GC,
                ];
                by && !follows.contains(&signal) && ended(fact, first)
            };
            // Who removes what a controller has already asked to go did not end it.
            let tidies =
                |fact: &&Fact| acts.is_empty() && is_part_of_kubernetes(graph.name(fact.actor));
            let torn_down = |fact: &&Fact| {
                graph.name(fact.signal) == named::K8S_WORKLOAD_POD_DELETED && fact.actor.is_some()
            };
            self.facts_of(first.pod)
                .find(same)
                .or_else(|| {
                    let asked = self.facts_of(first.pod).find(deleted);
                    asked.filter(|fact| !tidies(fact))
                })
                .or_else(|| {
                    // Whom nobody could stop any more was stopped by nobody.
                    let lost = acts.is_empty() && first.mode == Mode::Lost;
                    let mut named = self.facts_naming(first.pod).filter(|_| !lost);
                    // What something else had ended, its controller only takes away.
                    let failed = acts.is_empty() && !path.is_empty();
                    named.find(|fact| {
                        torn_down(fact)
                            && !(failed && is_part_of_kubernetes(graph.name(fact.actor)))
                    })
                })
                // Who carries out what somebody unseen asked for is not who did it.
                .filter(|fact| {
                    let of_pod = act.is_none_or(|act| act.pod.is_some() && act.pod == fact.pod);
                    of_pod || !self.carries_out(fact)
                })
        });
        let found = found.or_else(|| {
            let first = first.filter(|first| first.mode == Mode::Killed)?;
            self.facts_of(first.pod)
                .find(|fact| is_removal(graph, fact) && is_just_before(fact, first))
        });
        let Some(found) = found else {
            // What the platform did to a machine, it did: nobody asked it to.
            let act = acts.iter().filter_map(|step| self.fact(step.fact));
            let own = act.filter(|act| !self.is_asked_for(act));
            return own.filter_map(|act| platform(graph, act)).next();
        };
        if self.is_at_a_request(found) {
            return None;
        }
        let class = graph
            .name(found.signal)
            .split_once("_by_")
            .map(|(_, class)| class);
        Some(actor(graph, run, graph.name(found.actor), class))
    }

    /// Whether a group ended a machine to be as small as somebody asked, as its own account says, which does not name them:
    /// the cloud's activity log does.
    fn is_at_a_request(&self, act: &Fact) -> bool {
        let graph = self.graph();
        graph.evidence.event(act.row).is_ok_and(|event| {
            let cause = event.attribute("cause").unwrap_or_default();
            event.fact == "cloud.group_activity" && cause.contains("a user request")
        })
    }

    /// Whether the only act is that somebody cleared away what a silent node has lost, or a boot had ended: who did so is known,
    /// and did not end it.
    pub(super) fn is_cleared_away(&self, finding: &Finding) -> bool {
        let candidate = finding.candidate.as_ref();
        let path = candidate.map_or(&[][..], |candidate| candidate.path.as_slice());
        let signal = |step: &Step| {
            let fact = self.fact(step.fact);
            fact.map(|fact| self.graph().name(fact.signal))
        };
        let is_end = |step: &Step| {
            let is_lost = |signal| SILENCE.contains(&signal) || signal == named::K8S_NODE_REBOOTED;
            step.role == Role::Fault && signal(step).is_some_and(is_lost)
        };
        let is_clearing = |step: &Step| signal(step) == Some(named::K8S_POD_DELETED_BY_USER);
        let end = path.iter().position(is_end);
        let clearing = path.iter().position(is_clearing);
        let act = path.iter().position(|step| step.role == Role::Act);
        end.zip(clearing)
            .is_some_and(|(end, clearing)| end < clearing && act.is_none_or(|act| act >= clearing))
    }
}

/// Whether a name is that of a controller of Kubernetes' own, which only carries out what a fault
/// makes necessary.
fn is_part_of_kubernetes(name: &str) -> bool {
    const CONTROLLERS: [&str; 7] = [
        "cloud-node-lifecycle-controller",
        "job-controller",
        "node-controller",
        "node-lifecycle-controller",
        "pod-garbage-collector",
        "replicaset-controller",
        "taint-eviction-controller",
    ];
    let own = name.strip_prefix("system:serviceaccount:kube-system:");
    CONTROLLERS.contains(&own.unwrap_or(name))
}

impl<'a> ReportContext<'a> {
    /// Who did the earliest deliberate act, as its own record or another witness of it
    /// names them; of what followed only those who did not merely carry it out.
    fn principal(&self, finding: &Finding, acts: &[&Step]) -> Option<&'a Fact> {
        let graph = self.graph();
        // A controller's Event on its own object says who carried it out.
        let executed = |fact: &Fact| {
            let signal = graph.name(fact.signal);
            // Whose request wrote the object itself changed it.
            let wrote = signal == named::K8S_WORKLOAD_SPEC_CHANGED
                || signal == named::K8S_WORKLOAD_SUSPENDED
                    && fact.source_kind == SourceKind::KubernetesAudit;
            signal.starts_with("k8s.workload.") && self.carries_out(fact) && !wrote
        };
        let named = |step: &Step| {
            let fact = self.fact(step.fact)?;
            (names_who(graph, fact) && !executed(fact)).then_some(fact)
        };
        let (first, later) = acts.split_first()?;
        let witnesses = finding.candidate.iter().flat_map(|one| &one.context);
        let same = |step: &&Step| {
            let (act, other) = (self.fact(first.fact), self.fact(step.fact));
            step.role == Role::Act
                && act
                    .zip(other)
                    .is_some_and(|(act, other)| is_one_act(graph, act, other))
        };
        named(first)
            .or_else(|| witnesses.filter(same).find_map(named))
            .or_else(|| self.only_author(self.fact(first.fact)?))
            .or_else(|| self.author_above(self.fact(first.fact)?))
            .or_else(|| {
                let mut later = later.iter().filter_map(|step| named(step));
                later.find(|fact| !self.carries_out(fact))
            })
    }

    /// The record of who did to a machine what another record of that time shows as done, where all
    /// such records name one and the same: an object shows its taints, an audit log who set them.
    fn only_author(&self, act: &Fact) -> Option<&'a Fact> {
        let graph = self.graph();
        if act.pod.is_some() || !act.node.is_some() {
            return None;
        }
        // An audit log of metadata says who changed the node, and not what.
        let closes = ["k8s.node.tainted", named::K8S_NODE_CORDONED];
        let closes = closes
            .iter()
            .any(|stem| graph.name(act.signal).starts_with(stem));
        let changes = |fact: &Fact| {
            let by = graph.name(fact.signal).strip_prefix("k8s.node.changed_by_");
            closes && by.is_some_and(|by| !matches!(by, "kubelet" | "node_controller"))
        };
        let mut authors = graph.facts.iter().filter(|fact| {
            (fact.signal == act.signal || changes(fact))
                && fact.node == act.node
                && fact.time.overlaps(act.time)
                && names_who(graph, fact)
        });
        let first = authors.next()?;
        authors
            .all(|other| other.actor == first.actor)
            .then_some(first)
    }

    /// The record of who changed a workload, or what owns it, just before its controller acted on it: a controller passes
    /// on what was asked of its own object, and its Events come in whole seconds.
    fn author_above(&self, act: &Fact) -> Option<&'a Fact> {
        let graph = self.graph();
        let workload = graph.workloads.get(act.workload)?;
        let asked = |fact: &&Fact| {
            let before = act.time.hi.saturating_sub(fact.time.lo);
            (fact.workload == act.workload || fact.workload == workload.owner)
                && fact.workload.is_some()
                && (0..=CLOCKS).contains(&before)
                && graph.name(fact.signal).starts_with("k8s.workload.")
                // Who made it did not change it.
                && !graph.name(fact.signal).starts_with("k8s.workload.created")
                && names_who(graph, fact)
                && !self.carries_out(fact)
        };
        let mut authors = graph.facts.iter().filter(asked);
        let first = authors.next()?;
        authors
            .all(|other| other.actor == first.actor)
            .then_some(first)
    }

    /// Whether the platform says that it was asked for what it did: by someone whom it does not name.
    fn is_asked_for(&self, fact: &Fact) -> bool {
        let event = self.graph().evidence.event(fact.row).ok();
        event.is_some_and(|event| event.attribute("initiated_by") == Some("user"))
    }

    /// Whether whom a record names does what others asked for: a taint manager evicts for
    /// a taint, a garbage collector deletes what lost its owner.
    fn carries_out(&self, fact: &Fact) -> bool {
        const EXECUTORS: [&str; 7] = [
            "controller",
            "gc",
            "kubelet",
            "namespace_controller",
            "node_controller",
            "podgc",
            "ttl",
        ];
        let event = self.graph().evidence.event(fact.row).ok();
        let class = event
            .as_ref()
            .and_then(|event| self.case.rules.signals.actor_class(event));
        class.is_some_and(|class| EXECUTORS.contains(&class))
            && !is_of_its_own_accord(self.graph().name(fact.actor))
    }
}

/// Whether an account is a controller's that somebody installed to decide: those of the
/// cluster, and those that make the workloads, carry out what these ask for.
fn is_of_its_own_accord(actor: &str) -> bool {
    // What looks after machines from outside the cluster.
    const WATCHERS: [&str; 6] = [
        "doctor",
        "health",
        "heal",
        "quarantin",
        "remediat",
        "repair",
    ];
    if !actor.starts_with("system:") {
        let name = actor.to_lowercase();
        // As its Events call it.
        return name == "cronjob-controller"
            || WATCHERS.iter().any(|watcher| name.contains(watcher));
    }
    actor
        .strip_prefix("system:serviceaccount:")
        .is_some_and(|account| {
            // A CronJob that may run one job at a time decides which, an autoscaler how many pods.
            matches!(
                account,
                "kube-system:cronjob-controller" | "kube-system:horizontal-pod-autoscaler"
            ) || !is_by_operator(actor)
        })
}

/// Two records of one act: on one entity, at one time.
fn is_one_act(graph: &EntityGraph, act: &Fact, other: &Fact) -> bool {
    let family = |fact: &Fact| {
        let name = graph.name(fact.signal);
        let stem = name.split_once("_by_").map_or(name, |(stem, _)| stem);
        stem.splitn(3, '.').take(2).collect::<Vec<_>>().join(".")
    };
    (act.pod, act.node) == (other.pod, other.node)
        && act.time.overlaps(other.time)
        && (act.signal == other.signal || family(act) == family(other))
}

/// Whether a fact's actor is who did it: the kubelet that reports a container
/// being stopped only carries out what somebody asked for.
fn names_who(graph: &EntityGraph, fact: &Fact) -> bool {
    let (signal, actor) = (graph.name(fact.signal), graph.name(fact.actor));
    // A kubelet tells that its node was closed, and never closes it.
    let reports = signal.starts_with(named::K8S_NODE_CORDONED) && actor == "kubelet";
    // Who reports what the cloud does to a machine, as a problem detector or a node controller does, does not do it.
    let cluster = matches!(fact.source_kind, SourceKind::Kubernetes);
    let relays = cluster && (signal.starts_with("maintenance.") || signal.starts_with("cloud."));
    // A Node whose machine is gone is removed for that, and a plan is no deed.
    let tidies =
        signal == named::K8S_NODE_GONE_IN_CLOUD || actor == "cloud-node-lifecycle-controller";
    let plans = fact.phase == Phase::Announced && fact.source_kind == SourceKind::NodeLog;
    let silent = reports || relays || tidies || plans;
    // A kubelet says that somebody changed what it runs.
    let kubelets = [
        named::K8S_CONTAINER_KILLING,
        named::K8S_CONTAINER_CHANGED_KILLED,
    ];
    fact.actor.is_some() && !kubelets.contains(&signal) && !silent
}

/// Who enforces the limits of a workload that no part of Kubernetes' own is behind.
fn maker(graph: &EntityGraph, fact: &Fact) -> Option<&'static str> {
    let workload = graph.workloads.get(fact.workload)?;
    Some(match graph.name(workload.kind) {
        kind if is_operated(kind) => "training-operator",
        "RayJob" | "RayCluster" => "kuberay-operator",
        "Workflow" => "argo-workflow-controller",
        "VolcanoJob" => "volcano-controllers",
        _ => return None,
    })
}

/// The cloud, or the scheduler, whose platform did something of its own accord.
fn platform(graph: &EntityGraph, fact: &Fact) -> Option<Actor> {
    let signal = graph.name(fact.signal);
    if let Some(enforcer) = graph.traits.enforced_by(signal) {
        let own = signal
            .starts_with("k8s.workload.")
            .then(|| maker(graph, fact));
        return Some(Actor {
            name: own.flatten().unwrap_or(&enforcer.name).to_owned(),
            kind: enforcer.kind,
            is_owner: false,
        });
    }
    let name = match (fact.phase, fact.source_kind) {
        (Phase::Unstated, _) => return None,
        (_, SourceKind::Gcp) => "Google Cloud",
        (_, SourceKind::Aws) => "AWS",
        (_, SourceKind::Azure) => "Azure",
        _ => return None,
    };
    Some(Actor {
        name: name.to_owned(),
        kind: ActorKind::Cloud,
        is_owner: false,
    })
}

/// Whether an autoscaler says of a pod that it removes it, for whatever reason: what takes the machine may be known beside it.
fn is_removal(graph: &EntityGraph, fact: &Fact) -> bool {
    let own = graph.name(fact.signal).strip_prefix("autoscaler.");
    own.is_some_and(|own| !own.starts_with("scale_up")) && fact.actor.is_some()
}

/// Whether something was said just before the end of a pod, or as it was asked for.
fn is_just_before(fact: &Fact, death: &Death) -> bool {
    const BEFORE: Nanos = 120 * SECOND;
    let lag = death.time.lo.saturating_sub(fact.time.lo);
    (-CLOCKS..=BEFORE).contains(&lag)
}

/// Whether a deletion may have been the end of a pod: not where it came after it, but
/// for a pod whose node was lost, of which it is the only word.
fn ended(fact: &Fact, death: &Death) -> bool {
    let late = if death.mode == Mode::Lost {
        EVICTED_WITHIN
    } else {
        CLOCKS
    };
    fact.time.lo <= death.time.hi.saturating_add(late)
}
