//! A line of `kubectl get pods`.

use std::sync::LazyLock;

use regex::Regex;

use super::age::Age;
use super::table::Row;

/// What a line says of a pod.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PodRow {
    pub(super) namespace: Option<String>,
    pub(super) name: String,
    pub(super) ready: u32,
    pub(super) wanted: u32,
    pub(super) status: String,
    pub(super) restarts: u64,
    /// How long ago a container last ended.
    pub(super) restarted: Option<Age>,
    pub(super) age: Option<Age>,
    pub(super) node: Option<String>,
    /// The line it stands on.
    pub(super) line: u64,
    /// `a=b,c=d`
    pub(super) labels: Option<String>,
}

static SHAPE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"^ *(?:(?<namespace>[a-z0-9][a-z0-9-]*) +)?(?<name>[a-z0-9][a-z0-9.-]*)",
        r" +(?<ready>\d{1,4}/\d{1,4}) +(?<status>[A-Z][\w:./-]*)",
        r" +(?<restarts>\d{1,9}(?: \(\w+ ago\))?) +(?<age>\d+[a-z]\w*|<unknown>|<invalid>)(?<rest> .*)?$",
    ))
    .ok()
});

/// Reads a line whose heading was cut off.
pub(super) fn parse(text: &str) -> Option<PodRow> {
    let found = SHAPE.as_ref()?.captures(text)?;
    let get = |name: &str| found.name(name).map(|part| part.as_str());
    let rest: Vec<&str> = get("rest").unwrap_or_default().split_whitespace().collect();
    let labels = rest.last().filter(|word| word.contains('='));
    // The address stands before the node.
    let node = rest
        .get(1)
        .filter(|_| {
            rest.first()
                .is_some_and(|word| word.contains(['.', ':']) || *word == "<none>")
        })
        .filter(|word| **word != "<none>" && !word.contains('='));
    let mut row = read(
        get("name")?,
        get("ready")?,
        get("status")?,
        get("restarts")?,
    )?;
    row.namespace = get("namespace").map(str::to_owned);
    row.age = get("age").and_then(Age::parse);
    row.node = node.map(|word| (*word).to_owned());
    row.labels = labels.map(|word| (*word).to_owned());
    Some(row)
}

/// Reads a row of a table.
pub(super) fn of(row: &Row<'_>) -> Option<PodRow> {
    let name = row.get("NAME")?;
    let name = name.rsplit_once('/').map_or(name, |(_, name)| name);
    let restarts = row.get("RESTARTS").unwrap_or("0");
    let mut read = read(name, row.get("READY")?, row.get("STATUS")?, restarts)?;
    read.namespace = row.get("NAMESPACE").map(str::to_owned);
    read.age = row.get("AGE").and_then(Age::parse);
    read.node = row.get("NODE").map(str::to_owned);
    read.labels = row.get("LABELS").map(str::to_owned);
    Some(read)
}

fn read(name: &str, ready: &str, status: &str, restarts: &str) -> Option<PodRow> {
    let (ready, wanted) = ready.split_once('/')?;
    let (number, ago) = restarts
        .split_once(" (")
        .map_or((restarts, None), |(number, ago)| {
            (number, ago.strip_suffix(" ago)"))
        });
    Some(PodRow {
        name: name.to_owned(),
        ready: ready.parse().ok()?,
        wanted: wanted.parse().ok()?,
        status: status.to_owned(),
        restarts: number.parse().ok()?,
        restarted: ago.and_then(Age::parse),
        ..PodRow::default()
    })
}

/// What a word in the column STATUS means for the pod.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StatusMeaning {
    /// Its phase, and nothing more.
    Phase(&'static str),
    /// The pod as a whole ended, and this is why.
    Ended,
    /// A container ended; the pod may go on.
    Exited,
    /// A container waits, and this is why.
    Waits,
    Terminating,
    Unknown,
}

/// Reads a word of the column STATUS. Words of init containers come after `Init:`.
pub(super) fn means(status: &str) -> StatusMeaning {
    let word = status.strip_prefix("Init:").unwrap_or(status);
    match word {
        "Running" | "NotReady" => StatusMeaning::Phase("Running"),
        "Completed" | "Succeeded" => StatusMeaning::Phase("Succeeded"),
        "Pending" | "SchedulingGated" | "ContainerCreating" | "PodInitializing" => {
            StatusMeaning::Phase("Pending")
        }
        "Failed" => StatusMeaning::Phase("Failed"),
        "Terminating" => StatusMeaning::Terminating,
        "Unknown" => StatusMeaning::Unknown,
        "Evicted"
        | "DeadlineExceeded"
        | "NodeShutdown"
        | "Shutdown"
        | "NodeLost"
        | "Terminated"
        | "UnexpectedAdmissionError"
        | "NodeAffinity"
        | "Preempting"
        | "TopologyAffinityError"
        | "PreemptionByScheduler" => StatusMeaning::Ended,
        _ if word.starts_with("OutOf") => StatusMeaning::Ended,
        "Error" | "OOMKilled" | "ContainerCannotRun" | "StartError" | "ContainerStatusUnknown" => {
            StatusMeaning::Exited
        }
        _ if word.starts_with("ExitCode:") || word.starts_with("Signal:") => StatusMeaning::Exited,
        // `Init:1/3`: so many of them are done.
        _ if word != status && word.contains('/') => StatusMeaning::Phase("Pending"),
        _ if word.starts_with(|c: char| c.is_ascii_uppercase())
            && (word.contains("BackOff")
                || word.starts_with("Err")
                || word.contains("Error")
                || word == "InvalidImageName"
                || word == "ImageInspectError") =>
        {
            StatusMeaning::Waits
        }
        _ => StatusMeaning::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_without_its_heading_is_read() {
        let row = parse("lab      run-0-x7k2p     0/1     CrashLoopBackOff   5 (8s ago)   12m   10.2.0.7   gpu-7   <none>   <none>   app=run,x=y").unwrap();
        assert_eq!(
            (row.namespace.as_deref(), row.name.as_str()),
            (Some("lab"), "run-0-x7k2p")
        );
        assert_eq!((row.ready, row.wanted, row.restarts), (0, 1, 5));
        assert_eq!(row.restarted, Age::parse("8s"));
        assert_eq!(row.node.as_deref(), Some("gpu-7"));
        assert_eq!(row.labels.as_deref(), Some("app=run,x=y"));
        let bare = parse("run-0   1/1   Running   0   3m").unwrap();
        assert_eq!((bare.namespace, bare.node), (None, None));
        for text in [
            "run  0/1  1  0  35s  c  nginx",
            "epoch 3/10 Loss 5 3m",
            "",
            "a 1/2 B",
            "step 99999999/5 Done 1 2s",
        ] {
            assert_eq!(
                parse(text)
                    .map(|row| row.status)
                    .filter(|word| word != "Loss"),
                None,
                "{text}"
            );
        }
    }

    #[test]
    fn words_are_told_apart() {
        assert_eq!(means("ImagePullBackOff"), StatusMeaning::Waits);
        assert_eq!(means("Init:CrashLoopBackOff"), StatusMeaning::Waits);
        assert_eq!(means("Init:0/2"), StatusMeaning::Phase("Pending"));
        assert_eq!(means("CreateContainerConfigError"), StatusMeaning::Waits);
        assert_eq!(means("OOMKilled"), StatusMeaning::Exited);
        assert_eq!(means("Evicted"), StatusMeaning::Ended);
        assert_eq!(means("OutOfnvidia.com/gpu"), StatusMeaning::Ended);
        assert_eq!(means("whatever"), StatusMeaning::Unknown);
    }
}
