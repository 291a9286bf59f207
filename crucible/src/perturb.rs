//! The same world with its records shuffled, doubled or fewer.

use std::path::Path;

use crate::case::Case;
use crate::judge::{Broken, Tool, rank};
use crate::observe::{File, Recorded, double, shuffle, truth_of, write_all};
use crate::rng::Rng;
use crate::run::{Row, ask_one};
use crate::time::SEC;

/// Compares answers over the same world; what changed that must not is a broken invariant.
pub fn of_case(
    case: &Case,
    recorded: &Recorded,
    rows: &[Row],
    folder: &Path,
    tool: &mut Tool,
) -> Vec<Row> {
    let Some(base) = rows.iter().find(|row| row.main) else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut rng = Rng::stream(recorded.truth.seed, "perturb");
    // A file that was cut ends elsewhere when its records stand elsewhere.
    let whole = recorded.files.iter().all(|file| file.cut_at.is_none());
    for name in ["shuffled", "doubled"].into_iter().filter(|_| whole) {
        let mut files = recorded.files.clone();
        if name == "shuffled" {
            shuffle(&mut files, &mut rng);
        } else {
            double(&mut files, &mut rng);
        }
        let mut row = variant(case, recorded, files, base, name, folder, tool);
        if row.signature != base.signature {
            row.broken.push(Broken {
                which: 'f',
                how: format!("{name}: {} -> {}", base.signature, row.signature),
            });
        }
        found.push(row);
    }
    for source in dropped(recorded, &mut rng) {
        let files: Vec<File> = recorded
            .files
            .iter()
            .filter(|file| file.source != source)
            .cloned()
            .collect();
        if files.is_empty() {
            continue;
        }
        let name = format!("without {source}");
        let mut row = variant(case, recorded, files, base, &name, folder, tool);
        row.broken.extend(monotone(base, &row, recorded));
        found.push(row);
    }
    found
}

/// Two of the sources, each a question more.
fn dropped(recorded: &Recorded, rng: &mut Rng) -> Vec<String> {
    let mut sources: Vec<String> = recorded
        .files
        .iter()
        .map(|file| file.source.clone())
        .collect();
    sources.sort();
    sources.dedup();
    rng.shuffle(&mut sources);
    sources.truncate(2);
    sources
}

fn variant(
    case: &Case,
    recorded: &Recorded,
    files: Vec<File>,
    base: &Row,
    name: &str,
    folder: &Path,
    tool: &mut Tool,
) -> Row {
    let truth = truth_of(case, &files, recorded.truth.observers.clone());
    let changed = Recorded { files, truth };
    let to = folder.join(name.replace(' ', "-"));
    write_all(&changed.files, &to).ok();
    let skew = case.world.plan.observe.skew_s.abs() * SEC;
    let row = ask_one(&changed, 0, &base.ask, &to, skew, tool);
    std::fs::remove_dir_all(&to).ok();
    Row {
        variant: name.to_owned(),
        ..row
    }
}

/// Less evidence never raises a level, and more of it never turns a named cause into `unknown`.
fn monotone(full: &Row, fewer: &Row, recorded: &Recorded) -> Option<Broken> {
    let chain = recorded.truth.runs.first()?.chain();
    let (was, is) = (&full.judged, &fewer.judged);
    let how = format!(
        "{}: {} · {} -> {} · {}",
        fewer.variant, was.cause, was.level, is.cause, is.level
    );
    let broken = Some(Broken { which: 'e', how });
    let on_chain = chain.contains(is.cause.as_str());
    if was.cause == is.cause {
        return broken.filter(|_| rank(&is.level) > rank(&was.level));
    }
    if rank(&is.level) > rank(&was.level) && !on_chain && !is.cause.starts_with("none.") {
        return broken;
    }
    // More true evidence took a right cause away.
    broken.filter(|_| {
        on_chain
            && !chain.contains(was.cause.as_str())
            && rank(&is.level) > 1
            && was.cause == "unknown"
    })
}
