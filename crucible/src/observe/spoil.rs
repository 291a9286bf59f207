//! What happens to records on their way.

use super::files::File;
use crate::rng::Rng;

/// Writes some records of each file twice.
pub fn double(files: &mut [File], rng: &mut Rng) {
    for file in files.iter_mut().filter(|file| is_loose(file)) {
        let mut doubled = Vec::with_capacity(file.records.len() * 2);
        for record in file.records.drain(..) {
            if rng.chance(50) {
                doubled.push(record.clone());
            }
            doubled.push(record);
        }
        file.records = doubled;
    }
}

/// Writes the records of each file in another order.
pub fn shuffle(files: &mut [File], rng: &mut Rng) {
    for file in files.iter_mut().filter(|file| is_loose(file)) {
        rng.shuffle(&mut file.records);
    }
}

/// One file ends in the middle of a record.
pub fn cut(files: &mut [File], rng: &mut Rng) {
    if files.is_empty() {
        return;
    }
    let at = rng.below(files.len());
    if let Some(file) = files.get_mut(at) {
        let whole = file.content().0.len();
        let part = usize::try_from(rng.range(20, 95)).unwrap_or(50);
        file.cut_at = Some(whole / 100 * part);
    }
}

/// Whether its records carry all they say, wherever they stand. Plain lines of a program,
/// and what a person printed, do not.
fn is_loose(file: &File) -> bool {
    !(file.source == "text" || file.source == "logs" || file.path.ends_with(".txt"))
}
