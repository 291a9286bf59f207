//! What is packed or encoded.

use super::*;

#[test]
fn packed_forms_are_opened_whatever_their_name() {
    let plain = format!("{A}\n{B}\n");
    let inner = tar(&[
        ("x/a.json", A.as_bytes()),
        ("empty", b""),
        ("b", B.as_bytes()),
    ]);
    let members: &[(&str, &[u8])] = &[
        ("a", A.as_bytes()),
        ("deep.tgz", &gzip(&tar(&[("b", B.as_bytes())]))),
    ];
    let utf16 = |bom: [u8; 2], unit: fn(u16) -> [u8; 2]| {
        let mut bytes = bom.to_vec();
        bytes.extend(plain.encode_utf16().flat_map(unit));
        bytes
    };
    for packed in [
        gzip(plain.as_bytes()),
        [gzip(A.as_bytes()), gzip(B.as_bytes())].concat(),
        zstd::encode_all(plain.as_bytes(), 1).unwrap(),
        inner.clone(),
        gzip(&inner),
        zstd::encode_all(inner.as_slice(), 1).unwrap(),
        zip(members),
        gzip(&zip(members)),
        tar(&[("z", &zip(members))]),
        utf16([0xff, 0xfe], u16::to_le_bytes),
        utf16([0xfe, 0xff], u16::to_be_bytes),
        gzip(&gzip(plain.as_bytes())),
    ] {
        let (summary, seen) = one(&packed);
        let mut found = names(&seen);
        found.sort_unstable();
        assert_eq!(found, ["a", "b"], "{summary:?}");
        assert_eq!(summary.total.status, FileStatus::Complete, "{summary:?}");
    }
}

#[test]
fn members_are_named_after_their_archive() {
    let (summary, _) = one(&gzip(&tar(&[("./x/a.json", A.as_bytes())])));
    let shown: Vec<(&str, &str)> = summary
        .files
        .iter()
        .map(|file| {
            (
                file.name
                    .rsplit('/')
                    .next_back()
                    .map_or("", |_| &*file.name),
                file.form.as_str(),
            )
        })
        .collect();
    assert!(
        shown[0].0.ends_with("given") && shown[0].1 == "gzip, tar archive",
        "{shown:?}"
    );
    assert!(
        shown[1].0.ends_with("given!x/a.json") && shown[1].1 == "JSON",
        "{shown:?}"
    );
}

#[test]
fn what_is_cut_off_while_packed_gives_what_was_readable() {
    let mut state = 1_u64;
    let many: String = (0..20_000)
        .map(|_| {
            state = state
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1);
            format!("{{\"kind\":\"Pod\",\"metadata\":{{\"name\":\"{state}\"}}}}\n")
        })
        .collect();
    for packed in [
        gzip(many.as_bytes()),
        zstd::encode_all(many.as_bytes(), 1).unwrap(),
        tar(&[("a", many.as_bytes())]),
        gzip(&tar(&[("a", many.as_bytes())])),
    ] {
        let (summary, seen) = one(&packed[..packed.len() * 3 / 4]);
        assert!(seen.len() > 5_000, "{summary:?}");
        assert!(
            matches!(summary.total.status, FileStatus::Truncated(_)),
            "{summary:?}"
        );
    }
    let (summary, _) = one(&zip(&[("a", many.as_bytes())])[..1000]);
    assert!(
        matches!(summary.total.status, FileStatus::Failed(_)),
        "{summary:?}"
    );
}

#[test]
fn a_bomb_is_stopped_and_what_came_before_is_kept() {
    let options = Options {
        bomb_floor_bytes: 4 << 20,
        ..options()
    };
    let filler = format!("{A}\n").repeat(2_000_000);
    let (summary, seen) = one_with(&zstd::encode_all(filler.as_bytes(), 3).unwrap(), &options);
    assert!(
        seen.len() > 50_000 && seen.len() < 1_000_000,
        "{}",
        seen.len()
    );
    assert!(
        matches!(&summary.files[0].status, FileStatus::Truncated(why) if why.contains("bomb")),
        "{summary:?}"
    );

    let options = Options {
        max_total_bytes: 1 << 20,
        ..self::options()
    };
    let (summary, _) = one_with(&gzip(filler.as_bytes()), &options);
    assert!(
        matches!(&summary.files[0].status, FileStatus::Truncated(why) if why.contains("cap")),
        "{summary:?}"
    );

    let mut nested = A.as_bytes().to_vec();
    for _ in 0..8 {
        nested = tar(&[("x", &nested)]);
    }
    let (summary, seen) = one(&nested);
    assert!(seen.is_empty());
    assert!(matches!(&summary.total.status, FileStatus::Failed(why) if why.contains("too deep")));
}

#[test]
fn bytes_that_are_no_text_are_replaced_and_counted() {
    let (summary, seen) = one(b"{\"kind\":\"Pod\",\"metadata\":{\"name\":\"caf\xe9\"}}\n");
    assert_eq!(names(&seen), ["caf\u{fffd}"]);
    assert_eq!(summary.total.lossy, 1);
}
