//! Tracebacks of Python, which chain.

use super::{Exception, frame, is_library, some};
use crate::logs::block;

const TRACEBACK: &str = "Traceback (most recent call last):";

/// What programs raise to steer themselves, and which says nothing of a failure: a queue that was empty for a moment, a task
/// that somebody cancelled.
const STEERING: [&str; 6] = [
    "CancelledError",
    "Empty",
    "Full",
    "GeneratorExit",
    "StopAsyncIteration",
    "StopIteration",
];

/// A package that is not there, where a program does something else instead.
const OPTIONAL: [&str; 2] = ["ImportError", "ModuleNotFoundError"];

/// The first traceback of a chain is where it began; the others were raised
/// while it was handled, or because of it. What only steered the program, or was handled for a package that it does without,
/// is not what went wrong where another follows.
pub(super) fn read(text: &str) -> Option<Exception> {
    match text.contains(GROUP) {
        true => read_chain(&without_tree(text)).map(|found| Exception {
            raised_as: None,
            ..found
        }),
        false => read_chain(text),
    }
}

/// A group of exceptions, each of which is printed below it as a branch of a tree.
const GROUP: &str = "+ Exception Group Traceback (most recent call last):";

/// The lines of a group of exceptions without the signs that draw the tree.
fn without_tree(text: &str) -> String {
    let bare = |line: &'_ str| {
        let drawn = line.trim_start();
        let inside = drawn
            .strip_prefix("| ")
            .or_else(|| drawn.strip_prefix("+ "));
        match inside {
            Some(inside) => inside.to_owned(),
            None if drawn == "|" || drawn.starts_with("+-") => String::new(),
            None => line.to_owned(),
        }
    };
    text.lines().map(bare).collect::<Vec<_>>().join("\n")
}

fn read_chain(text: &str) -> Option<Exception> {
    let starts: Vec<usize> = text.match_indices(TRACEBACK).map(|(at, _)| at).collect();
    let ends = starts.iter().copied().skip(1).chain([text.len()]);
    let parts: Vec<&str> = starts
        .iter()
        .zip(ends)
        .filter_map(|(start, end)| text.get(*start..end))
        .collect();
    let mut chain: Vec<Exception> = Vec::with_capacity(parts.len());
    for part in &parts {
        let found = one(part);
        match chain.is_empty() {
            // Without its first one nothing is known of where it began.
            true => chain.push(found?),
            false => chain.push(found.unwrap_or_default()),
        }
    }
    let last = chain.len().checked_sub(1)?;
    let is_beside = |(at, one): &(usize, &Exception)| {
        let next = parts.get(*at).zip(chain.get(at + 1));
        next.is_some_and(|(part, next)| !next.name.is_empty() && is_handled(one, part, next))
    };
    let began = chain.iter().enumerate().find(|one| !is_beside(one));
    let (began, _) = began.unwrap_or((last, chain.last()?));
    let raised_as = chain.get(last).cloned().unwrap_or_default();
    let mut root = chain.get(began)?.clone();
    if began < last {
        if root.name.is_empty() {
            root.name = raised_as.name;
            root.message = raised_as.message;
        } else if !raised_as.name.is_empty() && raised_as.name != root.name {
            root.raised_as = Some(raised_as.name);
        }
    }
    Some(root)
}

/// Whether an exception of a chain, which `part` shows and `next` follows, was no failure of its own.
fn is_handled(one: &Exception, part: &str, next: &Exception) -> bool {
    let class = |name: &str| name.rsplit('.').next().unwrap_or_default().to_owned();
    let (own, other) = (class(&one.name), class(&next.name));
    let steers = STEERING.contains(&own.as_str()) && one.message.is_none();
    let message = next.message.as_deref().unwrap_or_default();
    let is_quoted = one
        .message
        .as_deref()
        .is_some_and(|own| message.contains(own));
    let optional = OPTIONAL.contains(&own.as_str())
        && !OPTIONAL.contains(&other.as_str())
        && part.contains("During handling of the above exception")
        && !is_quoted;
    // Of a group what is in it went wrong.
    steers || optional || own.ends_with("ExceptionGroup")
}

