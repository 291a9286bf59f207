//! How much of each list and text a page has room for.

/// Limits of one page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Room {
    /// Rows of the timeline.
    pub(super) rows: usize,
    /// Records of evidence.
    pub(super) records: usize,
    /// Entries of any other list.
    pub(super) entries: usize,
    /// Characters of a text.
    pub(super) text: usize,
    /// Characters of a record as it was read, and of a traceback.
    pub(super) raw: usize,
}

impl Room {
    /// What a page has at first; `rows` is what the reader asked for.
    pub(super) fn new(rows: Option<usize>) -> Self {
        const ROWS: usize = 3_000;
        Self {
            rows: rows.unwrap_or(ROWS).min(ROWS),
            records: 200,
            entries: 500,
            text: 600,
            raw: 6_000,
        }
    }

    /// Half of it; nothing where that would leave too little to be of use.
    pub(super) fn less(self) -> Option<Self> {
        const TEXT: usize = 60;
        if self.text <= TEXT {
            return None;
        }
        // Rows go first, then texts: a short list of whole records says more.
        let is_long = self.rows > 750;
        let rest = |n: usize| if is_long { n } else { n / 2 };
        Some(Self {
            rows: self.rows / 2,
            records: rest(self.records).max(8),
            entries: rest(self.entries).max(8),
            text: rest(self.text).max(TEXT),
            raw: rest(self.raw).max(TEXT),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_shrinks_to_an_end() {
        let mut room = Room::new(None);
        let mut times = 0;
        while let Some(less) = room.less() {
            assert!(less.rows <= room.rows && less.text <= room.text);
            room = less;
            times += 1;
        }
        assert!(times < 12 && room.text == 60, "{times}: {room:?}");
        assert_eq!(Room::new(Some(5)).rows, 5);
    }
}
