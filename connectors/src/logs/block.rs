//! Which lines belong to the line before: how each language prints its end.

use crate::ignored_exception;

/// What kind of many-line record is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Python,
    Cpp,
    Rust,
    Java,
    /// An exception of Java or JavaScript whose class is the line's first word; one only if
    /// frames follow.
    JavaLogged,
    Go,
    /// Python's fault handler: `Fatal Python error: Segmentation fault`.
    Fault,
    /// torchrun's report of a failure, which bears its time in itself.
    Report,
    /// A record of a library that goes on in lines of a known start.
    Library,
}

/// Where in the record the last line was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BlockStage {
    /// Python's words of an exception that ends nothing; its traceback follows.
    Heralded,
    /// Frames, or whatever is indented.
    Frames,
    /// The line that names the exception was seen.
    Named,
    /// `During handling of the above …` was seen; another traceback follows.
    Chained,
}

pub(super) const PYTHON: &str = "Traceback (most recent call last):";
const GROUP: &str = "Exception Group Traceback (most recent call last):";

/// The kind of record that `text` starts.
pub(super) fn starts(text: &str) -> Option<Kind> {
    let trimmed = text.trim_start();
    // A logger may put its own words before the first traceback line.
    if trimmed.ends_with(PYTHON) || ignored_exception::is_announced(trimmed) {
        return Some(Kind::Python);
    }
    if trimmed.starts_with("terminate called ") {
        return Some(Kind::Cpp);
    }
    if trimmed.starts_with("thread '") && trimmed.contains("panicked at") {
        return Some(Kind::Rust);
    }
    if trimmed.starts_with("Exception in thread \"") {
        return Some(Kind::Java);
    }
    if text.starts_with("panic: ") || text.starts_with("fatal error: ") {
        return Some(Kind::Go);
    }
    if trimmed.starts_with("Fatal Python error: ") {
        return Some(Kind::Fault);
    }
    if matches!(trimmed.trim_end(), ROOT_CAUSE | "Failures:") {
        return Some(Kind::Report);
    }
    if starts_library(trimmed) {
        return Some(Kind::Library);
    }
    (logged_java(text) || logged_javascript(text)).then_some(Kind::JavaLogged)
}

/// The heading of torchrun's report.
pub(super) const ROOT_CAUSE: &str = "Root Cause (first observed failure):";

/// What goes on below: the hints of torch, the tasks that JAX misses, the
/// second half of what Open MPI wraps.
fn starts_library(text: &str) -> bool {
    let wrapped = text.contains("noticed that process rank ") && !text.contains(" signal ");
    wrapped
        || text.starts_with("MPI_ABORT was invoked on rank ")
        || text.contains("watchdog thread terminated with exception")
        || text.contains("The following tasks are unhealthy")
        || text.contains("Some tasks timed out at the barrier")
}

fn goes_on_library(text: &str) -> bool {
    const STARTS: &[&str] = &[
        "signal ",
        "with errorcode ",
        "/job:",
        "The tasks have crashed",
        "RPC: /tensorflow.",
        "The first task at the barrier",
    ];
    is_torch_hint(text) || STARTS.iter().any(|start| text.starts_with(start))
}

/// `java.io.IOException: disk`, below a logger's own line.
fn logged_java(text: &str) -> bool {
    let name = text.split(':').next().unwrap_or_default();
    let ends = ["Exception", "Error", "Throwable"]
        .iter()
        .any(|end| name.ends_with(end));
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'$' | b'_');
    ends && name.contains('.') && name.bytes().all(plain)
}

/// `TypeError: Cannot read properties of undefined`, `Error [ERR_MODULE_NOT_FOUND]: …` and what Node.js calls its errors else.
fn logged_javascript(text: &str) -> bool {
    let name = text.split(':').next().unwrap_or_default();
    let name = name.split_once(" [").map_or(name, |(name, _)| name);
    let own = name.strip_suffix("Error");
    own.is_some_and(|own| own.bytes().all(|b| b.is_ascii_alphanumeric())) && text.len() > name.len()
}

/// A rule across the page, as reports have between their parts.
fn is_rule(text: &str) -> bool {
    text.len() >= 10 && (text.bytes().all(|b| b == b'=') || text.bytes().all(|b| b == b'-'))
}

