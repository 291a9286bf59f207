use super::*;

#[test]
fn a_crowd_is_called_what_it_is_and_has_no_parentheses_in_others() {
    let victim = |pod: &str| Victim {
        pod: pod.to_owned(),
        namespace: None,
        node: None,
        rank: None,
        time: None,
        time_hi: None,
        exit_code: Some(1),
        reason: None,
        how: "ended with exit code 1 (Error)".to_owned(),
        state: DeathState::Died,
    };
    let two = [victim("a"), victim("b")];
    let told: String = crowd(&two, "instance")
        .0
        .iter()
        .map(|span| span.text.as_str())
        .collect();
    assert_eq!(
        told.replace('\u{a0}', " "),
        "2 instances: a and b; both ended with exit code 1 (Error)"
    );
}

#[test]
fn several_are_told_of_in_the_plural() {
    for (one, many) in [
        ("was deleted", "were deleted"),
        ("was lost with its node", "were lost with their node"),
        ("never started", "never started"),
        (
            "keeps ending with exit code 1",
            "keep ending with exit code 1",
        ),
        ("is running but not ready", "are running but not ready"),
        ("ended with exit code 137", "ended with exit code 137"),
    ] {
        assert_eq!(plural(one), many);
    }
}

#[test]
fn numbers_fold() {
    assert_eq!(ranges(vec![5, 0, 2, 3, 4, 4]), "0, 2–5");
    assert_eq!(
        ranges((0..40).step_by(2).collect()),
        "0, 2, 4, 6, 8, 10, 12, 14, …"
    );
    assert_eq!(ranges(vec![1, 2]), "1, 2");
    assert_eq!(
        ranges(vec![i32::MAX, i32::MIN]),
        format!("{}, {}", i32::MIN, i32::MAX)
    );
    assert_eq!(grouped(1_234_567), "1,234,567");
    assert_eq!(count(1, "pod"), "1\u{a0}pod");
    assert_eq!(count(1_204, "row"), "1,204\u{a0}rows");
}
