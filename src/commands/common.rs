//! What the verbs share: opening a case, the style of the terminal, progress.

use std::io::IsTerminal as _;
use std::path::Path;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use whathappened_connectors::recording::{FileStatus, Input, Options, Summary};

use crate::case::{Case, Rules};
use crate::cli::{InputArgs, OutputArgs};
use crate::error::Error;
use crate::render::Style;

/// Rejected records that the closing count shows one by one.
const SHOWN: usize = 5;

/// Reads the input, with a bar on a terminal and a closing count.
///
/// # Errors
/// When a rule is wrong, or when not a single input could be read.
pub fn open(args: &InputArgs) -> Result<Case, Error> {
    if args.from.is_empty() {
        return Err(Error::Usage(
            "--from names what to read: a file, a folder, an archive, or - for standard input"
                .to_owned(),
        ));
    }
    let rules = Rules::load(&own_rules(args.rules.as_deref())?)?;
    let inputs: Vec<Input> = args
        .from
        .iter()
        .map(|path| {
            if path == "-" {
                Input::Stdin
            } else {
                Input::Path(path.into())
            }
        })
        .collect();
    let bar = bar(args.quiet);
    let case = Case::read(&inputs, &Options::default(), rules, &mut |done, total| {
        if let Some(total) = total {
            bar.set_length(total);
        }
        bar.set_position(done);
    })?;
    bar.finish_and_clear();
    if !args.quiet {
        report(&case);
    }
    nothing_read(&case.summary)?;
    Ok(case)
}

/// Rules of the user's own folder, as (name, text).
///
/// # Errors
/// Names the file that cannot be read.
pub fn own_rules(folder: Option<&Path>) -> Result<Vec<(String, String)>, Error> {
    let Some(folder) = folder else {
        return Ok(Vec::new());
    };
    let failed = |path: &Path, error| Error::Io {
        path: path.display().to_string(),
        error,
    };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).map_err(|error| failed(folder, error))? {
        let path = entry.map_err(|error| failed(folder, error))?.path();
        let Some(name) = path.file_name().and_then(|name| name.to_str()) else {
            continue;
        };
        if name.ends_with(".sql") || name.ends_with(".toml") {
            let text = std::fs::read_to_string(&path).map_err(|error| failed(&path, error))?;
            files.push((name.to_owned(), text));
        }
    }
    files.sort();
    Ok(files)
}

fn bar(quiet: bool) -> ProgressBar {
    let target = if quiet {
        ProgressDrawTarget::hidden()
    } else {
        ProgressDrawTarget::stderr_with_hz(8)
    };
    let bar = ProgressBar::with_draw_target(None, target);
    let style = ProgressStyle::with_template(
        "reading {bar:30} {bytes}/{total_bytes} {bytes_per_sec} {eta}",
    );
    bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// The closing count: what was read, kept, told again, rejected and why.
fn report(case: &Case) {
    let mut out = anstream::AutoStream::auto(std::io::stderr()).lock();
    // Nobody reads a closed stderr; there is nothing else to tell it to.
    let _closed = write_report(&mut out, case);
}

fn write_report(out: &mut dyn std::io::Write, case: &Case) -> std::io::Result<()> {
    let total = &case.summary.total;
    let counts = case.counts;
    let mut line = format!(
        "Read {} records from {}: {} facts kept, {} told again",
        total.records,
        total.form,
        counts.told - counts.duplicates,
        counts.duplicates
    );
    for (number, what) in [
        (total.irrelevant, "of no use here"),
        (total.left_out, "log lines left out"),
        (total.rejected, "rejected"),
    ] {
        if number > 0 {
            line.push_str(&format!(", {number} {what}"));
        }
    }
    writeln!(out, "{line}.")?;
    for file in &case.summary.files {
        match &file.status {
            FileStatus::Complete => {}
            FileStatus::Truncated(why) => writeln!(out, "  incomplete: {}: {why}", file.name)?,
            FileStatus::Failed(why) => writeln!(out, "  not used: {}: {why}", file.name)?,
        }
    }
    for record in case.summary.rejected.iter().take(SHOWN) {
        writeln!(out, "  rejected: {}: {}", record.origin, record.why)?;
    }
    let rest = total.rejected.saturating_sub(SHOWN as u64);
    if rest > 0 {
        writeln!(out, "  and {rest} more:")?;
        for (why, count) in &case.summary.reasons {
            writeln!(out, "    {count} × {why}")?;
        }
    }
    out.flush()
}

/// An input of which nothing could be used is an error, not an empty answer.
fn nothing_read(summary: &Summary) -> Result<(), Error> {
    let failed: Vec<String> = summary
        .files
        .iter()
        .filter_map(|file| match &file.status {
            FileStatus::Failed(why) => Some(format!("{}: {why}", file.name)),
            _ => None,
        })
        .collect();
    if !failed.is_empty() && summary.total.records == 0 {
        return Err(Error::Usage(format!(
            "nothing could be read: {}",
            failed.join("; ")
        )));
    }
    Ok(())
}

/// The style that the options and the terminal ask for.
#[must_use]
pub fn style(output: &OutputArgs) -> Style {
    let terminal = std::io::stdout().is_terminal();
    let color = match output.color {
        clap::ColorChoice::Always => true,
        clap::ColorChoice::Never => false,
        clap::ColorChoice::Auto => {
            terminal && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        }
    };
    let columns = || {
        std::env::var("COLUMNS")
            .ok()
            .and_then(|text| text.parse().ok())
    };
    let width = output
        .width
        .or_else(terminal_width)
        .or_else(columns)
        .unwrap_or(100);
    Style {
        width,
        color,
        tz: output.tz,
        ..Style::default()
    }
}

fn terminal_width() -> Option<usize> {
    terminal_size::terminal_size().map(|(width, _)| usize::from(width.0))
}
