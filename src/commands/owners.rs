//! Whoever types the name of a person wants to see what that person runs.

use crate::answer::ListedRun;
use crate::error::Error;

/// An error about a name that nothing bears, with what to ask where it is an owner's.
pub(super) fn hinted<'a>(error: Error, owners: impl Iterator<Item = &'a str>) -> Error {
    let Error::UnknownName { name, .. } = &error else {
        return error;
    };
    let of = |owner: &str| ListedRun {
        owner: Some(owner.to_owned()),
        ..ListedRun::default()
    };
    let runs = owners
        .filter(|owner| of(owner).is(Some(name), None, None))
        .count();
    if runs == 0 {
        return error;
    }
    let owns = if runs == 1 {
        "1 run"
    } else {
        &format!("{runs} runs")
    };
    Error::NoneLeft {
        why: error.to_string(),
        hint: format!("{name} is the owner of {owns}: whathappened experiments --owner {name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_owner_is_named_as_one() {
        let error = |name: &str| Error::UnknownName {
            name: name.to_owned(),
            nearest: Vec::new(),
            unread: Vec::new(),
        };
        let owners = || ["alice@lab.example", "bob", "bob"].into_iter();
        let hint = |name: &str| hinted(error(name), owners()).hints().join(" ");
        assert!(hint("alice").contains("1 run: whathappened experiments --owner alice"));
        assert!(hint("Bob").contains("2 runs"));
        assert!(!hint("carol").contains("--owner"));
        assert_eq!(hinted(error("bob"), owners()).exit_code(), 3);
    }
}
