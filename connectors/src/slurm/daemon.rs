//! What Slurm's daemons say in a host's log: of other nodes, and of jobs.

use std::sync::LazyLock;

use regex::Regex;

use super::job;
use crate::event::{Event, EventId, SourceKind};
use crate::host_list;
use crate::time::Stamp;

/// Whether a program's lines are Slurm's.
pub(crate) fn says(program: Option<&str>) -> bool {
    matches!(program, Some("slurmctld" | "slurmd"))
}

struct Pattern {
    regex: Regex,
    /// The state of the nodes or of the job; `None` where the line says it.
    state: Option<&'static str>,
}

/// Lines about nodes (`nodes`) or a job (`job`), perhaps with `state`, `why`, `by`.
static PATTERNS: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    let patterns: &[(&str, Option<&str>)] = &[
        (
            r"(?:update_node|drain_nodes): node (?<nodes>\S+) state set to (?<state>\w+)",
            None,
        ),
        (
            // Tools of some sites write who and when behind it, as `scontrol show node` does.
            r"update_node: node (?<nodes>\S+) reason set to: (?<why>.+?)(?: \[(?<by>[\w.-]+)@[\dT:-]+\])?$",
            Some("REASON"),
        ),
        (
            r"Setting node (?<nodes>\S+) state to INVAL with reason:(?<why>.+)",
            Some("INVAL"),
        ),
        (
            r"Nodes? (?<nodes>\S+) (?<why>not responding), setting DOWN",
            Some("DOWN"),
        ),
        (
            r"Nodes? (?<nodes>\S+) (?<why>not responding)",
            Some("NOT_RESPONDING"),
        ),
        (
            r"[Nn]ode (?<nodes>\S+) (?<why>not resumed by ResumeTimeout\S*)",
            Some("DOWN"),
        ),
        (
            r"Node (?<nodes>\S+) (?<why>unexpectedly rebooted) boot_time=",
            Some("REBOOTED"),
        ),
        (r"Node (?<nodes>\S+) now responding", Some("RESPONDING")),
        (
            r"node (?<nodes>\S+) returned to service",
            Some("RESPONDING"),
        ),
        (
            r"reboot request queued for nodes (?<nodes>\S+)",
            Some("REBOOT_REQUESTED"),
        ),
        (
            r"(?<why>Prolog/Epilog failure|Prolog error|Epilog error) on nodes? (?<nodes>[^\s,]+)",
            Some("PROLOG_FAILED"),
        ),
        (
            r"(?<why>Prolog or job env setup failure) on node (?<nodes>[^\s,]+), draining",
            Some("PROLOG_FAILED"),
        ),
        (
            r"Prolog launch failure, JobId=(?<job>\d\S*)",
            Some("LAUNCH_FAILED"),
        ),
        (
            // Munge signs each message with the time of who sends it: the clock of the node that is named differs.
            r"\[\[(?<nodes>[\w.-]+)\]:\d+\].*\bauthentication error: (?<why>(?:Rewound|Expired) credential)",
            Some("CREDENTIAL_REFUSED"),
        ),
        (
            r"Killing non-startable batch JobId=(?<job>\S+): (?<why>.+)",
            Some("LAUNCH_FAILED"),
        ),
        (
            r"requeue job JobId=(?<job>\S+) due to failure of node (?<nodes>\S+)",
            Some("NODE_FAIL"),
        ),
        (
            r"Killing JobId=(?<job>\S+) on failed node (?<nodes>\S+)",
            Some("NODE_FAIL"),
        ),
        (
            r"[Tt]ime limit exhausted for JobId=(?<job>\d\S*)",
            Some("TIMEOUT"),
        ),
        (
            r"deadline_ok: JobId=(?<job>\S+) (?<why>.*exceeded deadline .+) and cancelled",
            Some("DEADLINE"),
        ),
        (
            r"preempted JobId=(?<job>\S+) has been (?:requeued|killed|cancell?ed) to reclaim resources for JobId=(?<for>\S+)",
            Some("PREEMPTED"),
        ),
        (
            // `scancel`, or `scancel --signal`: only what comes of it tells the two apart.
            r"REQUEST_KILL_JOB JobId=(?<job>\S+) uid (?<by>\d+)",
            Some("KILL_REQUESTED"),
        ),
        (
            r"_kill_dependent: (?<why>Job dependency can't be satisfied), cancelling JobId=(?<job>\S+)",
            Some("DEPENDENCY_FAILED"),
        ),
        (
            // The job was over by then: what was left of it would not go, or its node could not be tidied up.
            r"slurmd error running JobId=\S+ on node\(s\)=(?<nodes>\S+): (?<why>Kill task failed|.*\b[Ee]pilog\b.*)",
            Some("REASON"),
        ),
        (
            r"slurmd error running JobId=(?<job>\S+) on node\(s\)=(?<nodes>\S+): (?<why>.+)",
            Some("LAUNCH_FAILED"),
        ),
        (
            // The step daemon could not open what the job was told to write to.
            r"\[(?<job>\d+)\.batch\] error: (?<why>Could not open std(?:out|err|in) file .+)",
            Some("FAILED"),
        ),
        (
            r"(?:^Requeuing|_job_complete: requeue) JobId=(?<job>\d\S*)(?: .*\bdue to (?<why>.+))?",
            Some("REQUEUED"),
        ),
        (
            r"_job_complete: JobId=(?<job>\S+) OOM failure",
            Some("OUT_OF_MEMORY"),
        ),
        (
            r"_job_complete: JobId=(?<job>\S+) cancelled by node failure",
            Some("NODE_FAIL"),
        ),
        (
            r"Batch JobId=(?<job>\S+) missing from batch node (?<nodes>\S+)",
            Some("NODE_FAIL"),
        ),
        (
            r"_job_complete: JobId=(?<job>\S+) WTERMSIG (?<signal>\d+)",
            Some("FAILED"),
        ),
        (
            r"_job_complete: JobId=(?<job>\S+) WEXITSTATUS (?<code>[1-9]\d*)",
            Some("FAILED"),
        ),
        // It says so even where a node could not start the job: that goes before.
        (
            r"_job_complete: JobId=(?<job>\S+) WEXITSTATUS (?<code>0)$",
            Some("COMPLETED"),
        ),
        (
            r"sched: Allocate JobId=(?<job>\S+) NodeList=(?<nodes>\S+)",
            Some("RUNNING"),
        ),
        (
            r"_start_job: Started JobId=(?<job>\S+) in \S+ on (?<nodes>\S+)",
            Some("RUNNING"),
        ),
    ];
    patterns
        .iter()
        .filter_map(|(regex, state)| {
            let regex = Regex::new(regex).ok()?;
            Some(Pattern {
                regex,
                state: *state,
            })
        })
        .collect()
});

