//! A copy that is taken while others write, and what is in it.

use super::*;
use crate::{StoreError, backup};

#[test]
fn a_copy_is_a_store_with_the_same_rows() {
    let (folder, mut store) = store();
    import(
        &mut store,
        (0..600).map(|n| reported(event(n, "p-0", START))),
    );
    import(&mut store, [pod("p-0", "exp", "job", START)]);
    // Some rows are in no segment yet, and one segment is no more.
    let hot = (600..640).map(|n| reported(event(n, "p-1", START + DAY)));
    store.write(hot.collect(), &[]).unwrap();
    let lost = reported(event(9_000, "p-2", START + 3 * DAY));
    import(&mut store, [lost]);
    let to = folder.path().join("copy");
    let copied = backup(store.root(), &to, &mut |_| {}).unwrap();
    assert_eq!(copied.segments, 3);
    assert!(copied.verified.is_well(), "{copied:?}");
    let copy = Store::open_to_read(&to).unwrap();
    assert_eq!(facts(&copy), facts(&store));
    drop(copy);
    // Nothing is shared: the copy goes its own way, and so does the store.
    let mut copy = Store::open(&to, Limits::default()).unwrap();
    copy.flush(START).unwrap();
    import(&mut copy, [reported(event(10_000, "p-3", START))]);
    assert_eq!(facts(&copy).len(), 642);
    assert_eq!(facts(&store).len(), 641);
    assert!(copy.verify(&mut |_| {}).unwrap().is_well());
    assert!(store.verify(&mut |_| {}).unwrap().is_well());
    // A folder that holds something stays as it is.
    let error = backup(store.root(), &to, &mut |_| {}).unwrap_err();
    assert!(error.to_string().contains("not empty"), "{error}");
    let nowhere = folder.path().join("nowhere");
    let error = backup(&nowhere, &folder.path().join("x"), &mut |_| {}).unwrap_err();
    assert!(matches!(error, StoreError::Missing { .. }), "{error}");
}

#[test]
fn a_copy_is_whole_while_others_write_and_compact() {
    let (folder, store) = store();
    let root = store.root().to_owned();
    drop(store);
    let limits = Limits {
        grace: 0,
        ..Limits::default()
    };
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let mut store = Store::open(&root, limits).unwrap();
            let mut number = 0;
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                import(
                    &mut store,
                    (0..50).map(|n| reported(event(number + n, "p", START))),
                );
                number += 50;
                store.compact(3, START, &mut |_, _| {}).unwrap();
            }
        });
        let copies: Vec<_> = (0..3)
            .map(|round| {
                let to = folder.path().join(format!("copy-{round}"));
                (backup(&root, &to, &mut |_| {}), to)
            })
            .collect();
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        for (copied, to) in copies {
            // Without any grace a copy may come too late five times over.
            let Ok(copied) = copied else { continue };
            assert!(copied.verified.is_well(), "{copied:?}");
            let copy = Store::open_to_read(&to).unwrap();
            assert_eq!(facts(&copy).len() % 50, 0, "whole imports");
        }
    });
}
