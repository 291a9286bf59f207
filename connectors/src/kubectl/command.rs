//! The command line above what it printed: what was asked for, and of whom.

use std::sync::LazyLock;

use regex::Regex;

/// What a command prints.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Get,
    Describe,
    Events,
    Logs,
    Date,
    Delete,
    /// A command that is not kubectl's, or one that prints nothing of use.
    Other,
    /// Such a command that by its words prints a log.
    OtherLog,
}

/// A command as it was typed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Command {
    pub(super) verb: Verb,
    /// Kind of the objects asked for.
    pub(super) kind: Option<String>,
    pub(super) names: Vec<String>,
    pub(super) namespace: Option<String>,
    pub(super) all_namespaces: bool,
    pub(super) container: Option<String>,
    pub(super) previous: bool,
}

/// Short names, singulars and plurals of the kinds that people ask for.
const KINDS: &[(&str, &[&str])] = &[
    ("ConfigMap", &["cm", "configmap", "configmaps"]),
    ("CronJob", &["cj", "cronjob", "cronjobs"]),
    ("DaemonSet", &["ds", "daemonset", "daemonsets"]),
    ("Deployment", &["deploy", "deployment", "deployments"]),
    ("Event", &["ev", "event", "events"]),
    ("JAXJob", &["jaxjob", "jaxjobs"]),
    ("Job", &["job", "jobs"]),
    ("JobSet", &["jobset", "jobsets"]),
    (
        "LeaderWorkerSet",
        &["lws", "leaderworkerset", "leaderworkersets"],
    ),
    ("MPIJob", &["mpijob", "mpijobs"]),
    ("Namespace", &["ns", "namespace", "namespaces"]),
    ("Node", &["no", "node", "nodes"]),
    ("PaddleJob", &["paddlejob", "paddlejobs"]),
    (
        "PersistentVolume",
        &["pv", "persistentvolume", "persistentvolumes"],
    ),
    (
        "PersistentVolumeClaim",
        &["pvc", "persistentvolumeclaim", "persistentvolumeclaims"],
    ),
    ("Pod", &["po", "pod", "pods"]),
    ("PodGroup", &["pg", "podgroup", "podgroups"]),
    ("PyTorchJob", &["pytorchjob", "pytorchjobs"]),
    ("RayCluster", &["raycluster", "rayclusters"]),
    ("RayJob", &["rayjob", "rayjobs"]),
    ("RayService", &["rayservice", "rayservices"]),
    ("ReplicaSet", &["rs", "replicaset", "replicasets"]),
    (
        "ReplicationController",
        &["rc", "replicationcontroller", "replicationcontrollers"],
    ),
    (
        "ResourceQuota",
        &["quota", "resourcequota", "resourcequotas"],
    ),
    ("Secret", &["secret", "secrets"]),
    ("Service", &["svc", "service", "services"]),
    (
        "ServiceAccount",
        &["sa", "serviceaccount", "serviceaccounts"],
    ),
    ("StatefulSet", &["sts", "statefulset", "statefulsets"]),
    ("TFJob", &["tfjob", "tfjobs"]),
    ("TrainJob", &["trainjob", "trainjobs"]),
    ("VolcanoJob", &["vcjob", "vj"]),
    ("Workflow", &["wf", "workflow", "workflows"]),
    ("Workload", &["wl", "workload", "workloads"]),
    ("XGBoostJob", &["xgboostjob", "xgboostjobs"]),
];

/// The kind that a word on the command line or in a table stands for; a word
/// that is not known is no kind.
pub(crate) fn kind_of(word: &str) -> Option<&'static str> {
    let lower = word.to_ascii_lowercase();
    let (name, group) = lower.split_once('.').unwrap_or((&lower, ""));
    if name.starts_with("job") && group.contains("volcano.sh") {
        return Some("VolcanoJob");
    }
    KINDS
        .iter()
        .find(|(kind, words)| words.contains(&name) || kind.eq_ignore_ascii_case(name))
        .map(|(kind, _)| *kind)
}

/// What shells print before a command.
static PROMPT: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"^(?:\([\w.:-]+\) ?)?(?:",
        r"\[?[\w.-]+@[\w.-]+[^$#%>]{0,80}[$#%>]",
        r"|➜ +[\w.~/-]{1,80}(?: git:\([^)]*\))?(?: ✗)?",
        r"|(?:[\w.~/-]{1,80} )?[$%❯➜»]",
        r"|PS [^>]{0,120}>",
        r"|(?:bash|sh|zsh)-[\d.]+[$#]",
        r"|[#+]",
        r") +(?<rest>\S.*)$",
    ))
    .ok()
});

