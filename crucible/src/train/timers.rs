//! What programs write of each rank's own time: how long it computes, reads and waits, apart from the whole step, which ends for
//! all ranks together.

use crate::train::{info, say};
use crate::world::{ActId, Tag, World, claims, names};

/// How the ranks' own times are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// Megatron's `--log-straggler`: the least and the most of all ranks, told by the first.
    Straggler,
    /// NVIDIA's resiliency extension: scores, and a warning below 0.7.
    Scores,
    /// Each rank's own line.
    Own,
}

/// A rank that takes longer than the others.
#[derive(Clone, Copy, Debug)]
pub struct Apart {
    /// Which.
    pub rank: u32,
    /// Its own time in hundredths of what the others take.
    pub percent: i64,
    /// Whether it is its reading that takes so long, and not its computing.
    pub reads: bool,
    /// What it tells of, where it is more than a habit.
    pub act: Option<ActId>,
}

/// How a workload tells its ranks' own times.
#[derive(Clone, Copy, Debug)]
pub struct Timers {
    /// In which form.
    pub form: Form,
    /// Who takes longer.
    pub apart: Option<Apart>,
}

/// One report of a gang.
pub(super) fn report(w: &mut World, load: usize, gang: &[usize]) {
    let Some(timers) = w.loads.get(load).and_then(|load| load.pace.timers) else {
        return;
    };
    let jitter = w.rng.range(0, 40);
    match timers.form {
        Form::Straggler => straggler(w, gang, timers.apart, jitter),
        Form::Scores => scores(w, gang, timers.apart, jitter),
        Form::Own => own(w, load, gang, timers.apart, jitter),
    }
}

fn tags(apart: Option<Apart>) -> Vec<Tag> {
    apart
        .and_then(|apart| apart.act)
        .map(names)
        .unwrap_or_default()
}

fn first(w: &World, gang: &[usize]) -> Option<usize> {
    let is_first = |&&pod: &&usize| w.pods.get(pod).is_some_and(|pod| pod.rank == 0);
    gang.iter().find(is_first).copied()
}

fn other(w: &World, gang: &[usize], rank: u32) -> u32 {
    let ranks = gang.iter().filter_map(|&pod| w.pods.get(pod));
    ranks
        .map(|pod| pod.rank)
        .find(|&one| one != rank)
        .unwrap_or(0)
}

fn straggler(w: &mut World, gang: &[usize], apart: Option<Apart>, jitter: i64) {
    let Some(pod) = first(w, gang) else { return };
    let usual = 1702 + jitter;
    let (slow, longest, latency) = match apart {
        Some(apart) if apart.reads => (apart.rank, usual + 14, 14 * apart.percent / 10),
        Some(apart) => (apart.rank, usual * apart.percent / 100, 34),
        None => (other(w, gang, 0), usual + 14, 34),
    };
    let fast = other(w, gang, slow);
    let (best, worst) = (297 - jitter / 8, (297 - jitter / 8) * usual / longest);
    let text = format!(
        "INFO:megatron.core.utils:[{}] | MnRtt/Rnk: {usual}.08ms/{fast} | MxRtt/Rnk: {longest}.20ms/{slow} | MnPwr/Rnk: 601796.00W/{slow} | MxPwr/Rnk: 683801.00W/{fast} | MnTmp/Rnk: 52.00C/{fast} | MxTmp/Rnk: 65.00C/{slow} | MnUtl/Rnk: 97.00%/{slow} | MxUtl/Rnk: 100.00%/{fast} | MnClk/Rnk: 1950.00MHz/{slow} | MxClk/Rnk: 1980.00MHz/{fast} | MnDRtt/Rnk: 14.27ms/{fast} | MxDRtt/Rnk: {latency}.65ms/{slow} | MnEtpt/Rnk: {worst}.02TF/{slow} | MxEtpt/Rnk: {best}.32TF/{fast}",
        w.now.format("%Y-%m-%d %H:%M:%S", 0)
    );
    say(w, pod, false, text, &tags(apart));
}

fn scores(w: &mut World, gang: &[usize], apart: Option<Apart>, jitter: i64) {
    let Some(pod) = first(w, gang) else { return };
    // Only what runs on a GPU is scored: a rank that reads slowly scores as the others.
    let apart = apart.filter(|apart| !apart.reads);
    let mut ranks: Vec<(i64, u32, String)> = gang
        .iter()
        .filter_map(|&pod| w.pods.get(pod))
        .map(|pod| {
            let score = match apart {
                Some(apart) if apart.rank == pod.rank => 9900 / apart.percent,
                _ => 97 + jitter / 20,
            };
            let node = pod.node.map(|node| w.node_name(node));
            (score, pod.rank, node.unwrap_or_default())
        })
        .collect();
    ranks.sort();
    let mut lines = vec![
        "GPU relative performance:".to_owned(),
        format!(" Worst performing {0}/{0} ranks:", ranks.len()),
    ];
    for (score, rank, node) in &ranks {
        lines.push(format!("  Rank={rank} Node={node} Score=0.{score:02}"));
    }
    let tags = tags(apart);
    for line in lines {
        say(w, pod, false, line, &tags);
    }
    let bad: Vec<String> = ranks
        .iter()
        .filter(|(score, _, _)| *score < 70)
        .map(|(_, rank, _)| rank.to_string())
        .collect();
    if !bad.is_empty() {
        let text = format!(
            "STRAGGLER DETECTION WARNING: Some GPUs have worse relative performance. Affected ranks: [{}]",
            bad.join(", ")
        );
        say(w, pod, true, text, &tags);
    }
}

/// Whoever is fast waits in the collective for who is not.
fn own(w: &mut World, load: usize, gang: &[usize], apart: Option<Apart>, jitter: i64) {
    let step = w.loads.get(load).map_or(0, |load| load.step);
    let (data, compute) = (41 + jitter / 4, 1680 + jitter);
    let lag = apart.map_or(0, |apart| {
        let usual = if apart.reads { data } else { compute };
        // A reader that is slow at all is slow by far.
        let times = if apart.reads { 30 } else { 1 };
        usual * times * (apart.percent - 100) / 100
    });
    for &pod in gang {
        let rank = w.pods.get(pod).map_or(0, |pod| pod.rank);
        let mine = apart.filter(|apart| apart.rank == rank);
        let data = data + mine.filter(|apart| apart.reads).map_or(0, |_| lag);
        let compute = compute + mine.filter(|apart| !apart.reads).map_or(0, |_| lag);
        let waits = 96 + jitter / 5 + if mine.is_some() { 0 } else { lag };
        let line = info(
            w.now,
            &format!(
                "timers step={step} rank={rank} data_ms={data}.3 compute_ms={compute}.8 allreduce_wait_ms={waits}.1"
            ),
        );
        // One rank's line alone compares it with nobody.
        let tags = apart.and_then(|apart| apart.act).map(claims);
        say(w, pod, false, line, &tags.unwrap_or_default());
    }
}
