//! A case: a plan that was played to the moment at which it is looked at.

use serde_json::json;

use crate::control::{make, namespace_json, schedule};
use crate::fault;
use crate::plan::{self, LoadKind, Plan, When};
use crate::rng::Rng;
use crate::time::{HOUR, MIN, SEC, Time};
use crate::world::{Ask, Change, Client, Key, Kind, Load, Pace, State, World};

/// What was played, and when it is looked at.
#[derive(Debug)]
pub struct Case {
    /// The world at that moment.
    pub world: World,
    /// That moment.
    pub now: Time,
}

/// Adds a workload that may be made. Gives its place.
pub fn add_load(w: &mut World, plan: plan::Load) -> usize {
    let serves = !plan.gang && plan.kind != LoadKind::Job;
    let command = if serves {
        vec!["python".to_owned(), "serve.py".to_owned()]
    } else {
        vec![
            "torchrun".to_owned(),
            "train.py".to_owned(),
            "--config".to_owned(),
            format!("configs/{}.yaml", plan.name),
        ]
    };
    let command = if w.plan.more.looped && w.loads.is_empty() {
        vec![
            "/bin/bash".to_owned(),
            "-c".to_owned(),
            format!(
                "until {}; do echo \"train.py failed with $?, trying again in 30 s\"; sleep 30; done",
                command.join(" ")
            ),
        ]
    } else {
        command
    };
    namespace(w, &plan.namespace);
    let blocked = w.down.of(plan.kind);
    w.loads.push(Load {
        pace: Pace::default(),
        uid: String::new(),
        created: None,
        gone: None,
        ended: None,
        state: State::Planned,
        attempt: 1,
        blocked,
        curse: None,
        set: None,
        wanted: plan.size,
        conditions: Vec::new(),
        image: "registry.lab.example/train:1.4.2".to_owned(),
        command,
        step: 0,
        training: None,
        selector: None,
        secret: None,
        claim: None,
        init_fails: None,
        probed: false,
        unready: false,
        generation: 1,
        account: None,
        stuck: None,
        done: None,
        start_failure: None,
        noticed: None,
        let_in: None,
        refusals: (0, false),
        well: None,
        plan,
    });
    w.loads.len() - 1
}

fn namespace(w: &mut World, name: &str) {
    let key = Key {
        kind: Kind::Namespace,
        namespace: String::new(),
        name: name.to_owned(),
        uid: Rng::stream(w.plan.seed, name).uuid(),
    };
    if !w.exists(&key) {
        let object = namespace_json(&key, w.plan.start.plus(-200 * HOUR));
        w.put(
            Change::Added,
            &key,
            object,
            Ask::new(Client::person("system:admin"), "create", ""),
        );
    }
}

impl Case {
    /// The world goes on until it is looked at again.
    pub fn go_on(&mut self, now: Time) {
        self.world.run_until(now);
        self.now = self.now.max(now);
    }
}

/// The world of a plan, of which nothing has happened yet.
#[must_use]
pub fn begin(plan: &Plan) -> World {
    let mut w = World::new(plan.clone());
    namespace(&mut w, "kube-system");
    w.make_nodes();
    for load in &plan.loads {
        add_load(&mut w, load.clone());
    }
    for planned in &plan.faults {
        if planned.fault == plan::Fault::Liveness
            && let Some(load) = w.loads.get_mut(planned.load)
        {
            load.probed = true;
        }
        fault::prepare(&mut w, planned);
    }
    for (at, load) in plan.loads.iter().enumerate() {
        // Fillers are made first.
        w.after(load.at, move |w| make(w, at));
    }
    for planned in plan
        .faults
        .iter()
        .filter(|one| !one.fault.is_before_start())
    {
        let planned = planned.clone();
        let at = plan.loads.get(planned.load).map_or(0, |load| load.at) + planned.at;
        w.after(at, move |w| fault::strike(w, &planned));
    }
    w.after(MIN, beat);
    w
}

/// Plays a plan.
#[must_use]
pub fn play(plan: &Plan) -> Case {
    let mut w = begin(plan);
    let mut rng = Rng::stream(plan.seed, "when");
    let horizon = plan.start.plus(rng.secs(70 * 60, 140 * 60));
    let now = match plan.observe.when {
        When::JustAfter => just_after(&mut w, horizon, &mut rng),
        When::MinutesAfter => {
            to_the_end(&mut w, horizon);
            plan_deeds(&mut w, &plan.deeds, &mut rng);
            w.now.plus(rng.secs(240, 1700))
        }
        When::HoursAfter => {
            to_the_end(&mut w, horizon);
            plan_deeds(&mut w, &plan.deeds, &mut rng);
            w.now.plus(rng.secs(2 * 3600, 5 * 3600))
        }
    };
    w.run_until(now);
    Case { world: w, now }
}

/// The scheduler looks again from time to time, and nodes post their status.
fn beat(w: &mut World) {
    if w.now.since(w.plan.start) % (5 * MIN) < MIN {
        schedule(w);
        for node in 0..w.nodes.len() {
            if let Some(name) = w
                .nodes
                .get(node)
                .filter(|node| node.heard && node.up && node.gone.is_none())
                .map(|node| node.name.clone())
            {
                w.put_node(
                    node,
                    Ask::new(Client::kubelet(&name), "patch", "status").body(json!({"status": {}})),
                );
            }
        }
    }
    w.after(MIN, beat);
}

/// Until the run that is asked for has ended, at most until then.
pub(crate) fn to_the_end(w: &mut World, horizon: Time) {
    while w.now < horizon && w.loads.first().is_some_and(|load| load.ended.is_none()) {
        let next = w.now.plus(30 * SEC);
        w.run_until(next);
    }
}

fn just_after(w: &mut World, horizon: Time, rng: &mut Rng) -> Time {
    while w.now < horizon {
        let died = w
            .deaths
            .iter()
            .any(|death| w.pods.get(death.pod).is_some_and(|pod| pod.load == 0));
        if died || w.loads.first().is_some_and(|load| load.ended.is_some()) {
            break;
        }
        let next = w.now.plus(10 * SEC);
        w.run_until(next);
    }
    w.now.plus(rng.secs(8, 240))
}

/// What people do next, one deed after the other. Gives when the last of them is begun.
pub(crate) fn plan_deeds(w: &mut World, deeds: &[plan::Aftermath], rng: &mut Rng) -> Time {
    let mut at = 0;
    for &deed in deeds {
        at += rng.secs(60, 200);
        w.after(at, move |w| fault::play_deed(w, deed));
    }
    w.now.plus(at)
}
