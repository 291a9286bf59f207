//! A plan is drawn from a seed.

use super::{
    Aftermath, Cloud, Cluster, Damage, Fault, Load, LoadKind, LogForm, More, Observe, Plan,
    Planned, Policy, When,
};
use crate::rng::Rng;
use crate::time::{HOUR, SEC, Time};

const NAMES: &[&str] = &[
    "moe-8b",
    "dense-70b",
    "rlhf-2",
    "vit-l",
    "gpt2-small",
    "atari-dqn",
    "robot-hand",
    "sparse-xf",
    "diffusion-xl",
    "speech-asr",
    "reward-model",
    "sft-chat",
];
const SPACES: &[&str] = &["research", "pretrain", "alignment", "vision"];
const OWNERS: &[&str] = &["alice@lab.example", "chen@lab.example", "frida@lab.example"];

/// Draws the plan of a seed.
#[must_use]
pub fn draw(seed: u64) -> Plan {
    let mut rng = Rng::stream(seed, "plan");
    let start =
        Time(1_767_225_600 * SEC + rng.range(0, 300 * 24) * HOUR + rng.millis(0, 3_599_000));
    let fault = if rng.chance(88) {
        rng.pick(Fault::ALL).copied()
    } else {
        None
    };
    let mut apart = Rng::stream(seed, "more");
    let fault = if apart.chance(10) {
        apart.pick(Fault::MORE).copied()
    } else {
        fault
    };
    let mut classes = super::classes::draw(seed);
    let fault = classes.fault(fault);
    let mut recent = super::recent::draw(seed);
    let fault = recent.fault(fault);
    let cluster = cluster(&mut rng, fault);
    let mut loads = vec![main_load(&mut rng, fault, &cluster)];
    let mut faults = Vec::new();
    if let Some(fault) = fault {
        let at = rng.secs(150, 900);
        faults.push(Planned {
            fault,
            load: 0,
            at: recent.begin(classes.begin(fault, at)),
        });
        adapt(&mut rng, fault, &mut loads);
    }
    // A look-alike some time before, and one after.
    if rng.chance(30) {
        let alike = *rng
            .pick(&[
                Fault::XidElsewhere,
                Fault::TaintElsewhere,
                Fault::DrainOfFinished,
                Fault::NodeBlip,
            ])
            .unwrap_or(&Fault::XidElsewhere);
        if Some(alike) != fault {
            faults.push(Planned {
                fault: alike,
                load: 0,
                at: rng.secs(60, 600),
            });
        }
    }
    for _ in 0..rng.range(0, 3) {
        let load = bystander(&mut rng, &loads);
        if loads
            .iter()
            .any(|one| one.namespace == load.namespace && one.name == load.name)
        {
            continue;
        }
        let at = loads.len();
        if rng.chance(35) {
            let other = *rng
                .pick(&[
                    Fault::Exception,
                    Fault::HostOom,
                    Fault::CudaOom,
                    Fault::PodsDeleted,
                    Fault::Segfault,
                    Fault::Dns,
                ])
                .unwrap_or(&Fault::Exception);
            faults.push(Planned {
                fault: other,
                load: at,
                at: rng.secs(100, 1200),
            });
        }
        loads.push(load);
    }
    let mut deeds = Vec::new();
    if rng.chance(40) {
        for _ in 0..rng.range(1, 3) {
            if let Some(&deed) = rng.pick(Aftermath::ALL)
                && !deeds.contains(&deed)
            {
                deeds.push(deed);
            }
        }
    }
    classes.add(&mut faults);
    recent.add(&mut faults, &mut loads, cluster.cloud);
    // Who has no GPU can lose none.
    let is_of_gpus = |one: &Planned| one.load == 0 && one.fault.is_of_gpus();
    if let Some(main) = loads.first_mut()
        && faults.iter().any(is_of_gpus)
    {
        main.gpus = main.gpus.max(1);
    }
    let mut observe = observe(&mut Rng::stream(seed, "observe"), cluster.cloud);
    observe.metrics = classes.metrics(&faults);
    let more = more(&mut apart, fault, loads.first(), cluster.cloud);
    if apart.chance(12)
        && let Some(main) = loads.first_mut()
        && main.kind == LoadKind::Job
        && main.gang
        && fault.is_none_or(|fault| !fault.is_of_jobs())
    {
        main.kind = LoadKind::PyTorchJob;
        main.restarts = false;
    }
    Plan {
        more,
        seed,
        start,
        cluster,
        loads,
        faults,
        deeds,
        observe,
    }
}

