//! YAML.

use super::*;

#[test]
fn yaml_lists_and_documents_are_taken_apart() {
    let yaml = "$ kubectl get pods -o yaml\napiVersion: v1\nitems:\n- apiVersion: v1\n  kind: Pod\n  metadata:\n    name: a\n    annotations:\n      x: |\n        - kind: Fake\n        ---x\n- kind: Pod\n  metadata:\n    name: b\nkind: List\nmetadata: {}\n---\nkind: PodList\napiVersion: v1\nitems:\n  - metadata:\n      name: c\n      list:\n      - x\n---\napiVersion: v1\nkind: Pod\nmetadata: {name: d}\n---\n---\n{apiVersion: v1, kind: List, items: [{metadata: {name: e}}]}\n";
    let (summary, seen) = one(yaml.as_bytes());
    assert_eq!(names(&seen), ["a", "b", "c", "d", "e"], "{summary:?}");
    assert_eq!(
        kinds(&seen),
        [None, None, Some("PodList"), None, Some("List")]
    );
    assert_eq!(
        seen.iter().map(|(.., line)| *line).collect::<Vec<_>>(),
        [4, 12, 21, 26, 31]
    );
    assert_eq!(summary.total.status, FileStatus::Complete);
}

#[test]
fn yaml_that_is_too_large_or_broken_is_turned_away_alone() {
    let options = Options {
        max_record_bytes: 1 << 16,
        max_document_bytes: 1 << 16,
        ..options()
    };
    let long = "x".repeat(1 << 20);
    let yaml = format!(
        "apiVersion: v1\nitems:\n- kind: Pod\n  x: {long}\n- metadata:\n    name: a\n- [\n- metadata: {{name: b}}\n---\napiVersion: v1\nz: {long}\n---\nmetadata: {{name: c}}\n"
    );
    let (summary, seen) = one_with(yaml.as_bytes(), &options);
    assert_eq!(names(&seen), ["a", "b", "c"], "{summary:?}");
    assert_eq!(summary.total.rejected, 3, "{summary:?}");
}
