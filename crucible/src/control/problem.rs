//! The node problem detector: some lines of a kernel become Events and conditions of its node.

use crate::world::{Ask, Client, Source, Tag, World, claims};

/// What its usual rules look for, and as what they tell it.
const RULES: &[(&str, &str)] = &[
    ("Killed process", "OOMKilling"),
    ("BUG: unable to handle", "KernelOops"),
    ("Buffer I/O error", "IOError"),
    ("blocked for more than", "TaskHung"),
    ("Remounting filesystem read-only", "FilesystemIsReadOnly"),
];

/// The kernel of a node wrote a line.
pub(crate) fn seen(w: &mut World, node: usize, text: &str, tags: &[Tag]) {
    let Some((_, reason)) = RULES.iter().find(|(words, _)| text.contains(words)) else {
        return;
    };
    let (reason, text) = (*reason, text.to_owned());
    let tags: Vec<Tag> = tags.iter().flat_map(|tag| claims(tag.act)).collect();
    w.soon(300, 1500, move |w| {
        // A machine that has stopped tells nobody.
        let Some(key) = w
            .nodes
            .get(node)
            .filter(|node| node.up && node.heard && node.gone.is_none())
            .map(crate::world::Node::key)
        else {
            return;
        };
        if reason == "FilesystemIsReadOnly" {
            w.set_condition(node, "ReadonlyFilesystem", "True", reason, &text);
            let by = Client::account(
                "kube-system",
                "node-problem-detector",
                "node-problem-detector/v0.8.21",
            );
            w.put_node(node, Ask::new(by, "patch", "status").with_tags(&tags));
        }
        w.emit_event(
            &Source::Other("kernel-monitor", "kube-system"),
            key,
            "Warning",
            reason,
            text,
            &tags,
        );
    });
}
