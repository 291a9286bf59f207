//! The same as `leaks.rs` over every kind of record that there is: those of the canary tests, of another
//! namespace, with its names in every place where a text may stand.

use std::path::Path;

use serde_json::Value;

use crate::canary::planted::{self, Kind};
use crate::leaks::{MARK, clean_text, look_at_every_face, service_beside};
use crate::service::Service;

/// What the records call things, and what they are called here.
const RENAMED: [(&str, &str); 14] = [
    ("k000", "{}k000"),
    ("ab1", "{}ab1"),
    ("lab_", "{}-team_"),
    ("_lab_", "_{}-team_"),
    ("\"lab\"", "\"{}-team\""),
    ("namespaces/lab/", "namespaces/{}-team/"),
    ("kube_namespace:lab", "kube_namespace:{}-team"),
    ("-n lab", "-n {}-team"),
    ("Namespace:        lab", "Namespace:        {}-team"),
    ("Namespace:     lab", "Namespace:     {}-team"),
    ("namespace: lab", "namespace: {}-team"),
    // The cluster and the machine are everybody's.
    ("\"cluster\":\"{}-team\"", "\"cluster\":\"lab\""),
    ("\"cluster_name\":\"{}-team\"", "\"cluster_name\":\"lab\""),
    ("gpu-000", "shared-node"),
];

fn renamed(text: &str) -> String {
    RENAMED.iter().fold(text.to_owned(), |text, (from, to)| {
        text.replace(&from.replace("{}", MARK), &to.replace("{}", MARK))
    })
}

/// The records of the canary tests, as those of the other namespace.
pub(crate) fn write(folder: &Path) {
    // Its name is renamed as everything else.
    let names = format!("pod {MARK}-team/k000-0 of namespace {MARK}-team");
    let planted = planted::plant(&[Kind::of("none", &names)], 1);
    for (name, text) in &planted.files {
        // Which the other records of this service have already.
        let path = folder.join("kinds").join(renamed(name));
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, renamed(text)).unwrap();
    }
}

const ALL: &str = "authorization: Bearer token-of-everything-0001";

/// Kinds of objects and sources of facts that are there at all.
fn there(service: &Service) -> (Vec<String>, Vec<String>) {
    let of = |statement: &[u8]| -> Vec<String> {
        let told = service.sql(statement, &[ALL]).json();
        let rows = told.as_array().unwrap_or_else(|| panic!("{told}"));
        rows.iter()
            .filter_map(|row| row["what"].as_str().map(str::to_owned))
            .collect()
    };
    (
        of(b"SELECT DISTINCT kind AS what FROM objects WHERE namespace LIKE '%zebrafish%' OR name LIKE '%zebrafish%' ORDER BY 1"),
        of(b"SELECT DISTINCT source_kind AS what FROM events WHERE raw LIKE '%zebrafish%' OR message LIKE '%zebrafish%' ORDER BY 1"),
    )
}

#[test]
fn nothing_of_another_namespace_is_told_of_any_kind_of_record() {
    let (_folder, service) = service_beside("", &write);
    let (kinds, sources) = there(&service);
    for kind in [
        "Job",
        "PersistentVolumeClaim",
        "Pod",
        "PyTorchJob",
        "RayJob",
        "ReplicaSet",
        "Workload",
    ] {
        assert!(kinds.iter().any(|there| there == kind), "{kind}: {kinds:?}");
    }
    assert!(sources.len() > 10, "{sources:?}");
    look_at_every_face(&service);
    // What the operator reports on one namespace is of that one.
    let store = service.folder.path().join("store");
    for format in ["table", "json", "md", "html", "slack"] {
        let (code, out, err) = crate::whathappened(&[
            "report",
            "--namespace",
            "team-a",
            "--since",
            "90d",
            "--format",
            format,
            "--no-fetch",
            "--store",
            store.to_str().unwrap(),
        ]);
        assert_eq!(code, Some(0), "{format}: {err}");
        clean_text(&out, "report");
    }
}

/// What is pushed goes another way in, and is filtered as everything else.
#[test]
fn what_is_pushed_of_another_namespace_is_not_told() {
    const TOKEN: &str = "a-token-for-the-hook-0001";
    let (_folder, service) = service_beside(
        &format!("[serve.hooks.generic]\ntoken = '{TOKEN}'\n"),
        &|_| {},
    );
    let folder = tempfile::tempdir().unwrap();
    write(folder.path());
    let push = format!("authorization: Bearer {TOKEN}");
    let mut taken = 0;
    for entry in std::fs::read_dir(folder.path().join("kinds")).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() {
            let body = std::fs::read(&path).unwrap();
            let told = service.ask("POST", "/hooks/generic", &[&push], &body);
            let kept: Value = serde_json::from_slice(&told.body).unwrap_or_default();
            taken += kept["kept"].as_u64().unwrap_or_default();
        }
    }
    assert!(taken > 20, "{taken}");
    look_at_every_face(&service);
}
