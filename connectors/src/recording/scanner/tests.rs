//! Objects, envelopes and what is cut off.

use super::*;

fn scan(text: &str) -> Step {
    Scanner::new(true).step(text.as_bytes())
}

#[test]
fn an_object_ends_at_its_own_brace() {
    for text in [
        r#"{}"#,
        r#"{"a":"}\"]\\"}"#,
        r#"{"a":[{"b":[]},{}],"c":{}}"#,
        "{ \"a\" :\n 1 }",
    ] {
        assert_eq!(scan(text), Step::End(text.len()), "{text}");
        assert_eq!(scan(&format!("{text}{{")), Step::End(text.len()), "{text}");
    }
}

#[test]
fn it_can_stop_at_every_byte() {
    let text = r#"{"kind":"PodList","x":"é\"{","items":[{"a":1}],"z":{"items":[1]}}"#.as_bytes();
    let mut scanner = Scanner::new(true);
    let mut items = 0;
    for end in 0..=text.len() {
        match scanner.step(&text[..end]) {
            Step::More => {}
            Step::Items(_) => items += 1,
            Step::End(n) => assert_eq!(n, text.len()),
            step => panic!("{step:?} at {end}"),
        }
    }
    assert_eq!(items, 1);
    assert_eq!(scanner.kind(text), Some("PodList"));
}

#[test]
fn envelopes_are_seen_with_keys_in_any_order() {
    assert_eq!(scan(r#"{"items":[]}"#), Step::Items(10));
    assert_eq!(
        scan(r#"{"metadata":{"items":[1]},"items" : [ ]}"#),
        Step::Items(37)
    );
    assert!(matches!(scan(r#"{"items":{"a":[]}}"#), Step::End(_)));
    assert!(matches!(
        scan(r#"{"status":"success","data":{"resultType":"streams","result":[]}}"#),
        Step::QueryResult(_)
    ));
    assert!(matches!(
        scan(
            r#"{"data":{"stats":{"a":{}},"resultType":"streams","result":[]},"status":"success"}"#
        ),
        Step::QueryResult(_)
    ));
    // A ConfigMap, and a custom resource with lists below its data.
    assert!(matches!(
        scan(r#"{"kind":"ConfigMap","data":{"result":"[]"},"status":{}}"#),
        Step::End(_)
    ));
    assert!(matches!(
        scan(r#"{"data":{"result":[]},"status":{}}"#),
        Step::End(_)
    ));
}

#[test]
fn what_was_cut_off_is_noticed_on_the_next_line() {
    for text in [
        "{\"a\":\"b\n{\"a\":1}",
        "{\"a\":1\n{\"a\":1}",
        "{\"a\":1,\n{\"a\":1}",
        "{\"a\":[1\n{\"a\":1}",
        "{\"a\":{\"b\":2}\n{\"a\":1}",
        "{\"a\":[1}",
    ] {
        assert!(matches!(scan(text), Step::Bad(..)), "{text}");
    }
    assert!(matches!(scan(&"{\"a\":".repeat(200)), Step::Bad(..)));
}

#[test]
fn wrappers_hold_objects_and_stand_outermost() {
    let text = r#"{"a":1,"Records": [ {"b":1}]}"#;
    assert_eq!(scan(text), Step::Wrapped(20, "Records"));
    for text in [
        r#"{"value":[1,"2"]}"#,
        r#"{"value":[]}"#,
        r#"{"kind":"X","entries":[{"b":1}]}"#,
        r#"{"a":{"entries":[{"b":1}]}}"#,
    ] {
        assert_eq!(scan(text), Step::End(text.len()), "{text}");
    }
    let inside = r#"{"value":[{"b":1}]}"#;
    assert_eq!(
        Scanner::new(false).step(inside.as_bytes()),
        Step::End(inside.len())
    );
}
