//! Nothing of a namespace that a caller may not see reaches them through any face.

use std::path::Path;

use serde_json::{Value, json};

use crate::service::{Answered, Service};

/// In every name, label, user and text of the other namespace, and nowhere else.
pub(crate) const MARK: &str = "zebrafish";

const CONFIG: &str = "[[serve.caller]]\nname = 'team-a'\ntoken_file = 'TOKEN'\nnamespaces = ['team-a']\n\
[[serve.caller]]\nname = 'all'\ntoken_file = 'ALL'\nrights = ['ask', 'sql', 'import']\n";

pub(crate) const TEAM_A: &str = "authorization: Bearer token-of-team-a-0001";
pub(crate) const ALL: &str = "authorization: Bearer token-of-everything-0001";

fn meta(name: &str, namespace: &str, labels: &Value) -> Value {
    json!({"name": name, "namespace": namespace, "uid": uid(namespace, name), "labels": labels,
        "creationTimestamp": "2026-11-20T10:00:00Z", "resourceVersion": "100"})
}

fn uid(namespace: &str, name: &str) -> String {
    format!("{namespace}-{name}-uid")
}

/// A job of one pod that died on a shared node, with the Events of it.
fn job(namespace: &str, prefix: &str) -> Vec<Value> {
    let (job, pod) = (format!("{prefix}train"), format!("{prefix}train-0"));
    let labels = json!({"experiment": format!("{prefix}exp"), "team": namespace, "job-name": job});
    let mut of_pod = meta(&pod, namespace, &labels);
    of_pod["ownerReferences"] = json!([{"apiVersion": "batch/v1", "kind": "Job", "name": job,
        "uid": uid(namespace, &job), "controller": true}]);
    of_pod["annotations"] = json!({"owner": format!("{prefix}owner")});
    let event = |number: u32, reason: &str, message: String| {
        json!({"apiVersion": "v1", "kind": "Event", "type": "Warning", "reason": reason, "message": message,
            "metadata": meta(&format!("{pod}.{number}"), namespace, &json!({})),
            "involvedObject": {"kind": "Pod", "namespace": namespace, "name": pod, "uid": uid(namespace, &pod)},
            "source": {"component": "kubelet", "host": "shared-node"}, "count": 1,
            "firstTimestamp": "2026-11-20T10:30:00Z", "lastTimestamp": "2026-11-20T10:30:00Z"})
    };
    vec![
        json!({"apiVersion": "batch/v1", "kind": "Job", "metadata": meta(&job, namespace, &labels),
            "spec": {"parallelism": 1}, "status": {"failed": 1, "conditions": [{"type": "Failed", "status": "True",
            "reason": "BackoffLimitExceeded", "message": format!("{job} failed"),
            "lastTransitionTime": "2026-11-20T10:31:00Z"}]}}),
        json!({"apiVersion": "v1", "kind": "Pod", "metadata": of_pod,
            "spec": {"nodeName": "shared-node", "restartPolicy": "Never", "containers": [{"name": "main",
                "image": format!("{prefix}image:1"), "command": [format!("{prefix}command")]}]},
            "status": {"phase": "Failed", "startTime": "2026-11-20T10:00:05Z", "containerStatuses": [{"name": "main",
                "state": {"terminated": {"exitCode": 1, "reason": "Error", "message": format!("{prefix}boom"),
                "startedAt": "2026-11-20T10:00:10Z", "finishedAt": "2026-11-20T10:30:30Z"}}}]}}),
        event(
            1,
            "BackOff",
            format!("Back-off restarting {prefix}container"),
        ),
        event(
            2,
            "Preempted",
            format!("Preempted by {MARK}-team/{MARK}train-0 on node shared-node"),
        ),
        event(3, "Preempted", unknown()),
        event(
            4,
            "Preempted",
            format!("Preempted by {MARK}ghosts/{MARK}-0 on node shared-node"),
        ),
    ]
}

