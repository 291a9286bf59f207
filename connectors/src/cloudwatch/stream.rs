//! What the names of groups say, and whom the name of a stream mentions.

/// The cluster that a group is of.
pub(super) fn cluster(group: &str) -> Option<&str> {
    let rest = group
        .strip_prefix("/aws/containerinsights/")
        .or_else(|| group.strip_prefix("/aws/eks/"))?;
    let (cluster, _) = rest.split_once('/')?;
    Some(cluster)
}

/// Whether a group holds lines of pods, as far as its name tells.
pub(super) fn may_hold_pods(group: &str) -> bool {
    !(group.starts_with("/aws/")
        && ["/host", "/dataplane", "/performance", "/cluster"]
            .iter()
            .any(|end| group.ends_with(end)))
}

/// Whether a group holds lines of nodes, as far as its name tells.
pub(super) fn may_hold_nodes(group: &str) -> bool {
    !(group.starts_with("/aws/")
        && ["/application", "/performance", "/cluster"]
            .iter()
            .any(|end| group.ends_with(end)))
}

/// Whether `text` holds `name` as a word of its own.
pub(super) fn mentions(text: &str, name: &str) -> bool {
    let part = |c: char| c.is_ascii_alphanumeric() || c == '-';
    !name.is_empty()
        && text.match_indices(name).any(|(at, _)| {
            let before = text[..at].chars().next_back();
            let after = text[at + name.len()..].chars().next();
            !before.is_some_and(part) && !after.is_some_and(part)
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_tell_their_cluster_and_streams_whom_they_mention() {
        assert_eq!(
            cluster("/aws/containerinsights/prod/application"),
            Some("prod")
        );
        assert!(mentions("a.w-0.b", "w-0") && !mentions("a.w-01.b", "w-0"));
    }
}
