//! Container logs in files: a line, or lines that belong together, to an event.

use std::sync::Arc;

use crate::event::Entities;
use crate::observation::Observation;
use crate::recording::LogLines;

/// What is known of a log before its first line is read.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LogSource {
    /// The file's name as given.
    pub file: Arc<str>,
    /// Whose log it is, where the path says so.
    pub entities: Entities,
    /// The file's name without folder and ending, where it may be a pod's.
    pub file_stem: Option<String>,
    /// The log of the container's run before the last.
    pub previous: bool,
}

/// stub
#[derive(Debug)]
pub struct LogStream {}
impl LogStream {
    /// stub
    pub fn new(_: Arc<LogSource>, _: LogLines, _: usize) -> Self {
        Self {}
    }
    /// stub
    pub fn line(
        &mut self,
        _text: &str,
        _n: u64,
        _out: &mut Vec<Observation>,
    ) -> Result<(), String> {
        Ok(())
    }
    /// stub
    pub fn finish(&mut self, _out: &mut Vec<Observation>) {}
    /// stub
    pub fn left_out(&self) -> u64 {
        0
    }
}