/// What names a namespace that no record is of, in the words of many programs.
fn unknown() -> String {
    let uid = "41b7c0de-1111-4222-8333-444455556666";
    [
        "preempted by pod {}-0 in namespace {}ghosts",
        "system:serviceaccount:{}ghosts:{}robot may not",
        "lookup {}svc.{}ghosts.svc.cluster.local: no such host",
        "Back-off restarting main in pod {}-0_{}ghosts(UID)",
        "pod \"{}ghosts/{}-0\" holds claim {}ghosts/{}disk",
        "GET /api/v1/namespaces/{}ghosts/pods/{}-0",
        "kubectl -n {}ghosts delete",
    ]
    .join("; ")
    .replace("{}", MARK)
    .replace("UID", uid)
}

fn objects() -> Value {
    let mut items = job("team-a", "");
    items.extend(job(&format!("{MARK}-team"), MARK));
    items.push(json!({"apiVersion": "v1", "kind": "Namespace",
        "metadata": {"name": format!("{MARK}-team"), "uid": "ns-uid", "creationTimestamp": "2026-11-20T09:00:00Z"}}));
    items.push(json!({"apiVersion": "v1", "kind": "Node", "metadata": {"name": "shared-node", "uid": "node-uid",
        "resourceVersion": "90", "creationTimestamp": "2026-11-01T00:00:00Z",
        "labels": {"kubernetes.io/hostname": "shared-node", "team": format!("{MARK}-team"),
            "node.kubernetes.io/owner": format!("{MARK}-team")},
        "annotations": {"note": format!("for {MARK}")}},
        "spec": {"providerID": "gce://p/z/shared-node", "taints": [{"key": "dedicated",
            "value": format!("{MARK}-team"), "effect": "NoSchedule"}]},
        "status": {"conditions": [{"type": "Ready", "status": "False", "reason": "KubeletNotReady",
            "message": format!("pod {MARK}train-0 hangs"), "lastTransitionTime": "2026-11-20T10:29:00Z"}]}}));
    for (number, message) in [
        format!("System OOM encountered, victim process: python of {MARK}train-0"),
        format!("Node is not ready: {MARK}-team filled the disk"),
        format!("evicting pod nobody-knows-{MARK}-0 of its namespace"),
        format!("evicted by {MARK}ghosts/{MARK}robot, see {MARK}svc.{MARK}ghosts.svc"),
    ]
    .iter()
    .enumerate()
    {
        items.push(json!({"apiVersion": "v1", "kind": "Event", "type": "Warning", "reason": "NodeNotReady",
            "message": message, "metadata": {"name": format!("shared-node.{number}"), "namespace": "default",
                "uid": format!("node-event-{number}"), "creationTimestamp": "2026-11-20T10:29:30Z"},
            "involvedObject": {"kind": "Node", "name": "shared-node", "uid": "shared-node"},
            "source": {"component": "node-controller"}, "count": 1,
            "firstTimestamp": "2026-11-20T10:29:30Z", "lastTimestamp": "2026-11-20T10:29:30Z"}));
    }
    json!({"apiVersion": "v1", "kind": "List", "items": items})
}

