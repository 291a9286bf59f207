//! Names of clusters in paths of shared segments, as Hive partitions write them.

use whathappened_model::time::Nanos;

/// What stands for no cluster.
const NONE: &str = "__HIVE_DEFAULT_PARTITION__";

/// A cluster as a part of a path: letters, digits, `-`, `_` and `.` as they are, each
/// other byte as `=` and two digits, since `%` means something of its own in paths.
pub(crate) fn in_path(cluster: Option<&str>) -> String {
    let Some(cluster) = cluster else {
        return NONE.to_owned();
    };
    let mut text = String::new();
    for byte in cluster.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' => text.push(char::from(byte)),
            b'.' if !text.is_empty() => text.push('.'),
            other => text.push_str(&format!("={other:02X}")),
        }
    }
    text
}

/// The cluster of a path that [`in_path`] made a part of.
pub(crate) fn cluster_of(file: &str) -> Option<String> {
    let part = file
        .split('/')
        .find_map(|part| part.strip_prefix("cluster="))?;
    if part == NONE {
        return None;
    }
    let mut bytes = Vec::new();
    let mut rest = part.bytes();
    while let Some(byte) = rest.next() {
        let hex = |digit: Option<u8>| char::from(digit?).to_digit(16);
        match byte {
            b'=' => {
                let (high, low) = (hex(rest.next())?, hex(rest.next())?);
                bytes.push(u8::try_from(high * 16 + low).ok()?);
            }
            other => bytes.push(other),
        }
    }
    String::from_utf8(bytes).ok()
}

/// The times of a segment as its name ends with: logs know no nanoseconds.
pub(super) fn times_in_name(from: Nanos, to: Nanos) -> String {
    format!("{from:016x}-{to:016x}")
}

/// The times that [`times_in_name`] made the end of a file's name.
#[cfg(feature = "lake")]
pub(crate) fn times_of(file: &str) -> Option<(Nanos, Nanos)> {
    let mut parts = file.strip_suffix(".parquet")?.rsplit('-');
    let (to, from) = (parts.next()?, parts.next()?);
    let time = |text: &str| {
        let bits = u64::from_str_radix(text, 16).ok()?;
        (text.len() == 16).then_some(bits.cast_signed())
    };
    Some((time(from)?, time(to)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(feature = "lake")]
    #[test]
    fn times_come_back_from_a_name() {
        for times in [
            (0, 1),
            (Nanos::MIN, Nanos::MAX),
            (-1, 1_793_491_200_123_456_789),
        ] {
            let name = format!("events/a-1-{}.parquet", times_in_name(times.0, times.1));
            assert_eq!(times_of(&name), Some(times));
        }
        assert_eq!(times_of("events/part-00000-1b2c.snappy.parquet"), None);
    }

    #[test]
    fn a_cluster_comes_back_from_its_path() {
        for name in ["a-1_B", "../x", "gke/eu west~1", "é%20", "=", "."] {
            let part = in_path(Some(name));
            assert!(!part.contains(['/', '%', ' ', '~']), "{part}");
            let file = format!("events/cluster={part}/day=2026-01-01/x.parquet");
            assert_eq!(cluster_of(&file).as_deref(), Some(name));
        }
        assert_eq!(cluster_of(&format!("cluster={}/x", in_path(None))), None);
        assert_eq!(cluster_of("events/day=2026-01-01/x.parquet"), None);
    }
}
