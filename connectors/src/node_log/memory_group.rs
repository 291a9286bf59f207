//! Whose control group a line of the kernel, or of the daemon that watches the memory, names.

use std::sync::LazyLock;

use regex::Regex;

use crate::event::Event;

static POD: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"^(?:oom-kill:.*?task_memcg=|Killed /kubepods|cgroup: fork rejected by pids controller in )[^,]*?pod(?<uid>[0-9a-f]{8}[-_][0-9a-f]{4}[-_][0-9a-f]{4}",
        r"[-_][0-9a-f]{4}[-_][0-9a-f]{12}|[0-9a-f]{32})",
    ))
    .ok()
});

static SLURM: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?:task_memcg=|pids controller in )[^,]*/[^,/]*slurm[^,]*?/job_(?<job>\d+)").ok()
});

/// How lines begin that name such a group: of a process that was killed for memory, or that the group may not have.
const BEGIN: [&str; 3] = [
    "oom-kill:",
    "Killed /kubepods",
    "cgroup: fork rejected by pids controller in ",
];

/// Names the pod or the job in whose group a process was killed, or was to be started: the kernel says so, and the daemon that
/// ends what uses too much memory before the kernel has to.
pub(super) fn note(event: &mut Event, of_kernel: bool) {
    if !of_kernel && event.attribute("program") != Some("systemd-oomd") {
        return;
    }
    let Some(text) = event
        .message
        .as_deref()
        .filter(|text| BEGIN.iter().any(|begin| text.starts_with(begin)))
    else {
        return;
    };
    let pod = POD.as_ref().and_then(|pattern| pattern.captures(text));
    let uid = pod.map(|found| found["uid"].replace('_', "-"));
    let job = SLURM.as_ref().and_then(|pattern| pattern.captures(text));
    let job = job.map(|found| found["job"].to_owned());
    event.entities.pod_uid = uid;
    event.set_attribute("slurm_job", job);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{EventId, SourceKind};
    use crate::time::Stamp;

    #[test]
    fn the_memory_group_names_the_pod() {
        let uid = "4c8d3a1b-b39e-4e65-b380-df308968c466";
        for group in [
            format!("/kubepods/burstable/pod{uid}/abc"),
            format!(
                "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{}.slice/cri-containerd-abc.scope",
                uid.replace('-', "_")
            ),
        ] {
            let id = EventId::of(&[&group]);
            let mut event = Event::new(id, "node.log", Stamp::OPEN, SourceKind::NodeLog);
            event.message = Some(format!(
                "oom-kill:constraint=CONSTRAINT_MEMCG,nodemask=(null),oom_memcg=/x,task_memcg={group},task=python3,pid=4711,uid=0"
            ));
            note(&mut event, true);
            assert_eq!(event.entities.pod_uid.as_deref(), Some(uid), "{group}");
        }
        let id = EventId::of(&["pids"]);
        let mut event = Event::new(id, "node.log", Stamp::OPEN, SourceKind::NodeLog);
        event.message = Some(format!(
            "cgroup: fork rejected by pids controller in /kubepods.slice/kubepods-pod{}.slice/cri-containerd-abc.scope",
            uid.replace('-', "_")
        ));
        note(&mut event, true);
        assert_eq!(event.entities.pod_uid.as_deref(), Some(uid));
        let id = EventId::of(&["oomd"]);
        let mut event = Event::new(id, "node.log", Stamp::OPEN, SourceKind::NodeLog);
        event.message = Some(format!(
            "Killed /kubepods.slice/kubepods-pod{}.slice/cri-containerd-abc.scope due to memory pressure for /kubepods.slice being 71.32% > 60.00% for > 20s with reclaim activity",
            uid.replace('-', "_")
        ));
        note(&mut event, false);
        assert_eq!(event.entities.pod_uid, None, "of any other program");
        event.set_attribute("program", Some("systemd-oomd"));
        note(&mut event, false);
        assert_eq!(event.entities.pod_uid.as_deref(), Some(uid));
    }
}