fn audit() -> String {
    let record = |number: u32, user: &str, verb: &str, of: &Value, body: &Value| {
        let text = json!({"kind": "Event", "apiVersion": "audit.k8s.io/v1", "level": "RequestResponse",
            "auditID": format!("audit-{number}"), "stage": "ResponseComplete", "verb": verb,
            "requestURI": format!("/{number}"), "user": {"username": user}, "userAgent": "kubectl",
            "sourceIPs": ["10.0.0.1"], "objectRef": of, "responseStatus": {"code": 200},
            "requestObject": body, "requestReceivedTimestamp": "2026-11-20T10:28:00.000000Z",
            "stageTimestamp": "2026-11-20T10:28:00.100000Z"});
        format!("{text}\n")
    };
    let pod = json!({"resource": "pods", "namespace": format!("{MARK}-team"), "name": format!("{MARK}train-0"), "apiVersion": "v1"});
    let node = json!({"resource": "nodes", "name": "shared-node", "apiVersion": "v1"});
    let namespace = json!({"resource": "namespaces", "name": format!("{MARK}-team"), "namespace": format!("{MARK}-team"), "apiVersion": "v1"});
    [
        record(1, &format!("{MARK}-alice"), "delete", &pod, &json!({})),
        record(
            2,
            &format!("system:serviceaccount:{MARK}-team:robot"),
            "patch",
            &node,
            &json!({"spec": {"unschedulable": true}, "metadata": {"annotations": {"why": format!("{MARK}train-0")}}}),
        ),
        record(3, &format!("{MARK}-alice"), "delete", &namespace, &json!({})),
    ]
    .concat()
}

fn write(folder: &Path) {
    let at = |name: &str| folder.join(name);
    std::fs::write(at("objects.json"), objects().to_string()).unwrap();
    std::fs::write(at("audit.log"), audit()).unwrap();
    for (namespace, prefix) in [("team-a".to_owned(), ""), (format!("{MARK}-team"), MARK)] {
        let pod = format!("{prefix}train-0");
        let logs = at("pods")
            .join(format!("{namespace}_{pod}_{}", uid(&namespace, &pod)))
            .join("main");
        std::fs::create_dir_all(&logs).unwrap();
        let lines = [
            format!("2026-11-20T10:30:00.000000000Z stderr F {prefix} step 10 loss 0.5"),
            "2026-11-20T10:30:20.000000000Z stderr F Traceback (most recent call last):".to_owned(),
            format!(
                "2026-11-20T10:30:20.100000000Z stderr F   File \"/app/{prefix}main.py\", line 3, in main"
            ),
            format!(
                "2026-11-20T10:30:20.200000000Z stderr F RuntimeError: CUDA out of memory {prefix}"
            ),
        ];
        std::fs::write(logs.join("0.log"), lines.join("\n") + "\n").unwrap();
    }
}

/// A service over two namespaces, whose incidents were explained by somebody who
/// may see everything.
fn service() -> (tempfile::TempDir, Service) {
    service_with("")
}

/// The same with more in its configuration.
pub(crate) fn service_with(more: &str) -> (tempfile::TempDir, Service) {
    service_beside(more, &|_| {})
}

/// The same over more records, which are written into a folder.
pub(crate) fn service_beside(more: &str, beside: &dyn Fn(&Path)) -> (tempfile::TempDir, Service) {
    let folder = tempfile::tempdir().unwrap();
    let records = folder.path().join("records");
    std::fs::create_dir(&records).unwrap();
    write(&records);
    beside(&records);
    let token = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let config = CONFIG
        .replace("TOKEN", &token("a", "token-of-team-a-0001\n"))
        .replace("ALL", &token("all", "token-of-everything-0001\n"))
        + more;
    let service = Service::start(&[records.to_str().unwrap()], &config);
    let store = service.folder.path().join("store");
    let (code, _, err) = crate::whathappened(&[
        "explain",
        "--since",
        "2026-11-01T00:00:00Z",
        "--no-fetch",
        "--store",
        store.to_str().unwrap(),
    ]);
    assert_eq!(code, Some(0), "{err}");
    (folder, service)
}

const NAMES: &[&str] = &[
    "exp",
    "train",
    "train-0",
    "*",
    "team-a",
    "namespace%2Fteam-a",
    "pod%2Fteam-a%2Ftrain-0",
    "node%2Fshared-node",
    "shared-node",
    "gpu%2F0",
    "job%2Ftrain",
    "tra",
    "x",
];

