//! Progress bars that are drawn over with carriage returns.

use std::sync::LazyLock;

use regex::Regex;

/// ` 45%|####5     | 450/1000 [07:30<09:10,  1.00s/it]`, `Epoch 3:  12%|█ `,
/// `450it [07:30,  1.00it/s]`, `Downloading: 45.2MB / 120MB`
static BAR: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^[^|]{0,120}?\d{1,3}(?:\.\d+)?%(?:\||\s|$)|\[\d+:\d+(?::\d+)?(?:<|, )[^\]]*\]?\s*$|^\s*\d+(?:\.\d+)?[kMG]?B? ?/ ?\d+").ok()
});

/// Where tqdm's bar ends; another process may have written on.
static END: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"(?:it/s|s/it|B/s)[^\]]{0,200}\]").ok());

/// A bar, and what stands behind it.
fn parted(part: &str) -> (&str, &str) {
    let end = END.as_ref().and_then(|end| end.find(part));
    end.map_or((part, ""), |end| part.split_at(end.end()))
}

fn is_bar(text: &str) -> bool {
    BAR.as_ref().is_some_and(|bar| bar.is_match(text))
}

/// What a line with carriage returns says: each text that is no state of a
/// bar, and of the states only the last.
pub(super) fn states(line: &str) -> Vec<&str> {
    let mut kept: Vec<&str> = Vec::new();
    let mut bar = None;
    for part in line.split('\r').filter(|part| !part.trim().is_empty()) {
        if is_bar(part) {
            let (state, behind) = parted(part);
            bar = Some(state);
            if !behind.trim().is_empty() {
                kept.extend(bar.take());
                kept.push(behind);
            }
        } else if kept.last() != Some(&part) {
            // What follows a bar stands after its last state.
            kept.extend(bar.take());
            kept.push(part);
        }
    }
    kept.extend(bar);
    kept
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_last_state_of_a_bar_counts() {
        let bar = "\r  0%|          | 0/3 [00:00<?, ?it/s]\r 33%|###3      | 1/3 [00:01<00:02,  1.00s/it]\r 66%|######6   | 2/3 [00:02<00:01,  1.00s/it]";
        assert_eq!(
            states(bar),
            [" 66%|######6   | 2/3 [00:02<00:01,  1.00s/it]"]
        );
        let broken = format!("{bar}slurmstepd: error: x\r100%|##########| 3/3 [00:03<00:00]");
        assert_eq!(states(&broken)[1], "slurmstepd: error: x");
        assert_eq!(states(&broken).len(), 3);
        assert_eq!(states("one\rone\rtwo"), ["one", "two"]);
        assert_eq!(states("\r\r"), Vec::<&str>::new());
    }
}