fn cluster(rng: &mut Rng, fault: Option<Fault>) -> Cluster {
    let clouds: &[Cloud] = match fault {
        Some(
            Fault::HostMaintenance
            | Fault::HostError
            | Fault::SpotReclaimed
            | Fault::InstanceTerminated
            | Fault::ScaleDown
            | Fault::CapacityExhausted
            | Fault::CloudQuota
            | Fault::NodeUpgrade,
        ) => &[Cloud::Gcp, Cloud::Aws, Cloud::Azure],
        Some(Fault::Outage) => &[Cloud::Aws, Cloud::Azure],
        Some(Fault::MaintenanceCancelled) => &[Cloud::Gcp, Cloud::Aws],
        _ => &[Cloud::Gcp, Cloud::Aws, Cloud::Azure, Cloud::OnPrem],
    };
    Cluster {
        cloud: *rng.pick(clouds).unwrap_or(&Cloud::Gcp),
        nodes: usize::try_from(rng.range(4, 9)).unwrap_or(6),
        gpus: 8,
        spot: fault == Some(Fault::SpotReclaimed) || rng.chance(15),
        grace_s: if rng.chance(50) { 40 } else { 50 },
        bear_s: if rng.chance(70) { 300 } else { 30 },
        minor: u32::try_from(rng.range(30, 36)).unwrap_or(34),
    }
}

/// What the first workload and its cluster have besides.
fn more(rng: &mut Rng, fault: Option<Fault>, load: Option<&Load>, cloud: Cloud) -> More {
    let is_job = load.is_some_and(|load| load.kind == LoadKind::Job);
    let of = |wanted| fault == Some(wanted);
    More {
        ttl_s: (rng.chance(12) && is_job).then(|| rng.range(60, 900)),
        policy: (rng.chance(8) && is_job) || of(Fault::FailurePolicy),
        looped: of(Fault::RetryLoop),
        queued: of(Fault::KueueWaits),
        init: rng.chance(8) || of(Fault::InitFails),
        npd: rng.chance(20),
        gke: rng.chance(35) && cloud == Cloud::Gcp,
        sidecar: rng.chance(8),
    }
}

fn serving(fault: Option<Fault>) -> Option<&'static [LoadKind]> {
    match fault? {
        Fault::Readiness | Fault::ScaledToZero | Fault::ConfigChange => {
            Some(&[LoadKind::Deployment, LoadKind::StatefulSet])
        }
        Fault::Liveness | Fault::Flapping => {
            Some(&[LoadKind::Deployment, LoadKind::StatefulSet, LoadKind::Job])
        }
        Fault::Deadline
        | Fault::KueuePreempted
        | Fault::KueueEvicted
        | Fault::KueueWaits
        | Fault::FailurePolicy
        | Fault::RetryLoop
        | Fault::ControllersDown => Some(&[LoadKind::Job]),
        Fault::Quota | Fault::MissingAccount | Fault::Admission | Fault::ControlPlane => Some(&[
            LoadKind::Job,
            LoadKind::JobSet,
            LoadKind::Deployment,
            LoadKind::StatefulSet,
        ]),
        Fault::Hang
        | Fault::NoProgress
        | Fault::Nic
        | Fault::NvLink
        | Fault::Links
        | Fault::Mismatched
        | Fault::Rendezvous
        | Fault::Watchdog
        | Fault::Corruption
        | Fault::LongPause
        | Fault::SlowMachine
        | Fault::SlowSteps
        | Fault::SlowLoader
        | Fault::SlowRank
        | Fault::SlowPassed
        | Fault::UnevenRanks
        | Fault::HangMissing
        | Fault::MembersRefused => Some(&[LoadKind::Job, LoadKind::JobSet]),
        Fault::Leak => Some(&[LoadKind::Deployment, LoadKind::StatefulSet, LoadKind::Job]),
        Fault::CpuStarved => Some(&[LoadKind::Job, LoadKind::JobSet, LoadKind::Deployment]),
        Fault::JobDeleted => Some(&[LoadKind::Job, LoadKind::JobSet, LoadKind::Deployment]),
        _ => None,
    }
}