/// Names of the other namespace, which it takes to know them.
fn foreign() -> Vec<String> {
    [
        "{}exp",
        "{}train",
        "{}train-0",
        "{}",
        "{}*",
        "{}-team",
        "namespace%2F{}-team",
        "pod%2F{}-team%2F{}train-0",
        "{}tra",
        "job%2F{}-team%2F{}train",
        "namespace%2F*",
        "*%2F*%2F*",
        "pod%2F*",
        "*train*",
    ]
    .map(|name| name.replace("{}", MARK))
    .into()
}

pub(crate) const STATEMENTS: &[&str] = &[
    "SELECT * FROM events",
    "SELECT * FROM objects",
    "SELECT * FROM tenures",
    "SELECT * FROM runs",
    "SELECT * FROM experiments",
    "SELECT * FROM incidents",
    "SELECT * FROM collateral",
    "SELECT * FROM coverage",
    "SELECT * FROM deaths",
    "SELECT * FROM links",
    "SELECT max(pod), max(node), max(detail) FROM links",
    "SELECT * FROM timeline('exp')",
    "SELECT * FROM why('exp')",
    "SELECT * FROM timeline('node/shared-node')",
    "SELECT * FROM why('node/shared-node')",
    "SELECT * FROM timeline('*')",
    "SELECT * FROM why('*')",
    "SELECT * FROM timeline('{}')",
    "SELECT * FROM why('{}exp')",
    "SELECT * FROM why('namespace/{}-team')",
    "SELECT * FROM events WHERE namespace = '{}-team'",
    "SELECT * FROM events WHERE pod = '{}train-0'",
    "SELECT * FROM events WHERE pod LIKE '{}%' OR raw LIKE '%{}%' OR message LIKE '%{}%'",
    "SELECT raw FROM events WHERE namespace IS NULL",
    "SELECT attributes, origin, actor FROM events",
    "SELECT * FROM objects WHERE name = '{}train-0'",
    "SELECT labels, annotations, taints FROM objects WHERE kind = 'Node'",
    "SELECT min(namespace), max(namespace), min(pod), max(pod), max(actor), max(workload) FROM events",
    "SELECT string_agg(raw, ' ') FROM events",
    "SELECT CAST(message AS INT) FROM events",
    "SELECT CAST(actor AS INT) FROM events ORDER BY actor DESC",
    "SELECT 1 / (CASE WHEN max(pod) > 'y' THEN 0 ELSE 1 END), max(pod) FROM events",
    "SELECT arrow_cast(raw, 'Int64') FROM events WHERE raw LIKE '%z%'",
    "EXPLAIN SELECT * FROM events",
    "EXPLAIN ANALYZE SELECT * FROM events",
    "EXPLAIN ANALYZE VERBOSE SELECT * FROM objects",
    "EXPLAIN FORMAT TREE SELECT * FROM runs",
    "SELECT * FROM information_schema.tables",
    "SELECT * FROM information_schema.columns",
    "SELECT * FROM information_schema.df_settings",
    "SELECT * FROM information_schema.views",
    "SELECT * FROM information_schema.routines",
    "SHOW TABLES",
    "SHOW ALL",
    "DESCRIBE events",
    "SELECT * FROM {}",
    "SELECT {} FROM events",
    "SELECT e.raw FROM events e JOIN objects o ON e.object_uid = o.uid",
    "SELECT (SELECT max(name) FROM objects)",
    "WITH x AS (SELECT * FROM events) SELECT * FROM x WHERE pod > 'team-a'",
    "SELECT * FROM events WHERE pod IN (SELECT name FROM objects) OR true",
    "SELECT approx_distinct(namespace), array_agg(DISTINCT namespace) FROM events",
];

pub(crate) fn clean(reported: &Answered, asked: &str) {
    clean_text(&format!("{}\n{}", reported.head, reported.text()), asked);
}

