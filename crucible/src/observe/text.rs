//! A person's session of kubectl, as text: what somebody pastes into a ticket.

use serde_json::Value;

use super::files::{File, Record};
use super::lists::snapshot;
use super::text_parts::{container, init_container, pairs, pod_status, text, time};
use crate::case::Case;
use crate::time::Time;
use crate::world::{Kind, Rev, Tag};

/// What somebody would have printed: pods, descriptions, Events and nodes of the namespace
/// of the run that is asked for.
pub(super) fn session(case: &Case, files: &mut Vec<File>) {
    let Some(load) = case.world.loads.first() else {
        return;
    };
    let namespace = load.plan.namespace.clone();
    let found = snapshot(case, case.now);
    let of = |kind: Kind| -> Vec<&Rev> {
        let mut revs: Vec<&Rev> = found
            .iter()
            .copied()
            .filter(|rev| {
                rev.key.kind == kind
                    && (rev.key.namespace == namespace || rev.key.namespace.is_empty())
            })
            .collect();
        revs.sort_by(|a, b| a.key.name.cmp(&b.key.name));
        revs
    };
    let events: Vec<&Rev> = found
        .iter()
        .copied()
        .filter(|rev| rev.key.kind == Kind::Event)
        .collect();
    let mut file = File::lines("text", "session.txt");
    let mut page = Page {
        file: &mut file,
        now: case.now,
    };
    page.line(
        &format!("$ date -u +%Y-%m-%dT%H:%M:%SZ\n{}", case.now.secs()),
        &[],
        None,
    );
    page.line(
        &format!("$ kubectl get pods -n {namespace} -o wide"),
        &[],
        None,
    );
    page.line(
        "NAME   READY   STATUS   RESTARTS   AGE   IP   NODE   NOMINATED NODE   READINESS GATES",
        &[],
        None,
    );
    for rev in of(Kind::Pod) {
        page.pod_row(rev);
    }
    for rev in of(Kind::Pod) {
        page.describe_pod(rev, &namespace, &events);
    }
    for rev in of(Kind::Job) {
        page.describe_job(rev, &namespace, &events);
    }
    for rev in [Kind::Deployment, Kind::StatefulSet, Kind::ReplicaSet]
        .into_iter()
        .flat_map(of)
    {
        page.describe_set(rev, &namespace, &events);
    }
    for rev in [Kind::JobSet, Kind::PyTorchJob].into_iter().flat_map(of) {
        page.describe_other(rev, &namespace, &events);
    }
    page.line("$ kubectl get nodes", &[], None);
    page.line("NAME   STATUS   ROLES   AGE   VERSION", &[], None);
    for rev in of(Kind::Node) {
        page.node_row(rev);
    }
    page.line(&format!("$ kubectl get events -n {namespace}"), &[], None);
    page.line("LAST SEEN   TYPE   REASON   OBJECT   MESSAGE", &[], None);
    for rev in events.iter().filter(|rev| rev.key.namespace == namespace) {
        page.event_row(rev);
    }
    files.push(file);
}

struct Page<'a> {
    file: &'a mut File,
    now: Time,
}

fn uid(rev: &Rev) -> &str {
    &rev.key.uid
}