/// That the daemon of a node begins with a job, or with the first step of it: by the clock of the node, which names its zone
/// where the log is a journal. It is no more than that, and no start of the job.
static LAUNCH: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r"^(?:launch task (?:StepId=)?\d+\.0 request from |Launching batch job \d+ for UID )",
    )
    .ok()
});

/// The facts of a line of `slurmctld` or `slurmd`; one for each node it names.
pub(crate) fn read(line: &Event) -> Vec<Event> {
    let text = line.message.as_deref().unwrap_or_default();
    if LAUNCH.as_ref().is_some_and(|launch| launch.is_match(text)) {
        let mut event = remade(line, "slurm.launch", &[]);
        event.source_kind = line.source_kind;
        return vec![event];
    }
    let found = PATTERNS.iter().find_map(|pattern| {
        let found = pattern.regex.captures(text)?;
        Some((pattern, found))
    });
    let Some((pattern, found)) = found else {
        return Vec::new();
    };
    let get = |name: &str| found.name(name).map(|value| value.as_str());
    let state = pattern.state.or(get("state")).unwrap_or_default();
    let nodes = get("nodes").map(host_list::expand).unwrap_or_default();
    if let Some(job) = get("job") {
        let (job, own) = job::split_own(job);
        let uid = format!("slurm/{job}");
        let mut event = remade(line, "slurm.job", &[&uid, state]);
        event.object_kind = Some("SlurmJob".to_owned());
        event.object_uid = Some(uid);
        event.reason = Some(state.to_owned());
        event.actor = get("by").map(str::to_owned);
        event.exit_code = get("code").and_then(|code| code.parse().ok()).or_else(|| {
            let signal: i32 = get("signal")?.parse().ok()?;
            Some(128 + signal)
        });
        event.entities.node = match nodes.as_slice() {
            [one] => Some(one.clone()),
            _ => None,
        };
        event.set_attribute("job_id", Some(job));
        event.set_attribute("own_id", own);
        let preemptor = get("for").map(|job| job::split_own(job).0);
        event.set_attribute("preemptor", preemptor.map(|job| format!("slurm/{job}")));
        let started = (state == "RUNNING").then(|| crate::time::rfc3339(line.time.lo));
        event.set_attribute("started", started.filter(|_| line.time != Stamp::OPEN));
        event.set_attribute("nodes", (!nodes.is_empty()).then_some(nodes));
        event.set_attribute("said_by", line.attribute("program"));
        return vec![event];
    }
    nodes
        .into_iter()
        .map(|node| {
            let mut event = remade(line, "slurm.node", &[&node, state]);
            event.reason = Some(state.to_ascii_uppercase());
            event.entities.node = Some(node);
            event.actor = get("by").map(str::to_owned);
            event.set_attribute("why", get("why"));
            event.set_attribute("said_by", line.attribute("program"));
            event
        })
        .collect()
}