/// Nothing of the other namespace stands in a text but what was asked for.
pub(crate) fn clean_text(text: &str, asked: &str) {
    let text = text.to_lowercase();
    // What was asked for by its name may be said back, and nothing else.
    let echoed = asked.to_lowercase().replace("%2f", "/");
    let at = text.find(MARK);
    if let Some(at) = at
        && !(echoed.contains(MARK) && said_back(&text, &echoed))
    {
        let from = text[..at]
            .char_indices()
            .rev()
            .take(300)
            .last()
            .map_or(0, |(at, _)| at);
        panic!(
            "{asked}: …{}",
            text[from..].chars().take(400).collect::<String>()
        );
    }
}

/// Whether a name stands in a text only where the question's own words do.
fn said_back(text: &str, asked: &str) -> bool {
    // Of a path what stands behind the resource; of a statement each word.
    let name = asked
        .splitn(5, '/')
        .nth(4)
        .filter(|_| asked.starts_with("/api/"));
    let of_path = name
        .into_iter()
        .flat_map(|rest| rest.split(['?', '=', '&']));
    let of_statement =
        asked.split(|letter: char| !(letter.is_alphanumeric() || "-/*_".contains(letter)));
    let mut words: Vec<&str> = of_path
        .chain(of_statement)
        .filter(|word| word.contains(MARK))
        .collect();
    words.sort_by_key(|word| std::cmp::Reverse(word.len()));
    // In JSON or as it is.
    let mut rest = text.replace("\\\"", "\"");
    for word in words {
        for quoted in [
            format!("\"{word}\""),
            format!("\"node/{word}\""),
            format!("'{word}'"),
            format!(" {word} "),
        ] {
            rest = rest.replace(&quoted, "");
        }
    }
    !rest.contains(MARK)
}

#[test]
fn nothing_of_another_namespace_is_told_by_any_face() {
    let (_folder, service) = service();
    look_at_every_face(&service);
}

/// Asks all that there is to ask as a caller of one namespace.
pub(crate) fn look_at_every_face(service: &Service) {
    let forms = [
        "accept: application/json",
        "accept: text/markdown",
        "accept: text/plain",
    ];
    let mut answered = 0;
    let mut asked = 0;
    let mut get = |path: &str, accept: &str| {
        let reported = service.get(path, &[TEAM_A, accept]);
        clean(&reported, path);
        assert!(reported.status < 500, "{path}: {}", reported.text());
        answered += u32::from(reported.status == 200);
        asked += 1;
    };
    for name in NAMES.iter().map(|name| (*name).to_owned()).chain(foreign()) {
        for form in forms {
            get(&format!("/api/v1/answers/{name}"), form);
        }
        get(
            &format!("/api/v1/answers/{name}?pod={MARK}train-0"),
            forms[0],
        );
        get(&format!("/api/v1/answers/{name}?run={MARK}"), forms[0]);
        get(&format!("/api/v1/timelines/{name}?limit=1000"), forms[0]);
        get(&format!("/api/v1/upcoming/{name}"), forms[0]);
        get(&format!("/api/v1/nodes/{name}"), forms[0]);
    }
    for path in [
        "experiments",
        "coverage",
        "incidents",
        "rules",
        "nodes/shared-node",
        "openapi.json",
        "",
    ] {
        get(&format!("/api/v1/{path}"), forms[0]);
    }
    get(&format!("/api/v1/incidents?experiment={MARK}exp"), forms[0]);
    get(&format!("/api/v1/experiments?cursor={MARK}"), forms[0]);
    for statement in STATEMENTS {
        let statement = statement.replace("{}", MARK);
        for form in ["accept: application/json", "accept: text/csv"] {
            let reported = service.sql(statement.as_bytes(), &[TEAM_A, form]);
            clean(&reported, &statement);
            assert!(reported.status < 500, "{statement}: {}", reported.text());
            answered += u32::from(reported.status == 200);
            asked += 1;
        }
    }
    assert!(answered > 60, "{answered} of {asked} answered");
    pages(service);
    // The marks are there for who may see them.
    let all = service.sql(b"SELECT * FROM events", &[ALL]).text();
    assert!(all.contains(MARK));
    let all = service.get("/api/v1/incidents", &[ALL]).text();
    assert!(all.contains(MARK));
    let all = service.get("/api/v1/answers/node%2Fshared-node", &[ALL]);
    assert!(all.text().contains(MARK), "{}", all.text());
}

