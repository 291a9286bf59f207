//! The rank of a stream whose only process prints its environment.

use super::prefix;

/// What the stream has told of its environment so far.
#[derive(Debug, Default)]
pub(super) struct StreamEnvironment {
    rank: Option<i32>,
    /// One process on its node: the stream has no other worker's lines.
    alone: bool,
    /// Two ranks were told: it is not the stream of one process.
    torn: bool,
}

impl StreamEnvironment {
    /// Looks at a line; `RANK` and `LOCAL_WORLD_SIZE` often stand on lines of their own.
    pub(super) fn look(&mut self, text: &str) {
        if memchr::memmem::find(text.as_bytes(), b"RANK").is_none()
            && memchr::memmem::find(text.as_bytes(), b"LOCAL_WORLD_SIZE").is_none()
        {
            return;
        }
        if let Some(rank) = prefix::variable(text, "RANK") {
            self.torn |= self.rank.is_some_and(|known| known != rank);
            self.rank = Some(rank);
        }
        match prefix::variable(text, "LOCAL_WORLD_SIZE") {
            Some(1) => self.alone = true,
            Some(_) => self.torn = true,
            None => {}
        }
    }

    /// The rank of lines that name none.
    pub(super) fn rank(&self) -> Option<i32> {
        self.rank.filter(|_| self.alone && !self.torn)
    }
}
