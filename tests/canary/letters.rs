//! Letters that look made by chance, and are the same each time.

/// A source of numbers, begun with what it is for.
pub(super) struct Letters(u64);

impl Letters {
    pub(super) fn of(kind: &str, place: &str) -> Self {
        let bytes = kind.bytes().chain([0]).chain(place.bytes());
        // FNV-1a.
        Self(bytes.fold(0xcbf2_9ce4_8422_2325, |sum, byte| {
            (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
        }))
    }

    /// `SplitMix64`.
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// So many letters of a set, as a program that makes secrets would.
    pub(super) fn made(&mut self, set: &str, count: usize) -> String {
        let letters = letters(set);
        loop {
            let made: String = (0..count)
                .map(|_| {
                    let at = self.next() % letters.len() as u64;
                    char::from(letters[usize::try_from(at).unwrap()])
                })
                .collect();
            if count < 8 || looks_made(set, &made) {
                return made;
            }
        }
    }
}

fn letters(set: &str) -> Vec<u8> {
    let ranges: &[&[u8]] = match set {
        "an" => &[b"az", b"AZ", b"09"],
        "ln" => &[b"az", b"09"],
        "UN" => &[b"AZ", b"09"],
        "lo" => &[b"az"],
        "up" => &[b"AZ"],
        "di" => &[b"09"],
        "hex" => &[b"09", b"af"],
        "b64" => &[b"az", b"AZ", b"09", b"++", b"//"],
        "b32" => &[b"AZ", b"27"],
        "url" => &[b"az", b"AZ", b"09", b"__", b"--"],
        "pw" => &[
            b"az", b"AZ", b"09", b"$$", b"!!", b"##", b"%%", b"^^", b"**", b"++", b"??", b"~~",
        ],
        other => panic!("no letters {other}"),
    };
    ranges
        .iter()
        .flat_map(|range| range[0]..=range[1])
        .collect()
}

/// With digits and letters, and none of the signs at an end.
fn looks_made(set: &str, made: &str) -> bool {
    let any = |what: fn(char) -> bool| made.chars().any(what);
    let mixes = matches!(set, "lo" | "up" | "di" | "b32")
        || (any(|letter| letter.is_ascii_digit()) && any(|letter| letter.is_ascii_alphabetic()));
    let ends = |letter: char| letter.is_ascii_alphanumeric();
    mixes && made.starts_with(ends) && made.ends_with(ends)
}
