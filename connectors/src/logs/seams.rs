//! Where a container's engine cut a line into pieces, each a line of the file.

use std::ops::Range;

use memchr::memmem;

use super::wrapper;

/// What stands between the pieces of a line: the end of one's line, and all that comes
/// before the next one's text. Empty for a record of whole lines.
pub(super) fn of(raw: &str) -> Vec<Range<usize>> {
    let bytes = raw.as_bytes();
    // Asked for every record: most are of one line.
    let may_be_cut = memchr::memchr(b'\n', bytes).is_some()
        && (memmem::find(bytes, b" P").is_some() || memmem::find(bytes, LOG).is_some());
    if !may_be_cut {
        return Vec::new();
    }
    let mut seams = Vec::new();
    let mut open: Option<usize> = None;
    let mut start = 0;
    for line in raw.split('\n') {
        let text = text_of(line);
        if let Some(end) = open {
            seams.push(end..start + text.start);
        }
        let is_partial = wrapper::unwrap(line).partial;
        open = is_partial.then_some(start + text.end);
        start += line.len() + 1;
    }
    seams
}

const LOG: &[u8] = b"\"log\":\"";

/// Where in a line its text stands.
fn text_of(line: &str) -> Range<usize> {
    let bytes = line.as_bytes();
    if line.starts_with('{')
        && let Some(key) = memmem::find(bytes, LOG)
    {
        let from = key + LOG.len();
        let mut end = from;
        while let Some(byte) = bytes.get(end).filter(|byte| **byte != b'"') {
            end += if *byte == b'\\' { 2 } else { 1 };
        }
        return from..end.min(line.len());
    }
    line.len() - wrapper::content(line).len().min(line.len())..line.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn joined(raw: &str) -> String {
        let mut text = raw.to_owned();
        for seam in of(raw).into_iter().rev() {
            text.replace_range(seam, "");
        }
        text
    }

    #[test]
    fn the_pieces_of_a_line_are_put_together() {
        assert_eq!(
            joined(
                "2026-11-20T10:30:29.1Z stderr P one tw\n2026-11-20T10:30:29.2Z stderr P o th\n2026-11-20T10:30:29.3Z stderr F ree"
            ),
            "2026-11-20T10:30:29.1Z stderr P one two three"
        );
        let docker = [
            r#"{"log":"a\"b","stream":"stderr","time":"2026-11-20T10:30:29.1Z"}"#,
            r#"{"log":"c\n","stream":"stderr","time":"2026-11-20T10:30:29.2Z"}"#,
        ];
        assert!(joined(&docker.join("\n")).starts_with(r#"{"log":"a\"bc\n","stream""#));
    }

    #[test]
    fn whole_lines_have_no_seams() {
        for raw in [
            "one",
            "Traceback P\n  File \"a.py\"\nValueError: P",
            "2026-11-20T10:30:29.1Z stderr F one P\n2026-11-20T10:30:29.2Z stderr F two",
        ] {
            assert!(of(raw).is_empty(), "{raw}");
        }
    }
}