/// Whether `text` goes on an open record, and where it then is.
pub(super) fn goes_on(
    kind: Kind,
    stage: BlockStage,
    lines: usize,
    text: &str,
) -> Option<BlockStage> {
    let indented = text.starts_with([' ', '\t']);
    if indented && reports_progress(text.trim_start()) {
        return None;
    }
    match kind {
        Kind::Python => python(stage, indented, text),
        Kind::Cpp => {
            let frame = text.starts_with("frame #") || text.starts_with("Exception raised from ");
            (indented || frame || lines == 1 && text.starts_with("what():"))
                .then_some(BlockStage::Frames)
        }
        Kind::Rust => {
            let trailer = text.starts_with("note: ") || text.starts_with("stack backtrace:");
            // The message stands on the second line since Rust 1.73.
            (lines == 1 || indented || trailer).then_some(BlockStage::Frames)
        }
        Kind::Java | Kind::JavaLogged => {
            let cause =
                text.starts_with("Caused by: ") || text.trim_start().starts_with("Suppressed: ");
            // A Python exception's class looks alike; Ray's goes on below.
            (indented || cause || is_ray_reason(text)).then_some(BlockStage::Frames)
        }
        Kind::Go => {
            let routine = ["goroutine ", "created by ", "[signal ", "exit status "];
            let call = text.ends_with(')') && text.contains('(') && !text.contains(' ');
            (indented || call || routine.iter().any(|start| text.starts_with(start)))
                .then_some(BlockStage::Frames)
        }
        Kind::Fault => {
            let part = [
                "Current thread 0x",
                "Thread 0x",
                "Python runtime state",
                "Extension modules:",
                "<no Python frame>",
            ];
            (indented || part.iter().any(|start| text.starts_with(start)))
                .then_some(BlockStage::Frames)
        }
        // A failed rank's own traceback may stand in it.
        Kind::Report => (!is_rule(text.trim_end())).then_some(BlockStage::Frames),
        Kind::Library => goes_on_library(text).then_some(BlockStage::Frames),
    }
}

/// Whether a line tells of a step: Megatron and tqdm begin theirs with a blank.
fn reports_progress(text: &str) -> bool {
    let dated = text
        .strip_prefix('[')
        .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()) && rest.contains(']'));
    let bar = text
        .split_once("%|")
        .is_some_and(|(percent, _)| percent.ends_with(|c: char| c.is_ascii_digit()));
    dated && text.contains("iteration") || bar
}

fn python(stage: BlockStage, indented: bool, text: &str) -> Option<BlockStage> {
    let chain = text.starts_with("During handling of the above exception")
        || text.starts_with("The above exception was the direct cause");
    match stage {
        // A logger may have made one record of the whole traceback.
        BlockStage::Heralded => text.starts_with(PYTHON).then_some(if text.contains('\n') {
            BlockStage::Named
        } else {
            BlockStage::Frames
        }),
        // Of code that is in no file, what marks its place is not indented.
        BlockStage::Frames if indented || is_marker(text) => Some(BlockStage::Frames),
        BlockStage::Frames => names_exception(text).then_some(BlockStage::Named),
        // Ray puts the traceback of the task below the name.
        BlockStage::Named if indented && text.trim_start().starts_with("File \"") => {
            Some(BlockStage::Frames)
        }
        // torch prints hints below the exception that belong to its message.
        BlockStage::Named if indented || is_torch_hint(text) || is_ray_reason(text) => {
            Some(BlockStage::Named)
        }
        BlockStage::Named => chain.then_some(BlockStage::Chained),
        BlockStage::Chained => {
            (text == PYTHON || text.trim_start().ends_with(GROUP)).then_some(BlockStage::Frames)
        }
    }
}

/// `^^^^^^^`, `~~~~~^^^`: what of a line of code an error came from.
fn is_marker(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| matches!(byte, b'^' | b'~'))
}

/// `torch.OutOfMemoryError: CUDA …`, `KeyboardInterrupt`
pub(super) fn names_exception(text: &str) -> bool {
    const LEVELS: &[&str] = &[
        "DEBUG", "INFO", "WARN", "WARNING", "ERROR", "CRITICAL", "FATAL",
    ];
    let name = text.split(':').next().unwrap_or_default();
    // Ray names the cause too: `RayTaskError(ValueError)`.
    let word = |part: &str| {
        part.starts_with(|c: char| c.is_alphabetic() || c == '_')
            && part
                .chars()
                .all(|c| c.is_alphanumeric() || matches!(c, '_' | '(' | ')'))
    };
    // Another log line between is no exception.
    !LEVELS.contains(&name) && name.split('.').all(|part| word(part) || part == "<locals>")
}

fn is_ray_reason(text: &str) -> bool {
    [
        "The actor is dead because",
        "The actor died because",
        "The worker may have ",
        "The task's node ",
    ]
    .iter()
    .any(|start| text.starts_with(start))
}

fn is_torch_hint(text: &str) -> bool {
    [
        "CUDA kernel errors might be asynchronously reported",
        "so the stacktrace below might be incorrect",
        "Search for `",
        "Device-side assertions were explicitly omitted",
        "For debugging consider passing CUDA_LAUNCH_BLOCKING",
        "Compile with `TORCH_USE_CUDA_DSA`",
        "Last error:",
        "ncclUnhandledCudaError",
        "ncclSystemError",
        "ncclInternalError",
        "ncclRemoteError",
        "Exception raised from ",
        "frame #",
    ]
    .iter()
    .any(|hint| text.starts_with(hint))
}