/// The same line as another fact.
fn remade(line: &Event, fact: &str, parts: &[&str]) -> Event {
    let mut event = line.clone();
    let from = line.id.to_string();
    event.id = EventId::of(&[&[fact, from.as_str()], parts].concat());
    fact.clone_into(&mut event.fact);
    event.source_kind = SourceKind::Slurm;
    event
}

#[cfg(test)]
mod tests {
    use super::*;

    fn emitted(text: &str) -> Vec<(String, String, Option<String>, Option<String>)> {
        let id = EventId::of(&[text]);
        let mut line = Event::new(id, "node.log", Stamp::OPEN, SourceKind::NodeLog);
        line.message = Some(text.to_owned());
        read(&line)
            .into_iter()
            .map(|event| {
                (
                    event.fact,
                    event.reason.unwrap_or_default(),
                    event.entities.node,
                    event.object_uid,
                )
            })
            .collect()
    }

    #[test]
    fn nodes_and_jobs_are_named() {
        let node = |state: &str, node: &str| {
            (
                "slurm.node".to_owned(),
                state.to_owned(),
                Some(node.to_owned()),
                None,
            )
        };
        assert_eq!(
            emitted("error: Nodes n[1-2] not responding, setting DOWN"),
            [node("DOWN", "n1"), node("DOWN", "n2")]
        );
        assert_eq!(
            emitted("update_node: node n1 state set to DRAIN"),
            [node("DRAIN", "n1")]
        );
        assert_eq!(
            emitted("Node n1 now responding"),
            [node("RESPONDING", "n1")]
        );
        assert_eq!(
            emitted("requeue job JobId=7 due to failure of node n1"),
            [(
                "slurm.job".to_owned(),
                "NODE_FAIL".to_owned(),
                Some("n1".to_owned()),
                Some("slurm/7".to_owned())
            )]
        );
        let job = |state: &str, id: &str, node: Option<&str>| {
            let uid = Some(format!("slurm/{id}"));
            (
                "slurm.job".to_owned(),
                state.to_owned(),
                node.map(str::to_owned),
                uid,
            )
        };
        assert_eq!(
            emitted("_job_complete: JobId=6_1(9) WEXITSTATUS 0"),
            [job("COMPLETED", "6_1", None)]
        );
        assert_eq!(
            emitted("sched: Allocate JobId=6 NodeList=n1 #CPUs=4"),
            [job("RUNNING", "6", Some("n1"))]
        );
        assert_eq!(
            emitted(
                "deadline_ok: JobId=8 with time_limit 1 exceeded deadline 2026-11-21T11:00:00 and cancelled"
            ),
            [job("DEADLINE", "8", None)]
        );
        assert_eq!(emitted("_job_complete: JobId=6 done"), []);
        assert_eq!(
            emitted(
                "error: slurm_unpack_received_msg: [[n2]:41022] auth_g_verify: REQUEST_COMPLETE_PROLOG has authentication error: Rewound credential"
            ),
            [node("CREDENTIAL_REFUSED", "n2")]
        );
        assert_eq!(
            emitted(
                "error: slurm_unpack_received_msg: [[n2]:41022] auth_g_verify: REQUEST_PING has authentication error: Unspecified error"
            ),
            []
        );
        assert_eq!(
            emitted("Killing non-startable batch JobId=6: Protocol authentication error"),
            [job("LAUNCH_FAILED", "6", None)]
        );
        assert_eq!(
            emitted("error: Prolog launch failure, JobId=6"),
            [job("LAUNCH_FAILED", "6", None)]
        );
        assert_eq!(
            emitted(
                "validate_node_specs: Prolog or job env setup failure on node n2, draining the node"
            ),
            [node("PROLOG_FAILED", "n2")]
        );
    }

    #[test]
    fn the_number_of_its_own_and_who_took_its_place_are_kept() {
        let text = "preempted JobId=6_1(9) has been requeued to reclaim resources for JobId=12";
        let id = EventId::of(&[text]);
        let mut line = Event::new(id, "node.log", Stamp::OPEN, SourceKind::NodeLog);
        line.message = Some(text.to_owned());
        let event = &read(&line)[0];
        assert_eq!(event.reason.as_deref(), Some("PREEMPTED"));
        assert_eq!(event.object_uid.as_deref(), Some("slurm/6_1"));
        assert_eq!(event.attribute("own_id"), Some("9"));
        assert_eq!(event.attribute("preemptor"), Some("slurm/12"));
    }
}