fn main_load(rng: &mut Rng, fault: Option<Fault>, cluster: &Cluster) -> Load {
    let kinds = serving(fault).unwrap_or(&[
        LoadKind::Job,
        LoadKind::Job,
        LoadKind::Job,
        LoadKind::JobSet,
        LoadKind::Deployment,
        LoadKind::StatefulSet,
        LoadKind::Pod,
    ]);
    let kind = *rng.pick(kinds).unwrap_or(&LoadKind::Job);
    let needs_gang = match fault {
        Some(
            Fault::Hang
            | Fault::NoProgress
            | Fault::Mismatched
            | Fault::Rendezvous
            | Fault::Watchdog
            | Fault::LongPause
            | Fault::SlowMachine
            | Fault::SlowSteps
            | Fault::SlowLoader
            | Fault::SlowRank
            | Fault::SlowPassed
            | Fault::UnevenRanks
            | Fault::HangMissing
            | Fault::MembersRefused,
        ) => true,
        Some(Fault::CpuStarved) => kind != LoadKind::Deployment,
        _ => false,
    };
    let gang = needs_gang
        || (matches!(kind, LoadKind::Job | LoadKind::JobSet)
            && rng.chance(75)
            && !matches!(
                fault,
                Some(Fault::Liveness | Fault::Flapping | Fault::RetryLoop | Fault::Leak)
            ));
    let size = if gang {
        u32::try_from(rng.range(2, 4)).unwrap_or(2)
    } else if matches!(kind, LoadKind::Deployment | LoadKind::StatefulSet) {
        u32::try_from(rng.range(1, 3)).unwrap_or(1)
    } else {
        1
    };
    let gpus = if gang {
        8
    } else {
        *rng.pick(&[0, 1, 4]).unwrap_or(&1)
    };
    let name = format!("{}-{}", rng.word(NAMES), rng.range(2, 99));
    let trains = if fault.is_none_or(Fault::is_look_alike)
        && matches!(kind, LoadKind::Job | LoadKind::JobSet)
        && rng.chance(60)
    {
        Some(rng.secs(600, 2400))
    } else {
        None
    };
    let retries = match kind {
        LoadKind::JobSet => *rng.pick(&[0, 0, 2]).unwrap_or(&0),
        _ => *rng.pick(&[0, 0, 0, 1, 3]).unwrap_or(&0),
    };
    Load {
        kind,
        namespace: rng.word(SPACES).to_owned(),
        label: rng.chance(70).then(|| name.clone()),
        name,
        owner: rng.word(OWNERS).to_owned(),
        size: size.min(u32::try_from(cluster.nodes).unwrap_or(4)),
        gpus,
        at: rng.secs(2, 40),
        trains,
        retries,
        restarts: matches!(fault, Some(Fault::Liveness | Fault::Flapping | Fault::Leak))
            || (kind == LoadKind::Job && !gang && rng.chance(15)),
        nccl_s: *rng.pick(&[120, 600, 600]).unwrap_or(&600),
        resets: rng.chance(60),
        obeys: rng.chance(80),
        deadline_s: None,
        priority: None,
        gang,
    }
}

