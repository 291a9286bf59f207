//! What stands before the time of a line.

/// What frameworks put before the time: `[INFO|trainer.py:12] `, `[NeMo I `, `[I `,
/// `[INFO|`, `[titan] `. Says where the time would start.
pub(super) fn before_time(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('[')?;
    if let Some(rest) = inside.strip_prefix("NeMo ") {
        let (level, _) = rest.split_once(' ')?;
        return (level.len() == 1).then_some("[NeMo X ".len());
    }
    // Optuna and Jupyter: `[I 2026-11-21 15:20:27,783] `.
    if let [b'C' | b'D' | b'E' | b'I' | b'W', b' ', b'0'..=b'9', ..] = inside.as_bytes() {
        return Some("[X ".len());
    }
    if let Some(start) = program(text) {
        return Some(start);
    }
    let (level, rest) = inside.split_once('|')?;
    let upper = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_uppercase());
    if !upper(level) || level.len() > 8 {
        return None;
    }
    let start = text.len() - rest.len();
    if rest.starts_with("20") {
        return Some(start);
    }
    let end = rest.find("] ")?;
    (end < 80).then_some(start + end + 2)
}

/// A program's own name in brackets, as `TorchTitan` writes it, with a date behind it.
fn program(text: &str) -> Option<usize> {
    let (name, rest) = text.strip_prefix('[')?.split_once("] ")?;
    let plain = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-');
    let fits = name.len() <= 24
        && name.starts_with(|c: char| c.is_ascii_alphabetic())
        && name.bytes().all(plain)
        && rest.starts_with("20");
    fits.then(|| text.len() - rest.len())
}
