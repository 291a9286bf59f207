//! What a system that starts programs puts before each line that it got of them.
//!
//! | system | a line |
//! |---|---|
//! | Airflow, of a pod | `[2026-11-21T15:20:27.000+0000] {pod_manager.py:536} INFO - [base] text` |
//! | Airflow, of a command or a function | `[2026-11-21T15:20:27.000+0000] {subprocess.py:93} INFO - text` |
//! | Determined | `[2026-11-21T15:20:27.000Z] 4f1ab2c3 [rank=3] \|\| ERROR: text` |
//! | Metaflow | `2026-11-21 15:20:27.000 [8/train/41 (pid 17)] text` |

use std::borrow::Cow;

use super::clock::{self, Clock};

/// A line without what the system put before it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct PassedOnLine<'l> {
    pub(super) clock: Clock,
    pub(super) content: Cow<'l, str>,
}

/// Takes it off; `None` where there is none.
pub(super) fn unwrap(line: &str) -> Option<PassedOnLine<'_>> {
    let is_bracketed = line.starts_with("[20");
    if !is_bracketed && !line.starts_with("20") {
        return None;
    }
    // What names the system stands near the start.
    let head = line.get(..160).unwrap_or(line);
    let taken: fn(&str) -> Option<Cow<'_, str>> = match is_bracketed {
        true if head.contains("] {") => airflow,
        true if head.contains(" || ") => determined,
        false if head.contains(" (pid ") => metaflow,
        _ => return None,
    };
    let (clock, end) = clock::leading(line)?;
    let rest = line.get(end..)?;
    let rest = match is_bracketed {
        true => rest.strip_prefix(']')?,
        false => rest,
    };
    Some(PassedOnLine {
        clock,
        content: taken(rest.strip_prefix(' ')?)?,
    })
}

/// The files of Airflow that write down what another program or a person's function printed.
const AIRFLOW: [&str; 4] = [
    "pod_manager.py",
    "subprocess.py",
    "logging_mixin.py",
    "docker.py",
];

fn airflow(rest: &str) -> Option<Cow<'_, str>> {
    let (file, rest) = rest.strip_prefix('{')?.split_once("} ")?;
    let (file, _) = file.rsplit_once(':')?;
    let (level, text) = rest.split_once(" - ")?;
    let is_level = !level.is_empty() && level.bytes().all(|byte| byte.is_ascii_uppercase());
    if !is_level || !AIRFLOW.contains(&file) {
        return None;
    }
    let of_container = || {
        let (name, text) = text.strip_prefix('[')?.split_once("] ")?;
        let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        (!name.is_empty() && name.bytes().all(plain)).then_some(text)
    };
    let text = match file {
        "pod_manager.py" => of_container().unwrap_or(text),
        _ => text,
    };
    Some(Cow::Borrowed(text))
}

fn determined(rest: &str) -> Option<Cow<'_, str>> {
    let (from, text) = rest.split_once(" || ")?;
    let mut words = from.split(' ');
    let container = words.next()?;
    let is_id = container.len() >= 6 && container.bytes().all(|byte| byte.is_ascii_hexdigit());
    let rank = match words.next() {
        Some(word) => Some(word.strip_prefix("[rank=")?.strip_suffix(']')?),
        None => None,
    };
    let (level, text) = text.split_once(": ").unwrap_or((text, ""));
    let is_level = !level.is_empty() && level.bytes().all(|byte| byte.is_ascii_uppercase());
    if !is_id || !is_level || words.next().is_some() {
        return None;
    }
    Some(match rank.and_then(|rank| rank.parse::<u32>().ok()) {
        Some(rank) => Cow::Owned(format!("[rank{rank}]: {text}")),
        None => Cow::Borrowed(text),
    })
}

fn metaflow(rest: &str) -> Option<Cow<'_, str>> {
    let (task, text) = rest.strip_prefix('[')?.split_once(")]")?;
    let (path, pid) = task.split_once(" (pid ")?;
    let is_path = path.split('/').count() == 3 && !path.contains(' ');
    let is_pid = !pid.is_empty() && pid.bytes().all(|byte| byte.is_ascii_digit());
    (is_path && is_pid).then(|| Cow::Borrowed(text.strip_prefix(' ').unwrap_or(text)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Stamp;

    #[test]
    fn what_a_system_puts_before_a_line_comes_off() {
        for (line, content) in [
            (
                "[2026-11-21T15:20:27.000+0000] {pod_manager.py:536} INFO - [base] Traceback",
                "Traceback",
            ),
            (
                "[2026-11-21T15:20:27.000+0000] {pod_manager.py:235} INFO -   File \"x\"",
                "  File \"x\"",
            ),
            (
                "[2026-11-21T15:20:27.000+0000] {subprocess.py:93} INFO - [base] x",
                "[base] x",
            ),
            (
                "[2026-11-21T15:20:27.000Z] 4f1ab2c3 [rank=3] || ERROR:   File \"x\"",
                "[rank3]:   File \"x\"",
            ),
            (
                "[2026-11-21T15:20:27.000Z] 4f1ab2c3 || INFO: a || b",
                "a || b",
            ),
            (
                "2026-11-21 15:20:27.000 [8/train/41 (pid 17)]   File \"x\"",
                "  File \"x\"",
            ),
        ] {
            let unwrapped = unwrap(line).unwrap_or_else(|| panic!("{line}"));
            assert_eq!(unwrapped.content, content, "{line}");
            let stamp = Stamp::parse("2026-11-21T15:20:27.000Z").unwrap();
            assert!(
                matches!(unwrapped.clock, Clock::Full(at) | Clock::NoZone(at) if at == stamp),
                "{line}: {:?}",
                unwrapped.clock
            );
        }
    }

    #[test]
    fn other_lines_stay() {
        for line in [
            "[2026-11-21T15:20:27.000+0000] {taskinstance.py:1824} ERROR - Task failed with exception",
            "[2026-11-21T15:20:27.000Z] worker || ERROR: x",
            "[2026-11-21 15:20:27] {'loss': 2.1} || x",
            "2026-11-21 15:20:27.000 [step 8 (pid 17)] x",
            "2026-11-21 15:20:27.000 INFO x (pid 17)",
            "[2026-11-21",
            "2026",
        ] {
            assert_eq!(unwrap(line), None, "{line}");
        }
    }
}