/// What a fault asks of the workload that it befalls.
fn adapt(rng: &mut Rng, fault: Fault, loads: &mut [Load]) {
    let Some(main) = loads.first_mut() else {
        return;
    };
    match fault {
        Fault::Deadline => main.deadline_s = Some(rng.range(200, 1200)),
        Fault::Preempted => {
            main.gpus = 8;
            main.priority = rng.chance(50).then(|| ("research-low".to_owned(), 10));
        }
        Fault::NoCapacity | Fault::CapacityExhausted | Fault::CloudQuota | Fault::NoSuchNode => {
            main.gpus = main.gpus.max(4);
        }
        Fault::Liveness | Fault::Flapping | Fault::FailurePolicy | Fault::Leak => main.retries = 6,
        // Some of its members are let in, and some are not.
        Fault::MembersRefused => main.size = main.size.max(3),
        _ => {}
    }
}

fn bystander(rng: &mut Rng, loads: &[Load]) -> Load {
    let first = loads.first();
    let same_name = rng.chance(15);
    let name = match first.filter(|_| same_name) {
        Some(load) => load.name.clone(),
        None => format!("{}-{}", rng.word(NAMES), rng.range(100, 999)),
    };
    let namespace = if same_name {
        "shadow".to_owned()
    } else {
        rng.word(SPACES).to_owned()
    };
    let kind = *rng
        .pick(&[LoadKind::Job, LoadKind::Job, LoadKind::Deployment])
        .unwrap_or(&LoadKind::Job);
    Load {
        kind,
        namespace,
        label: None,
        name,
        owner: rng.word(OWNERS).to_owned(),
        size: 1,
        gpus: 0,
        at: rng.secs(0, 300),
        trains: rng.chance(50).then(|| rng.secs(300, 2000)),
        retries: 0,
        restarts: false,
        nccl_s: 600,
        resets: true,
        obeys: true,
        deadline_s: None,
        priority: None,
        gang: kind == LoadKind::Job,
    }
}

fn observe(rng: &mut Rng, cloud: Cloud) -> Observe {
    let mut o = Observe {
        metrics: false,
        ..Observe::all()
    };
    o.when = rng
        .weighted(&[
            (When::MinutesAfter, 60),
            (When::JustAfter, 15),
            (When::HoursAfter, 25),
        ])
        .unwrap_or(When::MinutesAfter);
    o.cloud = cloud != Cloud::OnPrem && rng.chance(75);
    o.hosts = rng.chance(60);
    o.audit = rng
        .weighted(&[
            (Policy::None, 40),
            (Policy::Metadata, 20),
            (Policy::Request, 10),
            (Policy::RequestResponse, 30),
        ])
        .unwrap_or(Policy::None);
    o.lists = rng.chance(85);
    o.watches = rng.chance(50);
    o.text = !o.lists && rng.chance(70);
    o.gap = (o.watches && rng.chance(20)).then(|| {
        let from = u8::try_from(rng.range(10, 80)).unwrap_or(10);
        (from, from + 12)
    });
    o.logs = rng
        .weighted(&[
            (LogForm::None, 20),
            (LogForm::Files, 35),
            (LogForm::Kubectl, 15),
            (LogForm::Raw, 5),
            (LogForm::Loki, 15),
            (LogForm::Datadog, 10),
        ])
        .unwrap_or(LogForm::Files);
    if !o.lists && !o.watches && !o.text {
        o.lists = true;
    }
    if rng.chance(15) {
        o.skew_s = rng.range(-30, 30);
    }
    if rng.chance(10) {
        o.zone_min = *rng.pick(&[60, 120, -480]).unwrap_or(&0);
    }
    o.damage = rng
        .weighted(&[
            (None, 76),
            (Some(Damage::Doubled), 8),
            (Some(Damage::Shuffled), 8),
            (Some(Damage::Cut), 8),
        ])
        .flatten();
    o
}