/// The same of the pages.
fn pages(service: &Service) {
    let all = service.get("/api/v1/incidents?limit=1000", &[ALL]).json();
    let ids = |told: &Value| -> Vec<String> {
        let items = told["items"].as_array().unwrap().iter();
        items
            .map(|one| one["incident"]["id"].as_str().unwrap().to_owned())
            .collect()
    };
    let own = ids(&service
        .get("/api/v1/incidents?limit=1000", &[TEAM_A])
        .json());
    let paths = [
        "/",
        "/fleet?since=90d",
        "/suggest?q=z",
        "/suggest?q=train",
        "/suggest?q=e",
        "/search?q=exp",
        "/x/exp",
        "/x/train-0",
        "/x/*",
        "/x/node%2Fshared-node",
        "/x/exp/follow?seen=else",
        "/node/shared-node",
        "/sql",
        "/sql/catalogue",
        "/sql?q=SELECT%20*%20FROM%20incidents",
        "/sql?q=SELECT%20*%20FROM%20events",
        "/sql?q=SELECT%20*%20FROM%20objects",
        "/sql?q=SELECT%20CAST(message%20AS%20INT)%20FROM%20events",
    ];
    for path in paths {
        let told = service.get(path, &[TEAM_A]);
        assert!(told.status < 400, "{path}: {}", told.text());
        clean(&told, path);
    }
    let mut hidden = 0;
    for id in ids(&all) {
        let told = service.get(&format!("/i/{id}"), &[TEAM_A]);
        clean(&told, "an incident");
        let expected = if own.contains(&id) { 200 } else { 404 };
        assert_eq!(told.status, expected, "{id}: {}", told.text());
        hidden += u32::from(expected == 404);
    }
    assert!(hidden > 0 && !own.is_empty());
    // A name that is hidden and one that nobody has look alike, wherever one asks for it.
    let nobody = "z".repeat(MARK.len());
    let told = |path: &str, name: &str| {
        let told = service.get(&path.replace("NAME", name), &[TEAM_A]);
        // It stands in what is told of it, as it was asked for, and nowhere else.
        let text = told.text().replace(name, "NAME");
        assert!(!text.contains(MARK), "{path}: {text}");
        (told.status, text)
    };
    for path in [
        "/x/NAMEexp",
        "/suggest?q=NAME",
        "/suggest?q=NAMEtr",
        "/x/NAMEexp/follow?seen=else",
    ] {
        assert_eq!(told(path, MARK), told(path, &nobody), "{path}");
    }
    // Which of the caller's own names are near is a matter of what was typed.
    for path in [
        "/x/NAMEtrain-0",
        "/node/NAMEnode",
        "/node/NAMEtrain-0",
        "/search?q=NAMEexp",
        "/search?q=NAMEtrain",
    ] {
        assert_eq!(told(path, MARK).0, told(path, &nobody).0, "{path}");
    }
    // The stream of a hidden name has no place for it.
    let stream = service.get(&format!("/x/{MARK}exp/follow?seen=else"), &[TEAM_A]);
    clean(&stream, "the stream of a hidden name");
    assert_eq!(
        service.get(&format!("/suggest?q={MARK}"), &[TEAM_A]).text(),
        "[]"
    );
    let shown = service.get(&format!("/suggest?q={MARK}"), &[ALL]).text();
    assert!(shown.contains(MARK), "{shown}");
    records(service);
    let open = service.get("/", &[ALL]).text();
    assert!(open.contains(MARK), "{open}");
}