/// Words that may stand before the program.
const BEFORE: [&str; 8] = [
    "sudo",
    "time",
    "watch",
    "microk8s",
    "microk8s.kubectl",
    "k3s",
    "minikube",
    "--",
];

/// Reads a line that is a command: one after a shell's prompt, or one of
/// kubectl's alone.
pub(super) fn parse(line: &str) -> Option<Command> {
    let line = line.trim();
    if line.len() > 2_000 {
        return None;
    }
    if let Some(rest) = line.strip_prefix("Command `") {
        return kubectl(rest.split('`').next()?);
    }
    let after = PROMPT
        .as_ref()
        .and_then(|prompt| prompt.captures(line))
        .and_then(|found| found.name("rest"))
        .map(|rest| rest.as_str());
    if let Some(found) = after.or(Some(line)).and_then(kubectl) {
        return Some(found);
    }
    // Other signs stand before much that is no command.
    let before = line.len() - after.map_or(0, str::len);
    let shell = line.starts_with('$') || line[..before].contains('@');
    let rest = after.filter(|_| shell)?;
    Some(Command {
        verb: other(rest),
        kind: None,
        names: Vec::new(),
        namespace: None,
        all_namespaces: false,
        container: None,
        previous: false,
    })
}

fn other(rest: &str) -> Verb {
    let first = rest.split_whitespace().next().unwrap_or_default();
    if first == "date" {
        return Verb::Date;
    }
    let lower = rest.to_ascii_lowercase();
    let word = |word: &str| {
        lower
            .split(|c: char| !c.is_ascii_alphanumeric())
            .any(|one| one == word)
    };
    if word("logs") || word("log") || word("stern") {
        Verb::OtherLog
    } else {
        Verb::Other
    }
}

fn kubectl(text: &str) -> Option<Command> {
    let mut words = text
        .split_whitespace()
        .skip_while(|word| BEFORE.contains(word) || (word.contains('=') && !word.starts_with('-')));
    let program = words.next()?;
    let program = program.rsplit('/').next().unwrap_or(program);
    if !matches!(
        program,
        "kubectl" | "k" | "oc" | "kubecolor" | "kubectl.exe" | "microk8s.kubectl"
    ) {
        return None;
    }
    let mut command = Command {
        verb: Verb::Other,
        kind: None,
        names: Vec::new(),
        namespace: None,
        all_namespaces: false,
        container: None,
        previous: false,
    };
    let mut verb = None;
    let mut plain: Vec<&str> = Vec::new();
    let mut words = words.filter(|word| *word != "--").peekable();
    while let Some(word) = words.next() {
        // What follows is another program's, or a comment.
        if matches!(word, "|" | "||" | "&&" | ";" | ">" | ">>" | "2>&1" | "#") {
            break;
        }
        let (flag, value) = word
            .split_once('=')
            .map_or((word, None), |(flag, value)| (flag, Some(value)));
        let mut value_of = || {
            value
                .map(str::to_owned)
                .or_else(|| words.next().map(str::to_owned))
        };
        match flag {
            "-n" | "--namespace" => command.namespace = value_of(),
            "-A" | "--all-namespaces" => command.all_namespaces = true,
            "-c" | "--container" => command.container = value_of(),
            "-p" | "--previous" => command.previous = value != Some("false"),
            "--for" => {
                let object = value_of();
                plain.extend(object.as_deref().map(|_| "--for"));
                if let Some((kind, name)) = object.as_deref().and_then(|text| text.split_once('/')) {
                    command.kind = kind_of(kind).map(str::to_owned);
                    command.names.push(name.to_owned());
                }
            }
            "-o" | "--output" | "-l" | "--selector" | "--context" | "--cluster" | "--kubeconfig"
            | "--tail" | "--since" | "--since-time" | "--sort-by" | "--field-selector" | "-L"
            | "--label-columns" | "-f" | "--filename" | "--limit-bytes" | "--user" | "--types"
            | "--max-log-requests" | "--token" | "--server" | "-s" | "--request-timeout"
                // `logs -f` follows, and takes no value.
                if !(flag == "-f" && verb == Some("logs")) =>
            {
                let _value = value_of();
            }
            _ if flag.starts_with("-n") && flag.len() > 2 && !flag.starts_with("--") => {
                command.namespace = Some(flag[2..].to_owned());
            }
            _ if flag.starts_with('-') => {}
            _ if verb.is_none() => verb = Some(flag),
            _ => plain.push(word),
        }
    }
    plain.retain(|word| *word != "--for");
    command.verb = match verb? {
        "get" => Verb::Get,
        "describe" => Verb::Describe,
        "events" => Verb::Events,
        "logs" | "log" => Verb::Logs,
        "delete" => Verb::Delete,
        _ => Verb::Other,
    };
    objects(&mut command, &plain);
    Some(command)
}

