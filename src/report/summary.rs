//! What happened, in a sentence.

use std::collections::BTreeSet;

use whathappened_core::death::DeathState;
use whathappened_core::describe::describe;
use whathappened_core::graph::{Fact, Task, TaskKind, TaskRow};
use whathappened_core::signals::named;
use whathappened_core::symbols::Symbol;
use whathappened_model::event::Event;
use whathappened_model::time::{Nanos, SECOND};

use super::context::{ReportContext, is_announced_only};
use super::helper_container::other_container;
use super::workload_change::{CHANGED, resized, went_along};
use crate::answer::Actor;
use crate::explain::gang::{Finding, NO_RUN};

impl ReportContext<'_> {
    /// The sentence of a rule with its places filled.
    pub(super) fn fill(
        &self,
        template: &str,
        event: &Event,
        root: Option<&Fact>,
        finding: &Finding,
        who: Option<&Actor>,
        unseen: bool,
    ) -> String {
        if finding.run == NO_RUN {
            return self.of_machine(event, finding);
        }
        self.fill_places(template, event, root, finding, who, unseen)
    }

    fn fill_places(
        &self,
        template: &str,
        event: &Event,
        root: Option<&Fact>,
        finding: &Finding,
        who: Option<&Actor>,
        unseen: bool,
    ) -> String {
        let graph = self.graph();
        let first = finding.first.first().and_then(|death| self.death(*death));
        let pod = first.and_then(|first| graph.pods.get(first.pod));
        let run = self.case.runs.get(finding.run);
        let workload = run.map_or("", |run| run.names(graph).3);
        // The run itself had been started.
        let another = format!("another pod of {workload}");
        let workload = match self.is_for_another(finding) {
            true => another.as_str(),
            false => workload,
        };
        let named = pod.map(|pod| {
            let known = [pod.name, pod.uid].map(|name| graph.name(name).to_owned());
            let mut known = known.into_iter().filter(|name| !name.is_empty());
            known.next().unwrap_or_else(|| "an unnamed pod".to_owned())
        });
        // A batch job bears a number.
        let is_job = pod.is_some_and(|pod| pod.kind == TaskKind::Job);
        let named = named.map(|name| if is_job { format!("job {name}") } else { name });
        // What is said of one machine is said of those that were on it.
        let elsewhere = match (&event.entities.node, template.contains("{node}")) {
            (node, true) => self.elsewhere(finding, node.as_deref(), pod),
            _ => 0,
        };
        let victims = self.pods_of(finding).len().saturating_sub(elsewhere);
        let helper = first
            .zip(pod)
            .and_then(|(end, pod)| other_container(graph, end, pod));
        let name = match (named, victims) {
            (Some(pod), 0 | 1) => match helper {
                Some(container) => format!("the {container} of {pod}"),
                None => pod,
            },
            (Some(pod), many) => format!("{pod} and {} more", many - 1),
            (None, _) if workload.is_empty() => "the run".to_owned(),
            (None, _) => workload.to_owned(),
        };
        let instance = pod.is_some_and(|pod| pod.kind == TaskKind::Instance);
        // Of a helper its container is named already.
        let of_helper =
            name.starts_with("the container ") || name.starts_with("the init container ");
        let template = if of_helper {
            template.replace("a container of {pod}", "{pod}")
        } else if instance {
            // It was on no machine: it is one.
            template
                .replace("; {pod} {was} on it", "")
                .replace(" while {pod} {was} on it", "")
                .replace("The machine of {pod}", "{pod}")
        } else {
            template.to_owned()
        };
        let template = match root {
            Some(root) => went_along(&template, root, pod, graph),
            None => template,
        };
        // What was changed of its size is known to be that.
        let template = match root.and_then(|root| resized(graph, root)) {
            Some((from, to)) => {
                template.replace(CHANGED, &format!(" was scaled from {from} to {to}{{by}}"))
            }
            None => template,
        };
        // Of a file in a machine's folder the record does not name it.
        let of_root = root.filter(|root| root.node.is_some());
        let of_root = of_root.map(|root| graph.name(root.node).to_owned());
        let node = event.entities.node.clone().or(of_root).or_else(|| {
            let pod = pod?;
            match pod.more_nodes.len() {
                0 => Some(graph.name(pod.node).to_owned()).filter(|node| !node.is_empty()),
                // Which of them it was, this record does not say.
                more => Some(format!("one of its {} nodes", more + 1)),
            }
        });
        let on_it = ["; {pod} {was} on it", " while {pod} {was} on it"];
        let (template, node) = match node {
            Some(node) => (template, node),
            // Of a node that no record names, its pod says which it is.
            None if on_it.iter().any(|words| template.contains(words)) => {
                let rest = on_it
                    .iter()
                    .fold(template, |text, words| text.replace(words, ""));
                (rest, format!("the node of {name}"))
            }
            None => (template, "its node".to_owned()),
        };
        // What befell the machine of another member befell that one.
        let (name, victims) = if on_it.iter().any(|words| template.contains(words)) {
            let elsewhere = root.zip(pod).filter(|(root, pod)| {
                root.node.is_some()
                    && pod.node.is_some()
                    && !pod.machines().any(|one| one == root.node)
            });
            let member = elsewhere.and_then(|(root, _)| self.member_on(finding, root.node));
            match member {
                Some(member) => (graph.name(member.name).to_owned(), 1),
                None => (name, victims),
            }
        } else {
            (name, victims)
        };
        // Of several records of one act, one may name for whom it was done.
        let twin = || {
            let facts = self.facts_of(first?.pod);
            facts
                .filter(|fact| Some(fact.signal) == root.map(|root| root.signal))
                .find(|fact| fact.other.is_some())
        };
        let named = root.filter(|root| root.other.is_some()).or_else(twin);
        let other = named.and_then(|fact| graph.pods.get(fact.other));
        let other_name = other.map(|other| {
            let run = graph
                .workloads
                .get(other.root)
                .map(|one| graph.name(one.name));
            match run {
                Some(run) => format!("{} of {run}", graph.name(other.name)),
                None => graph.name(other.name).to_owned(),
            }
        });
        let by = match who {
            Some(who) if who.is_owner => format!(" by {}, who owns the run", who.name),
            Some(who) => format!(" by {}", who.name),
            None if unseen => " by an unknown actor".to_owned(),
            None => String::new(),
        };
        let code = first
            .and_then(|first| first.exit_code)
            .map(|code| code.to_string())
            // Of one of its processes the record tells it.
            .or_else(|| event.attribute("code").map(str::to_owned));
        let template = match victims {
            0 | 1 => template,
            // Of several pods a sentence speaks as of several.
            _ => template
                .replace("{pod} is ", "{pod} are ")
                .replace("{pod} needs ", "{pod} need "),
        };
        let filled = template
            .replace("{pod}", &name)
            .replace("{was}", if victims > 1 { "were" } else { "was" })
            .replace("{node}", &node)
            .replace(
                "{other}",
                other_name
                    .as_deref()
                    .or(event.attribute("preemptor"))
                    .unwrap_or(if is_job { "another job" } else { "another pod" }),
            )
            .replace("{workload}", workload)
            .replace("{by}", &by)
            .replace("{detail}", root.map_or("", |root| graph.name(root.detail)))
            .replace("{exit_code}", code.as_deref().unwrap_or("unknown"))
            .replace("{message}", &describe(event));
        let filled = begun(&filled);
        match elsewhere {
            0 => filled,
            1 => format!(
                "{} The same happened to one more, on another machine.",
                full_stop(&filled)
            ),
            many => format!(
                "{} The same happened to {many} more, on other machines.",
                full_stop(&filled)
            ),
        }
    }

    /// The member of a finding's attempt that was on a machine.
    fn member_on(&self, finding: &Finding, machine: Symbol) -> Option<&Task> {
        let graph = self.graph();
        let attempt = self.case.runs.get(finding.run)?.attempt(finding.attempt)?;
        let mut members = attempt.pods.iter().filter_map(|pod| graph.pods.get(*pod));
        members.find(|member| member.machines().any(|one| one == machine))
    }

    /// The pods that an incident ended: one that ended again and again is one.
    fn pods_of(&self, finding: &Finding) -> BTreeSet<Option<TaskRow>> {
        let victims = finding.victims.iter();
        victims
            .filter_map(|death| Some(self.death(*death)?.pod))
            .collect()
    }

    /// How many victims were on other machines than the one that a sentence names.
    fn elsewhere(&self, finding: &Finding, node: Option<&str>, first: Option<&Task>) -> usize {
        let graph = self.graph();
        let named = node.or_else(|| first.map(|first| graph.name(first.node)));
        let Some(named) = named.filter(|named| !named.is_empty()) else {
            return 0;
        };
        let first_is_there = first.is_some_and(|first| graph.name(first.node) == named);
        let pods = self.pods_of(finding);
        let others = pods.iter().filter(|pod| {
            graph.pods.get(**pod).is_some_and(|pod| {
                pod.node.is_some() && pod.more_nodes.is_empty() && graph.name(pod.node) != named
            })
        });
        if first_is_there { others.count() } else { 0 }
    }

    /// An advice of a rule with its places filled; of a machine that hurt nobody in general
    /// words.
    pub(super) fn advise(
        &self,
        template: &str,
        event: &Event,
        root: Option<&Fact>,
        finding: &Finding,
        who: Option<&Actor>,
    ) -> String {
        const NO_FAULT: &str = "; there is no sign of a fault";
        if template.contains(NO_FAULT) && self.has_other_faults(finding) {
            return self.advise(&template.replace(NO_FAULT, ""), event, root, finding, who);
        }
        if !template.contains('{') {
            return template.to_owned();
        }
        if finding.run != NO_RUN {
            return self.fill_places(template, event, root, finding, who, false);
        }
        let node = event.entities.node.as_deref().unwrap_or("the machine");
        template
            .replace("{pod}", "the pod")
            .replace("{was}", "was")
            .replace("{node}", node)
            .replace("{other}", "another pod")
            .replace("{workload}", "the run")
            .replace("{by}", "")
            .replace(
                "{detail}",
                root.map_or("", |root| self.graph().name(root.detail)),
            )
            .replace("{exit_code}", "its exit code")
            .replace("{message}", &describe(event))
    }

    /// Whether a kernel or a GPU of a machine of the first victim complained in the hour before its end.
    fn has_other_faults(&self, finding: &Finding) -> bool {
        const BEFORE: Nanos = 3_600 * SECOND;
        let graph = self.graph();
        let first = finding.first.first().and_then(|death| self.death(*death));
        let Some((death, pod)) = first.and_then(|first| Some((first, graph.pods.get(first.pod)?)))
        else {
            return false;
        };
        let complaints = pod.machines().flat_map(|machine| self.complaints(machine));
        complaints
            .map(|complaint| death.time.hi.saturating_sub(*complaint))
            .any(|before| (0..=BEFORE).contains(&before))
    }

    /// What happened to a machine and nobody that is known of.
    fn of_machine(&self, event: &Event, finding: &Finding) -> String {
        let title = finding
            .candidate
            .as_ref()
            .and_then(|candidate| self.rule(candidate))
            .map_or("", |rule| rule.title.as_str());
        let names = &event.entities;
        let machine = names.node.as_ref().or(names.instance.as_ref());
        let machine = machine.or(names.host.as_ref());
        let unnamed = || match &*event.origin.file {
            "" | "-" => "a machine that the input does not name".to_owned(),
            file => {
                let file = file.rsplit(['/', '\\']).next().unwrap_or(file);
                format!("a machine that {file} does not identify")
            }
        };
        let machine = machine.map_or_else(unnamed, Clone::clone);
        let root = finding
            .candidate
            .as_ref()
            .and_then(|one| self.fact(one.root()));
        let down =
            root.is_some_and(|root| self.graph().name(root.signal) == named::K8S_NODE_NOT_READY);
        // Nothing but nodes was given: how they are now is what was asked.
        if down && self.graph().pods.is_empty() {
            return format!(
                "{machine} is not ready: {}.",
                describe(event).trim_end_matches(['.', ';', ',', ' '])
            );
        }
        if is_announced_only(self.graph(), finding) {
            let sentence = describe(event);
            let sentence = sentence.trim_end_matches(['.', ';', ',', ' ']);
            let stop = if sentence.ends_with('…') { "" } else { "." };
            return format!(
                "Maintenance of {machine} was announced, and nothing shows that it took place: {sentence}{stop}"
            );
        }
        // A service with a limit of its own says nothing of the machine's memory.
        let machine = match event.attribute("service") {
            Some(service) => format!("{service} on {machine}"),
            None => machine,
        };
        format!(
            "{title} ({machine}): {}. No victims are known.",
            describe(event).trim_end_matches(['.', ';', ',', ' '])
        )
    }

    /// What is known of a death that nothing explains.
    pub(super) fn unexplained(&self, finding: &Finding) -> String {
        let victims = self.victims(finding, &finding.victims);
        let Some(first) = victims.first() else {
            let workload = self
                .case
                .runs
                .get(finding.run)
                .map_or("it", |run| run.names(self.graph()).3);
            if !finding.collateral.is_empty() && finding.recovered {
                return match finding.collateral.len() {
                    1 => format!(
                        "A pod of {workload} was deleted by its controller; nothing in the input shows why."
                    ),
                    many => format!(
                        "{many} pods of {workload} were deleted by their controller; nothing in the input shows why."
                    ),
                };
            }
            if !finding.collateral.is_empty() && self.failures(finding).next().is_none() {
                return format!(
                    "The pods of {workload} were deleted by their controller; nothing in the input shows why."
                );
            }
            if !finding.collateral.is_empty() {
                return format!(
                    "{workload} failed and the rest of its pods were deleted; the input does not show which of them failed first, or why."
                );
            }
            let state = finding.victims.first().and_then(|death| self.death(*death));
            match state.map(|death| death.state) {
                Some(DeathState::Failed) => {
                    return format!(
                        "{workload} failed; its pods are gone, and nothing in the input shows how they ended."
                    );
                }
                Some(DeathState::Deleted) => {
                    return format!(
                        "{workload} was deleted; nothing in the input shows who wanted that, or why."
                    );
                }
                Some(DeathState::ScaledToZero) => {
                    return format!(
                        "{workload} is scaled to zero; nothing in the input shows who did it."
                    );
                }
                _ => {}
            }
            return format!("{workload} never got a pod, and nothing in the input shows why.");
        };
        let death = finding.victims.first().and_then(|death| self.death(*death));
        let pod = death.and_then(|death| self.graph().pods.get(death.pod));
        let job = match pod {
            Some(pod) if pod.kind == TaskKind::Job => "Job ",
            _ => "",
        };
        match death.and_then(|death| self.symptom(finding, death)) {
            Some(symptom) => format!("{job}{} {symptom}", first.pod),
            None => {
                let other = death.zip(pod);
                let other =
                    other.and_then(|(death, pod)| other_container(self.graph(), death, pod));
                let who = match other {
                    Some(container) => format!("The {container} of {}", first.pod),
                    None => format!("{job}{}", first.pod),
                };
                format!("{who} {}; nothing in the input shows why.", first.how)
            }
        }
    }
}

/// A text whose sentences begin with a capital letter where they begin with words of ours;
/// names and what records say stay as they are.
fn begun(text: &str) -> String {
    const OURS: [&str; 9] = [
        "an unnamed pod",
        "its node",
        "job ",
        "one of its ",
        "the container ",
        "the init container ",
        "the job ",
        "the node of ",
        "the run",
    ];
    let parts = text.split(". ").map(|part| {
        let capital = part.chars().next().map(|first| first.to_ascii_uppercase());
        match capital.zip(part.get(1..)) {
            Some((capital, rest)) if OURS.iter().any(|ours| part.starts_with(ours)) => {
                format!("{capital}{rest}")
            }
            _ => part.to_owned(),
        }
    });
    parts.collect::<Vec<_>>().join(". ")
}

/// A sentence with its full stop.
pub(super) fn full_stop(text: &str) -> String {
    format!("{}.", text.trim_end().trim_end_matches('.'))
}