/// Records on a click: what the table of events has for the caller, and nothing else.
fn records(service: &Service) {
    let ids = |token| -> Vec<String> {
        let told = service
            .sql(b"SELECT id FROM events ORDER BY id", &[token])
            .json();
        let rows = told.as_array().unwrap().iter();
        rows.map(|row| row["id"].as_str().unwrap().to_owned())
            .collect()
    };
    let (all, mut own, mut hidden) = (ids(ALL), 0, 0);
    for id in &all {
        let told = service.get(&format!("/record/{id}"), &[TEAM_A]);
        clean(&told, "a record");
        match told.status {
            200 => own += 1,
            404 => hidden += 1,
            _ => panic!("{id}: {}", told.text()),
        }
        let whole = service.get(&format!("/record/{id}"), &[ALL]);
        assert_eq!(whole.status, 200, "{id}: {}", whole.text());
    }
    assert!(own > 0 && hidden > 0, "{own} {hidden} of {}", all.len());
    let told = service.get(&format!("/record/{}", all[0]), &[]);
    assert_eq!(told.status, 401, "{}", told.text());
}

#[test]
fn what_is_ones_own_is_told_in_full() {
    let (_folder, service) = service();
    let own = service.get("/api/v1/answers/exp", &[TEAM_A]).json();
    let all = service.get("/api/v1/answers/exp", &[ALL]).json();
    for key in ["cause", "level", "first_victim", "said"] {
        assert_eq!(own["incidents"][0][key], all["incidents"][0][key], "{key}");
    }
    assert_eq!(own["runs"][0]["name"], "train");
    let count = |token| {
        let reported = service.sql(
            b"SELECT count(*) AS n FROM events WHERE namespace = 'team-a'",
            &[token],
        );
        reported.json()[0]["n"].as_u64().unwrap()
    };
    assert_eq!(count(TEAM_A), count(ALL));
    // What happened to the shared machine is everybody's.
    let node = service.sql(
        b"SELECT count(*) AS n FROM events WHERE node = 'shared-node' AND reason = 'NodeNotReady'",
        &[TEAM_A],
    );
    assert!(node.json()[0]["n"].as_u64().unwrap() > 0);
    let kept = service.get("/api/v1/incidents", &[TEAM_A]).json();
    assert_eq!(kept["items"][0]["experiment"], "exp");
}

#[test]
fn who_may_not_is_turned_away_and_everything_is_written_down() {
    let (_folder, service) = service();
    for (headers, status) in [
        (vec![], 401),
        (vec!["authorization: Bearer token-of-team-a-0002"], 401),
        (vec!["authorization: Basic dG9rZW4="], 401),
        (vec!["authorization: Bearer"], 401),
        (vec![TEAM_A], 200),
    ] {
        let reported = service.get("/api/v1/experiments", &headers);
        assert_eq!(reported.status, status, "{headers:?}");
        if status == 401 {
            assert!(
                reported.head.contains("www-authenticate: bearer"),
                "{}",
                reported.head
            );
            assert_eq!(reported.json()["status"], 401);
        }
    }
    let refused = service.ask("POST", "/api/v1/imports", &[TEAM_A], b"{}");
    assert_eq!(refused.status, 403);
    service.sql(b"SELECT 1 AS one", &[TEAM_A]);
    let trail = std::fs::read_to_string(service.folder.path().join("store/audit.ndjson")).unwrap();
    let lines: Vec<Value> = trail
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let last = lines.last().unwrap();
    assert_eq!(last["caller"], "team-a");
    assert_eq!(last["what"], "SELECT 1 AS one");
    assert_eq!(
        (&last["face"], &last["outcome"], &last["rows"]),
        (&json!("sql"), &json!("200"), &json!(1))
    );
    assert!(
        lines
            .iter()
            .any(|line| line["caller"] == "-" && line["outcome"] == "401")
    );
    assert!(!trail.contains("token-of"));
}
