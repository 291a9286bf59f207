//! A full disk: a clear error, and nothing damaged. Needs leave to mount a small tmpfs.

use std::path::Path;
use std::process::Command;

use super::*;
use crate::StoreError;

struct Mount(std::path::PathBuf);

impl Drop for Mount {
    fn drop(&mut self) {
        let _left = Command::new("umount").arg("-l").arg(&self.0).status();
    }
}

fn mount(at: &Path) -> Option<Mount> {
    let mounted = Command::new("mount")
        .args(["-t", "tmpfs", "-o", "size=4m", "tmpfs"])
        .arg(at)
        .output();
    mounted
        .is_ok_and(|output| output.status.success())
        .then(|| Mount(at.to_owned()))
}

#[test]
fn a_full_disk_is_told_and_damages_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let Some(_mount) = mount(folder.path()) else {
        whathappened_loopback::skipped("no leave to mount a tmpfs");
        return;
    };
    let root = folder.path().join("store");
    for bulk in [true, false] {
        let mut store = Store::open(&root, Limits::default()).unwrap();
        let before = facts(&store).len();
        let mut failed = None;
        let mut kept = before;
        for batch in 0..2_000_u64 {
            let rows = (batch * 20..(batch + 1) * 20).map(|n| {
                let mut event = event(n + 1_000_000 * u64::from(bulk), "p-0", START);
                // Text that does not compress.
                event.raw = (0..40)
                    .map(|m| EventId::of(&[&format!("{n}-{m}")]).to_string())
                    .collect();
                reported(event)
            });
            let written = if bulk {
                let mut bulk = store.bulk(START);
                { rows }
                    .try_for_each(|row| bulk.push(row))
                    .and_then(|()| bulk.flush())
                    .map(|written| written.new)
            } else {
                store.write(rows.collect(), &[])
            };
            match written {
                Ok(new) => kept += usize::try_from(new).unwrap(),
                Err(error) => {
                    failed = Some(error);
                    break;
                }
            }
        }
        let failed = failed.expect("four megabytes are full at some time");
        assert!(matches!(failed, StoreError::Full { .. }), "{failed:?}");
        assert!(failed.to_string().contains("disk is full"), "{failed}");
        drop(store);
        // Reading needs no room, and everything that was acknowledged is there.
        let store = Store::open_to_read(&root).unwrap();
        assert_eq!(facts(&store).len(), kept, "bulk {bulk}");
        drop(store);
        // Retention makes room again.
        let mut store = Store::open(
            &root,
            Limits {
                max_bytes: 0,
                grace: 0,
                ..Limits::default()
            },
        )
        .unwrap();
        store.retain(START).unwrap();
    }
}

/// Whatever room is left when a store is opened or made: it opens, or the disk is full.
#[test]
fn opening_on_a_full_disk_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let Some(_mount) = mount(folder.path()) else {
        whathappened_loopback::skipped("no leave to mount a tmpfs");
        return;
    };
    let filler = folder.path().join("filler");
    let mut failed = 0;
    for left in (0..80).map(|n| n * 4_096) {
        let root = folder.path().join(format!("store-{left}"));
        // All the room there is, less some.
        let mut file = std::fs::File::create(&filler).unwrap();
        let piece = [1_u8; 4_096];
        let mut filled = 0_u64;
        while std::io::Write::write_all(&mut file, &piece).is_ok() {
            filled += piece.len() as u64;
        }
        file.set_len(filled.saturating_sub(left)).unwrap();
        drop(file);
        if let Err(error) = Store::open(&root, Limits::default()) {
            failed += 1;
            assert!(
                matches!(error, StoreError::Full { .. }),
                "{left}: {error:?}"
            );
            let reported = error.to_string();
            assert!(
                reported.contains("store-") && reported.contains("Free some space"),
                "{reported}"
            );
        }
        std::fs::remove_file(&filler).unwrap();
        std::fs::remove_dir_all(&root).unwrap_or_default();
    }
    assert!(failed > 3, "{failed}");
}
