//! Slurm's lists of nodes: `r[1-3,07]i0n[0-2],login1`.

/// A list names no more nodes than this; the rest is left out.
const MOST: usize = 16_384;

/// Every node that one of Slurm's lists (`n[1-3,07]`) names, in its order; a list
/// that is no list is one name.
#[must_use]
pub fn expand(list: &str) -> Vec<String> {
    let mut nodes = Vec::new();
    for part in outer(list) {
        if !part.is_empty() {
            expand_one(part, "", &mut nodes);
        }
    }
    nodes
}

/// Splits at commas outside brackets.
fn outer(list: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0_i32;
    list.trim().split(move |c| {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    })
}

fn expand_one(part: &str, before: &str, nodes: &mut Vec<String>) {
    if nodes.len() >= MOST {
        return;
    }
    let bracket = part
        .split_once('[')
        .and_then(|(prefix, rest)| Some((prefix, rest.split_once(']')?)));
    let Some((prefix, (ranges, after))) = bracket else {
        nodes.push(format!("{before}{part}"));
        return;
    };
    for range in ranges.split(',') {
        let (from, to) = range.split_once('-').unwrap_or((range, range));
        // Zeros in front are part of the name.
        let width = from.len();
        let (Ok(first), Ok(last)) = (from.parse::<u32>(), to.parse::<u32>()) else {
            continue;
        };
        for number in (first..=last).take(MOST) {
            let begun = format!("{before}{prefix}{number:0width$}");
            expand_one(after, &begun, nodes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::expand;

    #[test]
    fn lists_are_expanded() {
        for (list, nodes) in [
            ("n1", &["n1"][..]),
            ("n[1-3]", &["n1", "n2", "n3"]),
            ("n[08-10,12]", &["n08", "n09", "n10", "n12"]),
            ("r[1,7]i0n[0-1]", &["r1i0n0", "r1i0n1", "r7i0n0", "r7i0n1"]),
            ("a[1-2],b3", &["a1", "a2", "b3"]),
            ("gpu[1-2]-ib", &["gpu1-ib", "gpu2-ib"]),
            ("n[1-", &["n[1-"]),
            ("n[x-y]", &[]),
            ("", &[]),
        ] {
            assert_eq!(expand(list), nodes, "{list}");
        }
        assert_eq!(expand("n[1-999999999]").len(), 16_384);
        assert_eq!(expand("r[0-9999]n[0-9999]").len(), 16_384);
    }
}