impl Page<'_> {
    fn line(&mut self, text: &str, tags: &[Tag], about: Option<&str>) {
        let record = Record::new(text, tags);
        self.file.records.push(match about {
            Some(uid) => record.about(uid),
            None => record,
        });
    }

    fn age(&self, time: Option<Time>) -> String {
        time.map_or_else(|| "<unknown>".to_owned(), |time| time.age(self.now))
    }

    fn pod_row(&mut self, rev: &Rev) {
        let pod = &*rev.object;
        let container = &pod["status"]["containerStatuses"][0];
        let mut restarts = container["restartCount"].as_i64().unwrap_or(0);
        let status = pod_status(pod);
        let mut ready = i32::from(container["ready"].as_bool() == Some(true));
        let mut all = 1;
        let before = pod["status"]["initContainerStatuses"].as_array();
        for one in before.into_iter().flatten() {
            // One that runs beside the program counts with it.
            if one["name"] == "log-shipper" {
                all += 1;
                ready += i32::from(one["ready"] == true);
                restarts += one["restartCount"].as_i64().unwrap_or(0);
            }
        }
        let age = self.age(time(pod, "/metadata/creationTimestamp"));
        let node = pod["spec"]["nodeName"].as_str().unwrap_or("<none>");
        let line = format!(
            "{}   {ready}/{all}   {status}   {restarts}   {age}   <none>   {node}   <none>   <none>",
            rev.key.name
        );
        self.line(&line, &rev.tags, Some(uid(rev)));
    }

    fn describe_pod(&mut self, rev: &Rev, namespace: &str, events: &[&Rev]) {
        let pod = &*rev.object;
        let mut out = vec![
            format!("$ kubectl describe pod {} -n {namespace}", rev.key.name),
            format!("Name:             {}", rev.key.name),
            format!("Namespace:        {namespace}"),
            format!("Priority:         {}", pod["spec"]["priority"]),
            format!(
                "Service Account:  {}",
                text(pod, "/spec/serviceAccountName")
            ),
        ];
        let node = text(pod, "/spec/nodeName");
        if node.is_empty() {
            out.push("Node:             <none>".to_owned());
        } else {
            out.push(format!(
                "Node:             {node}/{}",
                text(pod, "/status/hostIP")
            ));
        }
        if let Some(started) = time(pod, "/status/startTime") {
            out.push(format!(
                "Start Time:       {}",
                started.format("%a, %d %b %Y %H:%M:%S %z", 0)
            ));
        }
        out.push(pairs("Labels:           ", &pod["metadata"]["labels"]));
        out.push(pairs("Annotations:      ", &pod["metadata"]["annotations"]));
        match time(pod, "/metadata/deletionTimestamp") {
            Some(until) => {
                out.push(format!(
                    "Status:                    Terminating (lasts {})",
                    until.age(self.now)
                ));
                out.push(format!(
                    "Termination Grace Period:  {}s",
                    pod["metadata"]["deletionGracePeriodSeconds"]
                ));
            }
            None => out.push(format!("Status:           {}", text(pod, "/status/phase"))),
        }
        for (name, path) in [
            ("Reason:           ", "/status/reason"),
            ("Message:          ", "/status/message"),
        ] {
            if !text(pod, path).is_empty() {
                out.push(format!("{name}{}", text(pod, path)));
            }
        }
        if let Some(owner) = pod.pointer("/metadata/ownerReferences/0") {
            out.push(format!(
                "Controlled By:  {}/{}",
                text(owner, "/kind"),
                text(owner, "/name")
            ));
        }
        init_container(&mut out, pod);
        container(&mut out, pod);
        out.push("Conditions:".to_owned());
        out.push("  Type                        Status".to_owned());
        for one in pod["status"]["conditions"].as_array().into_iter().flatten() {
            out.push(format!(
                "  {:<27} {} ",
                text(one, "/type"),
                text(one, "/status")
            ));
        }
        out.push("QoS Class:                   Guaranteed".to_owned());
        out.push("Node-Selectors:              <none>".to_owned());
        out.push("Tolerations:                 node.kubernetes.io/not-ready:NoExecute op=Exists for 300s".to_owned());
        self.line(&out.join("\n"), &rev.tags, Some(uid(rev)));
        self.events_of(rev, events);
    }

    fn describe_job(&mut self, rev: &Rev, namespace: &str, events: &[&Rev]) {
        let job = &*rev.object;
        let status = &job["status"];
        let count = |name: &str| status[name].as_i64().unwrap_or(0);
        let mut out = vec![
            format!("$ kubectl describe job {} -n {namespace}", rev.key.name),
            format!("Name:             {}", rev.key.name),
            format!("Namespace:        {namespace}"),
            format!(
                "Selector:         batch.kubernetes.io/controller-uid={}",
                rev.key.uid
            ),
            pairs("Labels:           ", &job["metadata"]["labels"]),
            "Annotations:      <none>".to_owned(),
            job.pointer("/metadata/ownerReferences/0")
                .map_or_else(String::new, |owner| {
                    format!(
                        "Controlled By:    {}/{}",
                        text(owner, "/kind"),
                        text(owner, "/name")
                    )
                }),
            format!("Parallelism:      {}", job["spec"]["parallelism"]),
            format!("Completions:      {}", job["spec"]["completions"]),
            "Completion Mode:  Indexed".to_owned(),
            format!("Suspend:          {}", job["spec"]["suspend"]),
            format!("Backoff Limit:    {}", job["spec"]["backoffLimit"]),
        ];
        out.retain(|line| !line.is_empty());
        for (name, path) in [
            ("Start Time:       ", "/status/startTime"),
            ("Completed At:     ", "/status/completionTime"),
        ] {
            if let Some(at) = time(job, path) {
                out.push(format!(
                    "{name}{}",
                    at.format("%a, %d %b %Y %H:%M:%S %z", 0)
                ));
            }
        }
        out.push(format!(
            "Pods Statuses:    {} Active ({} Ready) / {} Succeeded / {} Failed",
            count("active"),
            count("ready"),
            count("succeeded"),
            count("failed")
        ));
        self.line(&out.join("\n"), &rev.tags, Some(uid(rev)));
        self.events_of(rev, events);
    }

    fn describe_set(&mut self, rev: &Rev, namespace: &str, events: &[&Rev]) {
        let set = &*rev.object;
        let kind = rev.key.kind.name();
        let count = |path: &str| set.pointer(path).and_then(Value::as_i64).unwrap_or(0);
        let mut out = vec![
            format!(
                "$ kubectl describe {} {} -n {namespace}",
                kind.to_lowercase(),
                rev.key.name
            ),
            format!("Name:               {}", rev.key.name),
            format!("Namespace:          {namespace}"),
        ];
        if let Some(created) =
            time(set, "/metadata/creationTimestamp").filter(|_| kind != "ReplicaSet")
        {
            out.push(format!(
                "CreationTimestamp:  {}",
                created.format("%a, %d %b %Y %H:%M:%S %z", 0)
            ));
        }
        out.push(format!(
            "Selector:           app={}",
            text(set, "/spec/selector/matchLabels/app")
        ));
        out.push(pairs("Labels:             ", &set["metadata"]["labels"]));
        if let Some(owner) = set.pointer("/metadata/ownerReferences/0") {
            out.push(format!(
                "Controlled By:      {}/{}",
                text(owner, "/kind"),
                text(owner, "/name")
            ));
        }
        let (wanted, all, ready) = (
            count("/spec/replicas"),
            count("/status/replicas"),
            count("/status/readyReplicas"),
        );
        out.push(if kind == "Deployment" {
            format!("Replicas:           {wanted} desired | {all} updated | {all} total | {ready} available | {} unavailable", wanted - ready)
        } else {
            format!("Replicas:           {wanted} desired | {all} total")
        });
        self.line(&out.join("\n"), &rev.tags, Some(uid(rev)));
        self.events_of(rev, events);
    }

    fn describe_other(&mut self, rev: &Rev, namespace: &str, events: &[&Rev]) {
        let object = &*rev.object;
        let mut out = vec![
            format!(
                "$ kubectl describe {} {} -n {namespace}",
                rev.key.kind.name().to_lowercase(),
                rev.key.name
            ),
            format!("Name:         {}", rev.key.name),
            format!("Namespace:    {namespace}"),
            pairs("Labels:       ", &object["metadata"]["labels"]),
            format!("API Version:  {}", rev.key.kind.api_version()),
            format!("Kind:         {}", rev.key.kind.name()),
            "Metadata:".to_owned(),
            format!(
                "  Creation Timestamp:  {}",
                text(object, "/metadata/creationTimestamp")
            ),
            format!("  UID:                 {}", rev.key.uid),
            "Status:".to_owned(),
        ];
        if let Some(conditions) = object["status"]["conditions"].as_array() {
            out.push("  Conditions:".to_owned());
            for one in conditions {
                out.push(format!(
                    "    Last Transition Time:  {}",
                    text(one, "/lastTransitionTime")
                ));
                out.push(format!(
                    "    Message:               {}",
                    text(one, "/message")
                ));
                out.push(format!(
                    "    Reason:                {}",
                    text(one, "/reason")
                ));
                out.push("    Status:                True".to_owned());
                out.push(format!("    Type:                  {}", text(one, "/type")));
            }
        }
        if rev.key.kind == Kind::JobSet {
            out.push(format!("  Restarts:  {}", object["status"]["restarts"]));
        }
        self.line(&out.join("\n"), &rev.tags, Some(uid(rev)));
        self.events_of(rev, events);
    }

    fn events_of(&mut self, rev: &Rev, events: &[&Rev]) {
        let mut own: Vec<&&Rev> = events
            .iter()
            .filter(|event| {
                let about = &event.object["involvedObject"];
                text(about, "/kind") == rev.key.kind.name()
                    && text(about, "/name") == rev.key.name
                    && about["uid"].as_str().is_none_or(|uid| uid == rev.key.uid)
            })
            .collect();
        own.sort_by_key(|event| last(event));
        if own.is_empty() {
            self.line("Events:          <none>", &[], None);
            return;
        }
        let rows: Vec<[String; 5]> = own.iter().map(|event| self.event_cells(event)).collect();
        // As wide as what is widest in a column, and two spaces.
        let heads = [
            ["Type", "Reason", "Age", "From"],
            ["----", "------", "----", "----"],
        ];
        let width = |column: usize| {
            let own = rows.iter().map(|row| row[column].len());
            own.chain(heads.iter().map(|head| head[column].len()))
                .max()
                .unwrap_or(0)
                + 2
        };
        let widths: Vec<usize> = (0..4).map(width).collect();
        let line = |cells: [&str; 4], last: &str| {
            let mut line = "  ".to_owned();
            for (cell, width) in cells.iter().zip(&widths) {
                line.push_str(&format!("{cell:<width$}", width = *width));
            }
            let indent = format!("\n{}", " ".repeat(line.len()));
            line + &last.replace('\n', &indent)
        };
        let head = [line(heads[0], "Message"), line(heads[1], "-------")].join("\n");
        self.line(&format!("Events:\n{head}"), &[], None);
        for (event, [kind, reason, age, from, message]) in own.iter().zip(&rows) {
            let text = line([kind, reason, age, from], message);
            self.line(&text, &event.tags, Some(uid(rev)));
        }
    }

    fn event_cells(&self, event: &Rev) -> [String; 5] {
        let object = &*event.object;
        let count = object["count"]
            .as_i64()
            .or_else(|| object["series"]["count"].as_i64())
            .unwrap_or(1);
        let mut age = self.age(last(event));
        if count > 1 {
            age = format!("{age} (x{count} over {})", self.age(first(event)));
        }
        let from = Some(text(object, "/source/component"))
            .filter(|from| !from.is_empty())
            .unwrap_or_else(|| text(object, "/reportingComponent"));
        [
            text(object, "/type").to_owned(),
            text(object, "/reason").to_owned(),
            age,
            from.to_owned(),
            text(object, "/message").trim_end().to_owned(),
        ]
    }

    fn node_row(&mut self, rev: &Rev) {
        let node = &*rev.object;
        let ready = node["status"]["conditions"]
            .as_array()
            .into_iter()
            .flatten()
            .any(|one| text(one, "/type") == "Ready" && text(one, "/status") == "True");
        let mut status = if ready { "Ready" } else { "NotReady" }.to_owned();
        if node["spec"]["unschedulable"].as_bool() == Some(true) {
            status.push_str(",SchedulingDisabled");
        }
        let age = self.age(time(node, "/metadata/creationTimestamp"));
        let line = format!(
            "{}   {status}   <none>   {age}   {}",
            rev.key.name,
            text(node, "/status/nodeInfo/kubeletVersion")
        );
        self.line(&line, &[], Some(uid(rev)));
    }

    fn event_row(&mut self, rev: &Rev) {
        let object = &*rev.object;
        let about = format!(
            "{}/{}",
            text(object, "/involvedObject/kind").to_lowercase(),
            text(object, "/involvedObject/name")
        );
        let line = format!(
            "{}   {}   {}   {about}   {}",
            self.age(last(rev)),
            text(object, "/type"),
            text(object, "/reason"),
            text(object, "/message").trim_end().replace('\n', " ")
        );
        let subject = text(object, "/involvedObject/uid").to_owned();
        self.line(&line, &rev.tags, Some(&subject));
    }
}

fn last(rev: &Rev) -> Option<Time> {
    time(&rev.object, "/series/lastObservedTime")
        .or_else(|| time(&rev.object, "/lastTimestamp"))
        .or_else(|| time(&rev.object, "/eventTime"))
}

fn first(rev: &Rev) -> Option<Time> {
    time(&rev.object, "/firstTimestamp").or_else(|| time(&rev.object, "/eventTime"))
}
