//! Finds what is left of secrets in a text, also of parts of them.

use std::collections::{BTreeSet, HashMap};

/// What is known by so many letters in a row.
const WINDOW: usize = 8;

/// Which secrets there are, by any eight letters of them.
#[derive(Default)]
pub(crate) struct Trap {
    secrets: Vec<Secret>,
    /// Which secret, and how far in.
    windows: HashMap<[u8; WINDOW], (u32, u32)>,
    /// Which windows there may be, a bit each: nearly all of a text is none of them.
    may_be: Vec<u64>,
}

/// How many bits there are, as a power of two.
const BITS: u32 = 26;

/// The bit of a window.
fn bit(window: [u8; WINDOW]) -> (usize, u64) {
    let mixed = u64::from_le_bytes(window).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> (64 - BITS);
    (usize::try_from(mixed / 64).unwrap(), 1 << (mixed % 64))
}

struct Secret {
    text: Vec<u8>,
    /// So much of it has to be seen.
    least: usize,
    /// Its kind and its place.
    of: (usize, usize),
}

impl Trap {
    /// Sets a secret of letters of a set. What is too short to be told from other words is none.
    pub(super) fn set(&mut self, text: &str, letters: &str, of: (usize, usize)) {
        let least = match letters {
            "di" => text.len(),
            "hex" => text.len().min(16),
            _ => WINDOW,
        };
        if text.len() < WINDOW {
            return;
        }
        let number = u32::try_from(self.secrets.len()).unwrap();
        self.may_be.resize((1 << BITS) / 64, 0);
        for (at, window) in text.as_bytes().windows(WINDOW).enumerate() {
            if letters == "di" || !window.iter().all(u8::is_ascii_digit) {
                let at = u32::try_from(at).unwrap();
                let window = window.try_into().unwrap();
                let (word, bit) = bit(window);
                self.may_be[word] |= bit;
                self.windows.insert(window, (number, at));
            }
        }
        self.secrets.push(Secret {
            text: text.as_bytes().to_vec(),
            least,
            of,
        });
    }

    /// How many were set.
    pub(crate) fn len(&self) -> usize {
        self.secrets.len()
    }

    /// The kind and the place of each secret that a text shows, with where.
    pub(crate) fn seen(&self, text: &[u8]) -> BTreeSet<((usize, usize), usize)> {
        let mut seen = BTreeSet::new();
        let mut last = None;
        for (at, window) in text.windows(WINDOW).enumerate() {
            let Ok(window) = <[u8; WINDOW]>::try_from(window) else {
                continue;
            };
            let (word, bit) = bit(window);
            if self.may_be.get(word).is_none_or(|word| word & bit == 0) {
                continue;
            }
            let Some(&(number, begin)) = self.windows.get(&window) else {
                continue;
            };
            let secret = &self.secrets[number as usize];
            let rest = &secret.text[begin as usize..];
            let same = rest
                .iter()
                .zip(&text[at..])
                .take_while(|(one, other)| one == other);
            if same.count() >= secret.least && last != Some(secret.of) {
                seen.insert((secret.of, at));
                last = Some(secret.of);
            }
        }
        seen
    }
}