/// `pod/a`, `pod a b`, and for logs the pod alone.
fn objects(command: &mut Command, plain: &[&str]) {
    let mut rest = plain;
    let slashed = plain.first().is_some_and(|word| word.contains('/'));
    if command.verb == Verb::Logs {
        match plain.first().and_then(|word| word.split_once('/')) {
            Some((kind, name)) => {
                command.kind = kind_of(kind).map(str::to_owned);
                command.names.push(name.to_owned());
            }
            None => {
                command.kind = Some("Pod".to_owned());
                command
                    .names
                    .extend(plain.first().map(|name| (*name).to_owned()));
            }
        }
        if let Some(container) = plain.get(1) {
            command
                .container
                .get_or_insert_with(|| (*container).to_owned());
        }
        return;
    }
    if !matches!(command.verb, Verb::Get | Verb::Describe) {
        return;
    }
    if !slashed && let Some((first, after)) = plain.split_first() {
        command.kind = kind_of(first).map(str::to_owned);
        rest = after;
    }
    for word in rest {
        let (kind, name) = word
            .split_once('/')
            .map_or((None, *word), |(kind, name)| (kind_of(kind), name));
        if let Some(kind) = kind {
            command.kind = Some(kind.to_owned());
        }
        command.names.push(name.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompts_of_shells_are_known() {
        for prompt in [
            "$ ",
            "# ",
            "+ ",
            "user@host:~$ ",
            "[root@gpu-7 ~]# ",
            "➜  ~ ",
            "❯ ",
            "~ % ",
            "PS C:\\Users\\ada> ",
            "(base) ada@box:~/x$ ",
            "",
            "$ sudo k3s ",
            "bash-5.1# ",
            "$ KUBECONFIG=/x ",
        ] {
            let line = format!("{prompt}kubectl describe pod run-0 -n lab");
            let command = parse(&line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(command.verb, Verb::Describe, "{line}");
            assert_eq!(command.kind.as_deref(), Some("Pod"), "{line}");
            assert_eq!(command.names, ["run-0"], "{line}");
            assert_eq!(command.namespace.as_deref(), Some("lab"), "{line}");
        }
    }

    #[test]
    fn flags_are_told_from_names() {
        let logs = parse("$ kubectl -n lab logs -f run-0 -c trainer --previous --tail 50").unwrap();
        assert_eq!(logs.verb, Verb::Logs);
        assert_eq!(logs.names, ["run-0"]);
        assert_eq!(logs.container.as_deref(), Some("trainer"));
        assert!(logs.previous);
        let job = parse("k logs job/run --namespace=lab").unwrap();
        assert_eq!(
            (job.kind.as_deref(), job.names.as_slice()),
            (Some("Job"), &["run".to_owned()][..])
        );
        let get = parse("$ kubectl get pods -A -o wide | grep run").unwrap();
        assert!(get.all_namespaces && get.names.is_empty());
        let events = parse("$ kubectl events --for pod/run-0 -nlab").unwrap();
        assert_eq!(
            (events.verb, events.names.as_slice()),
            (Verb::Events, &["run-0".to_owned()][..])
        );
        assert_eq!(events.namespace.as_deref(), Some("lab"));
        let failed =
            parse("Command `kubectl logs run-0 -n lab` failed with return code 1").unwrap();
        assert_eq!(failed.names, ["run-0"]);
        assert_eq!(kind_of("pytorchjobs.kubeflow.org"), Some("PyTorchJob"));
        assert_eq!(kind_of("jobs.batch.volcano.sh"), Some("VolcanoJob"));
    }

    #[test]
    fn other_commands_are_told_by_their_prompt() {
        assert_eq!(parse("$ date -u").unwrap().verb, Verb::Date);
        assert_eq!(parse("$ stern run").unwrap().verb, Verb::OtherLog);
        assert_eq!(parse("$ nvidia-smi").unwrap().verb, Verb::Other);
        for line in [
            "# what we saw",
            "kubectl",
            "the kubectl get pods shows",
            "+ 3 more",
            "",
            "100% done",
            "% Total    % Received % Xferd  Average Speed",
        ] {
            assert_eq!(parse(line), None, "{line}");
        }
    }
}