/// One traceback.
fn one(text: &str) -> Option<Exception> {
    let mut deepest = None;
    let mut deepest_own = None;
    let mut named: Option<(String, Vec<&str>)> = None;
    // What a wrapped traceback of another process ends with, once frames of it were seen.
    let mut remote: Option<Option<(&str, &str)>> = None;
    for line in text.lines().skip(1) {
        let bare = line.trim_start().trim_start_matches(['|', '+', '-', ' ']);
        if let Some((name, message)) = &mut named {
            if line.starts_with("During handling of") || line.starts_with("The above exception") {
                break;
            }
            // The frames that Ray shows below are those of the task itself.
            if let Some(frame) = frame(bare) {
                remote.get_or_insert(None);
                if !is_library(&frame) {
                    deepest_own = Some(frame);
                }
            } else if let Some(last) = remote.as_mut()
                && name.contains(WRAPPER)
                && !line.starts_with([' ', '\t'])
                && block::names_exception(line)
            {
                *last = line.split_once(':').or(Some((line, "")));
            }
            // What is indented below it, and torch's hints, are its message.
            if !name.is_empty() && message.len() < 50 {
                message.push(line);
            }
            continue;
        }
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
    if let Some((own, words)) = remote.flatten().filter(|(own, _)| !own.is_empty()) {
        return Some(Exception {
            name: own.trim().to_owned(),
            message: some(words),
            location,
            raised_as: Some(name),
        });
    }
    Some(Exception {
        name,
        message: some(&message.join("\n")),
        location,
        ..Exception::default()
    })
}

/// In what Ray raises the exception of a task anew where somebody asks for its result: the traceback of the task stands below.
const WRAPPER: &str = "RayTaskError";

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn of_a_chain_the_first_is_the_root() {
        let text = "Traceback (most recent call last):\n  File \"/w/io.py\", line 3, in read\n    open(p)\nFileNotFoundError: no data\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File \"/w/train.py\", line 9, in <module>\n    main()\nRuntimeError: cannot start";
        let found = read(text).unwrap();
        assert_eq!(found.name, "FileNotFoundError");
        assert_eq!(found.message.as_deref(), Some("no data"));
        assert_eq!(found.location.as_deref(), Some("/w/io.py:3 in read"));
        assert_eq!(found.raised_as.as_deref(), Some("RuntimeError"));
    }

    #[test]
    fn of_a_group_what_is_in_it_went_wrong() {
        let text = "  + Exception Group Traceback (most recent call last):\n  |   File \"/w/train.py\", line 12, in <module>\n  |     asyncio.run(main())\n  | ExceptionGroup: unhandled errors in a TaskGroup (2 sub-exceptions)\n  +-+---------------- 1 ----------------\n    | Traceback (most recent call last):\n    |   File \"/w/io.py\", line 3, in fetch\n    |     raise ValueError(\"bad shard\")\n    | ValueError: bad shard\n    +---------------- 2 ----------------\n    | Traceback (most recent call last):\n    |   File \"/w/io.py\", line 9, in save\n    |     open(p)\n    | OSError: full\n    +------------------------------------";
        let found = read(text).unwrap();
        assert_eq!(found.name, "ValueError");
        assert_eq!(found.message.as_deref(), Some("bad shard"));
        assert_eq!(found.location.as_deref(), Some("/w/io.py:3 in fetch"));
        assert_eq!(found.raised_as, None);
    }

    #[test]
    fn what_a_task_elsewhere_failed_with_is_its_own_last_line() {
        let text = "Traceback (most recent call last):\n  File \"/w/main.py\", line 24, in <module>\n    ray.get(x)\nray.exceptions.RayTaskError(ValueError): ray::W.step() (pid=7, ip=10.0.0.4, repr=<main.W object at 0x7f>)\n           ^^^^^\n  File \"/w/step.py\", line 10, in step\n    raise ValueError('negative label')\nValueError: negative label";
        let found = read(text).unwrap();
        assert_eq!(found.name, "ValueError");
        assert_eq!(found.message.as_deref(), Some("negative label"));
        assert_eq!(found.location.as_deref(), Some("/w/step.py:10 in step"));
        let wrapper = Some("ray.exceptions.RayTaskError(ValueError)");
        assert_eq!(found.raised_as.as_deref(), wrapper);
    }

    #[test]
    fn what_was_handled_is_not_what_went_wrong() {
        let chain = |first: &str, link: &str, second: &str| {
            let frame =
                "Traceback (most recent call last):\n  File \"/w/a.py\", line 3, in f\n    g()\n";
            let text = format!("{frame}{first}\n\n{link}:\n\n{frame}{second}");
            read(&text).unwrap()
        };
        let meanwhile = "During handling of the above exception, another exception occurred";
        let because = "The above exception was the direct cause of the following exception";
        for (first, link, second, name) in [
            (
                "_queue.Empty",
                meanwhile,
                "RuntimeError: DataLoader worker (pid(s) 7) exited",
                "RuntimeError",
            ),
            (
                "_queue.Empty",
                because,
                "RuntimeError: DataLoader worker (pid(s) 7) exited",
                "RuntimeError",
            ),
            (
                "asyncio.exceptions.CancelledError",
                because,
                "TimeoutError",
                "TimeoutError",
            ),
            (
                "ModuleNotFoundError: No module named 'x'",
                meanwhile,
                "ValueError: bad shape",
                "ValueError",
            ),
            // It is why, and says so.
            (
                "ImportError: no x",
                because,
                "RuntimeError: cannot load",
                "ImportError",
            ),
            (
                "ImportError: no x",
                meanwhile,
                "RuntimeError: cannot load: no x",
                "ImportError",
            ),
            (
                "KeyError: 'a'",
                meanwhile,
                "RuntimeError: no such key",
                "KeyError",
            ),
            // Which bears a message is more than a sign.
            ("Empty: no sample", meanwhile, "RuntimeError: x", "Empty"),
        ] {
            assert_eq!(chain(first, link, second).name, name, "{first} {second}");
        }
        let found = chain(
            "_queue.Empty",
            meanwhile,
            "asyncio.exceptions.CancelledError",
        );
        assert_eq!(found.name, "asyncio.exceptions.CancelledError");
        assert_eq!(found.raised_as, None);
    }
}
