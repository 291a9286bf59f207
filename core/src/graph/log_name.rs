//! What the name of a log's file says: that it was rotated away, or holds what a program wrote as errors.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::sync::LazyLock;

use regex::Regex;

/// Where a file stands among those that were rotated away: a higher number is older, a later day younger.
pub(super) type Order = (Reverse<u32>, String);

/// A file that was rotated away.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Rotated {
    /// What the file is called that is written now.
    pub(super) base: String,
    /// What the first of several would be called, if the number were that of a member.
    pub(super) first_member: Option<String>,
    /// Where it stands.
    pub(super) order: Order,
    /// Whether only what rotates logs makes such names.
    pub(super) is_sure: bool,
}

/// A name with a day in it.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Stamped {
    /// The name without the day.
    pub(super) around: String,
}

const DAY: &str = r"20\d\d-?(?:0\d|1[0-2])-?[0-3]\d(?:[-_T]\d\d(?:[-:]?\d\d){0,2}|-\d{10})?";

static NUMBERED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(?<base>.+\.(?:log|out|err|txt|jsonl|stdout|stderr))\.(?<number>\d{1,3})$").ok()
});

static DATED: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let pattern =
        format!(r"^(?<base>.+\.(?:log|out|err|txt|jsonl|stdout|stderr))[-.](?<day>{DAY})$");
    Regex::new(&pattern).ok()
});

static WITHIN: LazyLock<Option<Regex>> = LazyLock::new(|| {
    let pattern = format!(
        r"^(?<stem>.+?)(?:\.(?<number>[1-9]\d?)|[-_.](?<day>{DAY}))(?<form>\.(?:log|out|err|txt|jsonl))$"
    );
    Regex::new(&pattern).ok()
});

/// A name without what tells how the file was packed.
fn unpacked(name: &str) -> &str {
    const PACKED: [&str; 5] = [".gz", ".zst", ".xz", ".bz2", ".lz4"];
    let bare = PACKED.iter().find_map(|form| name.strip_suffix(form));
    bare.unwrap_or(name)
}

/// What `train.log.1`, `train.log-20261128`, `train.log.2.gz` and, beside `train.log`, `train-20261128.log` are called.
pub(super) fn rotated(name: &str) -> Option<Rotated> {
    let name = unpacked(name);
    let found = |pattern: &'static Option<Regex>| pattern.as_ref()?.captures(name);
    if let Some(parts) = found(&NUMBERED) {
        return Some(Rotated {
            base: parts["base"].to_owned(),
            first_member: None,
            order: (Reverse(parts["number"].parse().ok()?), String::new()),
            is_sure: true,
        });
    }
    if let Some(parts) = found(&DATED) {
        return Some(Rotated {
            base: parts["base"].to_owned(),
            first_member: None,
            order: (Reverse(0), parts["day"].replace('-', "")),
            is_sure: true,
        });
    }
    let parts = found(&WITHIN)?;
    let number = parts
        .name("number")
        .map_or(Ok(0), |number| number.as_str().parse());
    let day = parts.name("day").map_or("", |day| day.as_str());
    Some(Rotated {
        base: format!("{}{}", &parts["stem"], &parts["form"]),
        first_member: Some(format!("{}.0{}", &parts["stem"], &parts["form"])),
        order: (Reverse(number.ok()?), day.replace('-', "")),
        is_sure: false,
    })
}

/// The day in a name that has one.
pub(super) fn of_day(name: &str) -> Option<Stamped> {
    let parts = WITHIN.as_ref()?.captures(unpacked(name))?;
    parts.name("day")?;
    Some(Stamped {
        around: format!("{}#{}", &parts["stem"], &parts["form"]),
    })
}

/// The file, of these, that holds the output of the program whose errors a file holds.
pub(super) fn output_of<'n>(name: &str, names: &BTreeSet<&'n str>) -> Option<&'n str> {
    let stem = stem_of_errors(name)?;
    let get = |wanted: String| names.get(wanted.as_str()).copied();
    if stem.is_empty() {
        const OUTPUTS: [&str; 8] = [
            "stdout.log",
            "stdout.txt",
            "stdout",
            "out.log",
            "output.log",
            "out.txt",
            "output.txt",
            "std.out",
        ];
        let known = OUTPUTS.iter().find_map(|wanted| names.get(wanted).copied());
        // Beside one program's log alone they are that program's.
        let only = || {
            let mut others = names.iter().filter(|other| **other != name);
            others.next().copied().filter(|_| others.next().is_none())
        };
        return known.or_else(only);
    }
    const FORMS: [&str; 11] = [
        ".out",
        ".log",
        ".stdout",
        ".txt",
        "",
        ".out.log",
        ".stdout.log",
        "_out.log",
        "-out.log",
        "_stdout.log",
        "-stdout.log",
    ];
    let found = FORMS.iter().find_map(|form| get(format!("{stem}{form}")));
    found.filter(|output| *output != name)
}

/// What stands before the word that says that a file holds errors; nothing where that is the whole name.
fn stem_of_errors(name: &str) -> Option<&str> {
    const WHOLE: [&str; 7] = [
        "err.log",
        "error.log",
        "errors.log",
        "std.err",
        "stderr",
        "stderr.log",
        "stderr.txt",
    ];
    const ENDS: [&str; 12] = [
        "_stderr.log",
        "-stderr.log",
        ".stderr.log",
        "_err.log",
        "-err.log",
        ".err.log",
        "_error.log",
        "-error.log",
        ".error.log",
        ".stderr",
        ".err",
        ".err.txt",
    ];
    if WHOLE.contains(&name) {
        return Some("");
    }
    ENDS.iter()
        .find_map(|end| name.strip_suffix(end))
        .filter(|stem| !stem.is_empty())
}
