//! What a traceback says: which exception, what of it, and where.

mod python;

use super::block::Kind;

/// The exception that ended the program, as printed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Exception {
    /// `torch.OutOfMemoryError`
    pub(super) name: String,
    pub(super) message: Option<String>,
    /// `/workspace/train.py:287 in main`
    pub(super) location: Option<String>,
    /// The exception that it became on its way out, where others were raised
    /// because of it.
    pub(super) raised_as: Option<String>,
}

/// Reads the text of a joined record.
pub(super) fn read(kind: Kind, text: &str) -> Option<Exception> {
    match kind {
        Kind::Python => python::read(text),
        Kind::Cpp => cpp(text),
        Kind::Rust => rust(text),
        Kind::Java => java(text),
        Kind::JavaLogged => {
            let framed = text
                .lines()
                .any(|line| line.trim_start().starts_with("at "));
            framed.then(|| java(text)).flatten()
        }
        Kind::Go => go(text),
        Kind::Fault => fault(text),
        Kind::Report | Kind::Library => None,
    }
}

fn some(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Python's fault handler shows the most recent call first.
fn fault(text: &str) -> Option<Exception> {
    let message = text.lines().next()?.trim_start();
    let message = message.strip_prefix("Fatal Python error: ")?;
    let shown = text
        .split_once("Current thread 0x")
        .map_or(text, |(_, rest)| rest);
    let mut frames = shown
        .lines()
        .skip(1)
        .take_while(|line| !line.starts_with("Thread 0x"))
        .filter_map(|line| {
            let (file, rest) = line
                .trim_start()
                .strip_prefix("File \"")?
                .split_once("\", line ")?;
            let (number, function) = rest.split_once(" in ").unwrap_or((rest, ""));
            Some(match function {
                "" => format!("{file}:{number}"),
                function => format!("{file}:{number} in {function}"),
            })
        });
    let first = frames.next();
    let own = first
        .clone()
        .into_iter()
        .chain(frames)
        .find(|frame| !is_library(frame));
    Some(Exception {
        name: "Fatal Python error".to_owned(),
        message: some(message),
        location: own.or(first),
        ..Exception::default()
    })
}

/// The first place below the panic that is neither Go's own nor a module's.
fn go(text: &str) -> Option<Exception> {
    let (name, message) = text.lines().next()?.split_once(": ")?;
    let mut places = text.lines().filter_map(|line| {
        let place = line.strip_prefix('\t')?;
        let place = place.split(' ').next()?;
        place.contains(".go:").then_some(place)
    });
    let first = places.clone().next();
    let library = |place: &&str| {
        ["/pkg/mod/", "/src/runtime/", "/src/testing/"]
            .iter()
            .any(|part| place.contains(part))
    };
    let location = places.find(|place| !library(place)).or(first);
    Some(Exception {
        name: name.to_owned(),
        message: some(message),
        location: location.map(str::to_owned),
        ..Exception::default()
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
    // `Exception raised from check at /src/x.cpp:629 (most recent call first):`
    let location = text
        .split_once("Exception raised from ")
        .and_then(|(_, rest)| rest.lines().next()?.split_once(" at "))
        .and_then(|(_, place)| some(place.split(" (").next()?));
    Some(Exception {
        name,
        message: message.and_then(some),
        location,
        ..Exception::default()
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
            ..Exception::default()
        });
    }
    let location = some(at.trim_end_matches(':'));
    Some(Exception {
        name,
        message: lines.next().and_then(some),
        location,
        ..Exception::default()
    })
}

fn java(text: &str) -> Option<Exception> {
    // The innermost cause is where it began.
    let cause = text.lines().rfind(|line| line.starts_with("Caused by: "));
    let first = text.lines().next()?;
    let headline = match cause {
        Some(cause) => cause.strip_prefix("Caused by: ")?,
        None => match first.strip_prefix("Exception in thread \"") {
            Some(rest) => rest.split_once("\" ")?.1,
            None => first,
        },
    };
    let (name, message) = headline.split_once(": ").unwrap_or((headline, ""));
    let start = cause.and_then(|cause| text.find(cause)).unwrap_or(0);
    let frames = text[start..]
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("at "));
    let library = |frame: &&str| {
        ["java.", "javax.", "jdk.", "sun.", "scala."]
            .iter()
            .any(|package| frame.starts_with(package))
            // Node.js names its own files without a folder.
            || ["/node_modules/", "(node:", "(internal/", "(events.js:"]
                .iter()
                .any(|part| frame.contains(part))
    };
    let location = frames
        .clone()
        .find(|frame| !library(frame))
        .or(frames.clone().next());
    Some(Exception {
        name: name.to_owned(),
        message: some(message),
        location: location.map(str::to_owned),
        ..Exception::default()
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::logs::block;

    #[test]
    fn an_error_of_javascript_needs_its_frames() {
        let text = "TypeError: Cannot read property 'orders' of undefined\n    at emitTwo (events.js:87:13)\n    at Request._callback (/usr/src/app/api/orders.js:31:54)";
        assert_eq!(block::starts(text), Some(Kind::JavaLogged));
        let found = read(Kind::JavaLogged, text).unwrap();
        assert_eq!(found.name, "TypeError");
        let place = "Request._callback (/usr/src/app/api/orders.js:31:54)";
        assert_eq!(found.location.as_deref(), Some(place));
        assert_eq!(
            read(Kind::JavaLogged, "TypeError: unsupported operand"),
            None
        );
    }

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
    fn the_own_frame_of_a_fault_or_a_panic_is_the_place() {
        let text = "Fatal Python error: Segmentation fault\n\nCurrent thread 0x00007f (most recent call first):\n  File \"/usr/lib/python3.12/site-packages/x.py\", line 5 in f\n  File \"/w/train.py\", line 9 in main\nThread 0x00007e (most recent call first):\n  File \"/w/other.py\", line 1 in g";
        let found = read(Kind::Fault, text).unwrap();
        assert_eq!(found.message.as_deref(), Some("Segmentation fault"));
        assert_eq!(found.location.as_deref(), Some("/w/train.py:9 in main"));
        let text = "panic: boom\n\ngoroutine 1 [running]:\nx.F(0x1)\n\t/go/pkg/mod/x@v1/x.go:4 +0x1\nmain.main()\n\t/w/main.go:12 +0x1d";
        let found = read(Kind::Go, text).unwrap();
        assert_eq!(found.location.as_deref(), Some("/w/main.go:12"));
        let text = "terminate called after throwing an instance of 'c10::Error'\n  what():  x\nException raised from check at ../c10/x.cpp:62 (most recent call first):";
        let found = read(Kind::Cpp, text).unwrap();
        assert_eq!(found.location.as_deref(), Some("../c10/x.cpp:62"));
    }

    #[test]
    fn a_class_name_alone_is_no_exception() {
        let text = "java.io.IOException: disk\n\tat a.D.e(D.java:2)";
        assert_eq!(
            read(Kind::JavaLogged, text).unwrap().name,
            "java.io.IOException"
        );
        let text = "requests.exceptions.ConnectionError: x";
        assert_eq!(read(Kind::JavaLogged, text), None);
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
