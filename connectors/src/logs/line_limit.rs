//! Which lines of a long log are kept: its ends, and what tells something.

use std::collections::VecDeque;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::join::JoinedRecord;
use crate::contract::LogLines;

/// Words, in lower case, of lines that may be evidence: kept however long the
/// log is, and asked for over a whole run in log stores.
pub const TELLING: &[&str] = &[
    "error",
    "exception",
    "traceback",
    "fatal",
    "kill",
    "signal",
    "sigterm",
    "nccl",
    "timeout",
    "timed out",
    "oom",
    "out of memory",
    "cuda",
    "xid",
    "panic",
    "abort",
    "segfault",
    "segmentation",
    "core dumped",
    "fail",
    "refused",
    "denied",
    "forbidden",
    "unauthorized",
    "no space",
    "not found",
    "no such",
    "checkpoint",
    "saved",
    "saving",
    "resum",
    "warn",
    "critical",
    "evict",
    "preempt",
    "drain",
    "shutdown",
    "shutting down",
    "terminat",
    "unreachable",
    "reset by peer",
    "broken pipe",
    "nan",
    "diverg",
    "ecc",
    "nvlink",
    "nvrm",
    "hang",
    "stuck",
    "stall",
    "disconnect",
    "lost",
    "exited",
    "exit code",
    "exitcode",
    "retry",
    "unavailable",
    "quota",
    "deadline",
    "certificate",
    "too many",
    "slowdown",
    "rate limit",
    "stale ",
    "transport endpoint",
    "input/output",
    "read-only file system",
    "address already in use",
    "overflow",
    "spike",
    "not finite",
    "cancelled",
    "interrupt",
    "never join",
    "join collective",
    "lagging rank",
    "not joined",
    "mismatch",
    "unhealthy",
    "heartbeat",
    "root cause",
    "collective",
    "died",
    "dead",
    "clusterdown",
    "misconf",
    "view run",
    "restor",
    "global step",
];

static TELLS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build(TELLING)
        .ok()
});

/// Whether a line may be evidence.
pub(super) fn tells(text: &str) -> bool {
    TELLS.as_ref().is_none_or(|words| words.is_match(text))
}

/// What may be held back at once.
const MAX_BYTES: usize = 32 << 20;

/// Holds back what may have to be left out.
#[derive(Debug)]
pub(super) struct LineLimiter {
    limits: LogLines,
    seen: usize,
    /// Records in the midst that tell something.
    telling: usize,
    /// The log is known to be long.
    long: bool,
    held: VecDeque<JoinedRecord>,
    bytes: usize,
    left_out: u64,
}

impl LineLimiter {
    pub(super) fn new(limits: LogLines) -> Self {
        Self {
            limits,
            seen: 0,
            telling: 0,
            long: false,
            held: VecDeque::new(),
            bytes: 0,
            left_out: 0,
        }
    }

    /// Takes the next record of the stream.
    pub(super) fn push(&mut self, record: JoinedRecord, out: &mut Vec<JoinedRecord>) {
        self.seen += record.lines;
        let is_first = self.seen <= self.limits.first;
        let is_sure = is_first || {
            let is_telling =
                self.telling < self.limits.telling && (record.lines > 1 || tells(&record.message));
            self.telling += usize::from(is_telling);
            is_telling
        };
        if is_sure {
            out.push(record);
        } else {
            self.bytes += size(&record);
            self.held.push_back(record);
        }
        if self.seen > self.limits.whole || self.bytes > MAX_BYTES {
            self.long = true;
        }
        while self.long && (self.held.len() > self.limits.last || self.bytes > MAX_BYTES) {
            let Some(dropped) = self.held.pop_front() else {
                break;
            };
            self.bytes -= size(&dropped);
            self.left_out += 1;
        }
    }

    /// There are no more; what is held back is the log's end.
    pub(super) fn finish(&mut self, out: &mut Vec<JoinedRecord>) {
        self.bytes = 0;
        out.extend(self.held.drain(..));
    }

    /// How many lines were left out.
    pub(super) fn left_out(&self) -> u64 {
        self.left_out
    }
}

fn size(record: &JoinedRecord) -> usize {
    400 + record.raw.len() + 2 * record.message.len()
}
