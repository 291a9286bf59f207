//! Names of one list, cut to a width so that each can still be told from the others.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Bound;

use super::text::{middle, width};

/// The names as they are shown: their middles are left out where that keeps them apart, else
/// what is shown is where they differ.
pub(crate) fn distinct(names: &[&str], columns: usize) -> Vec<String> {
    let mut shown: Vec<String> = names
        .iter()
        .map(|name| middle(name, columns).into_owned())
        .collect();
    let mut alike: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for (name, cut) in names.iter().zip(&shown) {
        alike.entry(cut.clone()).or_default().insert(name);
    }
    for (name, cut) in names.iter().zip(&mut shown) {
        let others = alike.get(cut).filter(|others| others.len() > 1);
        if let Some(others) = others {
            // In order, the likest names are neighbours.
            let before = others.range(..*name).next_back();
            let after = others.range::<str, _>((Bound::Excluded(*name), Bound::Unbounded));
            let near = before.into_iter().chain(after.take(1));
            let differs = near.map(|other| common(name, other)).max();
            *cut = around(name, differs.unwrap_or(0), columns);
        }
    }
    shown
}

/// Characters that two names begin with alike.
fn common(a: &str, b: &str) -> usize {
    let same = a.chars().zip(b.chars());
    same.take_while(|(a, b)| a == b).count()
}

/// The part of a name with one of its characters a little before the middle.
fn around(name: &str, place: usize, columns: usize) -> String {
    let start = place.saturating_sub(columns / 3);
    let rest: String = name.chars().skip(start).collect();
    let room = columns.saturating_sub(1);
    if width(&rest) <= room {
        // As much of the end as there is room for.
        let mut tail = Vec::new();
        let mut used = 0;
        for letter in name.chars().rev() {
            used += width(letter.encode_utf8(&mut [0; 4]));
            if used > room {
                break;
            }
            tail.push(letter);
        }
        return format!("…{}", tail.into_iter().rev().collect::<String>());
    }
    let mut kept = String::new();
    for letter in rest.chars() {
        if width(&kept) + width(letter.encode_utf8(&mut [0; 4])) > room.saturating_sub(1) {
            break;
        }
        kept.push(letter);
    }
    format!("…{kept}…")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_shown() {
        let cut = |names: &[&str], columns| distinct(names, columns);
        assert_eq!(
            cut(&["research/train-large-a1", "research/train-large-b2"], 14),
            ["resear…arge-a1", "resear…arge-b2"]
        );
        // They differ where their middles would be left out.
        let names = [
            "research/sweep-alpha-of-the-large-model-0",
            "research/sweep-gamma-of-the-large-model-0",
        ];
        let shown = cut(&names, 16);
        assert!(shown[0].contains("alpha"), "{shown:?}");
        assert!(shown[1].contains("gamma"), "{shown:?}");
        assert!(shown.iter().all(|name| width(name) <= 16), "{shown:?}");
        // One name twice is one name.
        assert_eq!(cut(&["abcdefgh", "abcdefgh"], 5), ["ab…gh", "ab…gh"]);
    }
}
