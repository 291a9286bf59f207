//! Which lines belong to the line before: how each language prints its end.

/// What kind of many-line record is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Python,
    Cpp,
    Rust,
    Java,
    Go,
}

/// Where in the record the last line was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// Frames, or whatever is indented.
    Frames,
    /// The line that names the exception was seen.
    Named,
    /// `During handling of the above …` was seen; another traceback follows.
    Chained,
}

const PYTHON: &str = "Traceback (most recent call last):";
const GROUP: &str = "Exception Group Traceback (most recent call last):";

/// The kind of record that `text` starts.
pub(super) fn starts(text: &str) -> Option<Kind> {
    let trimmed = text.trim_start();
    // A logger may put its own words before the first traceback line.
    if trimmed.ends_with(PYTHON) {
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
    None
}

/// Whether `text` goes on an open record, and where it then is.
pub(super) fn goes_on(kind: Kind, stage: Stage, lines: usize, text: &str) -> Option<Stage> {
    let indented = text.starts_with([' ', '\t']);
    match kind {
        Kind::Python => python(stage, indented, text),
        Kind::Cpp => {
            let frame = text.starts_with("frame #") || text.starts_with("Exception raised from ");
            (indented || frame || lines == 1 && text.starts_with("what():"))
                .then_some(Stage::Frames)
        }
        Kind::Rust => {
            let trailer = text.starts_with("note: ") || text.starts_with("stack backtrace:");
            // The message stands on the second line since Rust 1.73.
            (lines == 1 || indented || trailer).then_some(Stage::Frames)
        }
        Kind::Java => {
            let cause =
                text.starts_with("Caused by: ") || text.trim_start().starts_with("Suppressed: ");
            (indented || cause).then_some(Stage::Frames)
        }
        Kind::Go => {
            let routine = ["goroutine ", "created by ", "[signal ", "exit status "];
            let call = text.ends_with(')') && text.contains('(') && !text.contains(' ');
            (indented || call || routine.iter().any(|start| text.starts_with(start)))
                .then_some(Stage::Frames)
        }
    }
}

fn python(stage: Stage, indented: bool, text: &str) -> Option<Stage> {
    let chain = text.starts_with("During handling of the above exception")
        || text.starts_with("The above exception was the direct cause");
    match stage {
        Stage::Frames if indented => Some(Stage::Frames),
        Stage::Frames => names_exception(text).then_some(Stage::Named),
        // torch prints hints below the exception that belong to its message.
        Stage::Named if indented || is_torch_hint(text) => Some(Stage::Named),
        Stage::Named => chain.then_some(Stage::Chained),
        Stage::Chained => {
            (text == PYTHON || text.trim_start().ends_with(GROUP)).then_some(Stage::Frames)
        }
    }
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

fn is_torch_hint(text: &str) -> bool {
    [
        "CUDA kernel errors might be asynchronously reported",
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
