//! Rows of the hot tier as older programs wrote them.

use whathappened_model::observation::Observation;

use super::samples::{START, pod};
use crate::record::{Object, Record as _};

fn object() -> Object {
    let Observation::Object(version) = pod("a-0", "exp-a", "a", START) else {
        panic!("a pod is an object");
    };
    Object {
        id: 7,
        version: *version,
    }
}

#[test]
fn a_row_without_what_was_added_later_is_read() {
    let older = postcard::to_stdvec(&object()).unwrap();
    assert_eq!(Object::decode(&older).unwrap(), object());
    assert!(Object::decode(&older[..older.len() - 1]).is_err());
}

#[test]
fn what_was_added_later_is_kept() {
    let mut object = object();
    object.version.body.running = vec!["trainer".to_owned()];
    object.version.body.held_back = vec!["shipper".to_owned()];
    let bytes = object.encode(vec![1, 2]).unwrap();
    assert_eq!(Object::decode(&bytes[2..]).unwrap(), object);
    // Segments hold it as JSON.
    let json = serde_json::to_string(&object.version.body).unwrap();
    assert!(json.contains(r#""running":["trainer"]"#), "{json}");
}
