//! A log whose lines have no times: what it says last, in the order of its lines.

/// Lines of a log without times, by their number in the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct UntimedLog {
    /// The last that means anything.
    pub last: u64,
    /// The last that a program writes that fails; 0 where there is none.
    pub words: u64,
    /// The last that a program ends with, unless it goes on; 0 where there is none.
    pub end: u64,
    /// The last that tells of a training step; 0 where there is none.
    pub step: u64,
    /// The last step before those words.
    pub stepped: u64,
    /// The step that was counted last, where the line says a number.
    pub counted: Option<u64>,
    /// The last that says that all is done; 0 where there is none.
    pub done: u64,
    /// The last that says that a GPU computes wrongly, for which the program ends; 0 where there is none.
    pub wrong: u64,
    /// The last with which a launcher tells of the end of one step, dated or not; 0 where there is none.
    pub part: u64,
}

impl UntimedLog {
    /// Whether the log says that all is done after a part of the job had ended.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.done > self.part.max(self.words).max(self.step)
    }

    /// Whether steps were made after the last words: more than what stood in a buffer, or what other ranks were at.
    #[must_use]
    pub fn went_on(&self) -> bool {
        const OTHERS: u64 = 16;
        self.step > self.words + OTHERS
    }

    /// Whether a line is among the last words of the log: no step was made after it, and what
    /// follows is no more than other ranks and a launcher have to say.
    #[must_use]
    pub fn ends_with(&self, line: u64) -> bool {
        const AFTER: u64 = 400;
        let stepped = if self.went_on() {
            self.step
        } else {
            self.stepped
        };
        self.words > 0 && line > stepped && line <= self.last && self.last - line <= AFTER
    }
}
