//! What a traceback says: which exception, what of it, and where.

use super::block::{self, Kind};

/// The exception that ended the program, as printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Exception {
    /// `torch.OutOfMemoryError`
    pub(super) name: String,
    pub(super) message: Option<String>,
    /// `/workspace/train.py:287 in main`
    pub(super) location: Option<String>,
}

/// Reads the text of a joined record.
pub(super) fn read(kind: Kind, text: &str) -> Option<Exception> {
    match kind {
        Kind::Python => python(text),
        Kind::Cpp => cpp(text),
        Kind::Rust => rust(text),
        Kind::Java => java(text),
        Kind::Go => {
            let line = text.lines().next()?;
            let (name, message) = line.split_once(": ")?;
            Some(Exception {
                name: name.to_owned(),
                message: some(message),
                location: None,
            })
        }
    }
}

fn some(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// The last traceback of a chain is the one that ended the program.
fn python(text: &str) -> Option<Exception> {
    let last = &text[text.rfind("Traceback (most recent call last):")?..];
    let mut deepest = None;
    let mut deepest_own = None;
    let mut named: Option<(String, Vec<&str>)> = None;
    for line in last.lines().skip(1) {
        if let Some((name, message)) = &mut named {
            if line.starts_with("During handling of") || line.starts_with("The above exception") {
                break;
            }
            // What is indented below it, and torch's hints, are its message.
            if !name.is_empty() && message.len() < 50 {
                message.push(line);
            }
            continue;
        }
        let bare = line.trim_start().trim_start_matches(['|', '+', '-', ' ']);
        if let Some(frame) = frame(bare) {
            if !is_library(&frame) {
                deepest_own = Some(frame.clone());
            }
            deepest = Some(frame);
        } else if !line.starts_with([' ', '\t']) && block::names_exception(line) {
            let (name, message) = line.split_once(':').unwrap_or((line, ""));
            named = Some((name.trim().to_owned(), vec![message.trim()]));
        }
    }
    let location = deepest_own.or(deepest);
    let Some((name, message)) = named else {
        // Cut off before the exception was named; where it was still helps.
        return location.map(|location| Exception {
            location: Some(location),
            ..Exception::default()
        });
    };
    Some(Exception {
        name,
        message: some(&message.join("\n")),
        location,
    })
}

/// `File "/workspace/train.py", line 287, in main`
fn frame(line: &str) -> Option<String> {
    let rest = line.strip_prefix("File \"")?;
    let (file, rest) = rest.split_once("\", line ")?;
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let number = &rest[..digits];
    match rest[digits..].strip_prefix(", in ") {
        Some(function) => Some(format!("{file}:{number} in {}", function.trim())),
        None => Some(format!("{file}:{number}")),
    }
}

/// Code that is not the user's own.
fn is_library(frame: &str) -> bool {
    [
        "site-packages/",
        "dist-packages/",
        "/lib/python",
        "<frozen ",
        "<string>",
        "/conda/envs/",
    ]
    .iter()
    .any(|part| frame.contains(part))
}

fn cpp(text: &str) -> Option<Exception> {
    let name = text
        .split_once("instance of '")
        .and_then(|(_, rest)| rest.split_once('\''))
        .map(|(name, _)| name);
    let message = text
        .split_once("what():")
        .map(|(_, rest)| rest.lines().next().unwrap_or_default());
    let name = name.unwrap_or("terminate called").to_owned();
    Some(Exception {
        name,
        message: message.and_then(some),
        location: None,
    })
}

/// `thread 'main' panicked at src/main.rs:5:9:` and the message below, or the
/// older `panicked at 'message', src/main.rs:5:9`.
fn rust(text: &str) -> Option<Exception> {
    let mut lines = text.lines();
    let (_, at) = lines.next()?.split_once("panicked at ")?;
    let name = "panic".to_owned();
    if let Some(quoted) = at.strip_prefix('\'')
        && let Some((message, place)) = quoted.rsplit_once("', ")
    {
        return Some(Exception {
            name,
            message: some(message),
            location: some(place),
        });
    }
    let location = some(at.trim_end_matches(':'));
    Some(Exception {
        name,
        message: lines.next().and_then(some),
        location,
    })
}

fn java(text: &str) -> Option<Exception> {
    // The innermost cause is where it began.
    let cause = text.lines().rfind(|line| line.starts_with("Caused by: "));
    let first = text.lines().next()?;
    let said = match cause {
        Some(cause) => cause.strip_prefix("Caused by: ")?,
        None => {
            first
                .strip_prefix("Exception in thread \"")?
                .split_once("\" ")?
                .1
        }
    };
    let (name, message) = said.split_once(": ").unwrap_or((said, ""));
    let start = cause.and_then(|cause| text.find(cause)).unwrap_or(0);
    let frames = text[start..]
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("at "));
    let library = |frame: &&str| {
        ["java.", "javax.", "jdk.", "sun.", "scala."]
            .iter()
            .any(|package| frame.starts_with(package))
    };
    let location = frames
        .clone()
        .find(|frame| !library(frame))
        .or(frames.clone().next());
    Some(Exception {
        name: name.to_owned(),
        message: some(message),
        location: location.map(str::to_owned),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deepest_own_frame_is_the_place() {
        let text = "Traceback (most recent call last):\n  File \"/workspace/train.py\", line 300, in <module>\n    main()\n  File \"/workspace/train.py\", line 287, in main\n    loss.backward()\n  File \"/usr/lib/python3.12/site-packages/torch/_tensor.py\", line 5, in backward\n    x()\n    ^^^\ntorch.OutOfMemoryError: CUDA out of memory. Tried\n  more";
        let found = read(Kind::Python, text).unwrap();
        assert_eq!(found.name, "torch.OutOfMemoryError");
        assert_eq!(
            found.message.as_deref(),
            Some("CUDA out of memory. Tried\n  more")
        );
        assert_eq!(
            found.location.as_deref(),
            Some("/workspace/train.py:287 in main")
        );
    }

    #[test]
    fn other_languages_too() {
        let found = read(Kind::Cpp, "terminate called after throwing an instance of 'c10::DistBackendError'\n  what():  [PG 0] timeout\n").unwrap();
        assert_eq!(
            (found.name.as_str(), found.message.as_deref()),
            ("c10::DistBackendError", Some("[PG 0] timeout"))
        );
        let found = read(
            Kind::Rust,
            "thread 'main' panicked at src/main.rs:5:9:\nindex out of bounds\n",
        )
        .unwrap();
        assert_eq!(found.location.as_deref(), Some("src/main.rs:5:9"));
        assert_eq!(found.message.as_deref(), Some("index out of bounds"));
        let found = read(
            Kind::Rust,
            "thread 'main' panicked at 'boom', src/main.rs:5:9",
        )
        .unwrap();
        assert_eq!(
            (found.message.as_deref(), found.location.as_deref()),
            (Some("boom"), Some("src/main.rs:5:9"))
        );
        let java = "Exception in thread \"main\" java.lang.RuntimeException: x\n\tat a.B.c(B.java:1)\nCaused by: java.io.IOException: disk\n\tat java.io.F.w(F.java)\n\tat a.D.e(D.java:2)";
        let found = read(Kind::Java, java).unwrap();
        assert_eq!(
            (found.name.as_str(), found.location.as_deref()),
            ("java.io.IOException", Some("a.D.e(D.java:2)"))
        );
    }
}
