//! `whathappened upcoming`

use std::io::Write as _;

use whathappened_model::connector::Window;
use whathappened_model::time::{Nanos, SECOND};

use super::common::{self, OpenedCase};
use super::{clock, piped, question, unnamed};
use crate::cli::{InputArgs, OutputArgs};
use crate::config::parse_duration;
use crate::error::Error;
use crate::render::{Clock, Format};
use crate::report::{self, Report};

/// Shows what is announced for the machines that a run is on, or for one machine
///
/// For launchers, to check before starting work on a host. Exit code 0: nothing is
/// announced; 5: something is; 6: unknown, because no source of announcements could be read, or a
/// calendar only in part, or a calendar was all there was and does not name the machine.
#[derive(clap::Args, Clone, Debug)]
#[command(mut_arg("format", crate::cli::table_or_json))]
pub struct Args {
    /// Experiment, workload or pod, or node/NAME, instance/ID; also a bare name. Every machine if
    /// left out.
    #[arg(value_name = "NAME", default_value = "*", hide_default_value = true)]
    pub name: String,
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    /// How far ahead to look, such as 60m, 2h or 7d; 60m by default.
    #[arg(long, value_name = "TIME")]
    pub within: Option<String>,
    /// The time to look ahead from; by default now, or with recordings the latest record.
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
}

/// How far ahead to look where nothing is said.
const WITHIN: &str = "60m";
/// Something is announced.
const ANNOUNCED: u8 = 5;
/// Nobody who would announce anything could be asked.
const UNSEEN: u8 = 6;

/// Looks ahead; gives the exit code.
///
/// # Errors
/// When nothing has the name, or a time cannot be read.
pub async fn run(args: &Args) -> Result<u8, Error> {
    let format = args.output.format;
    let ahead = args.within.as_deref().unwrap_or(WITHIN);
    let within = parse_duration(ahead).ok_or_else(|| {
        Error::misused(
            format!("--within {ahead} is not valid"),
            "write 60m, 2h or 7d",
        )
    })?;
    let args = &Args {
        input: piped::beside(&args.input).await?,
        ..args.clone()
    };
    let opened = common::open(&args.input, &args.name, Window::default());
    let OpenedCase { case, .. } = Box::pin(opened).await?;
    // Announcements alone do not say which day it is: they are read before they are due.
    let recorded = case.graph.now.filter(|_| !report::is_calendar_alone(&case));
    let present = match recorded {
        Some(recorded) if !args.input.from.is_empty() => recorded,
        _ => clock::now(),
    };
    let at = args.at.as_deref();
    let now = at
        .map(|text| question::moment(text, Some(present), args.output.tz))
        .transpose()?
        .unwrap_or(present);
    let unnamed = unnamed::sentence(&case, &args.name)?;
    let mut report = match &unnamed {
        None => report::upcoming(&case, &args.name, now, within)
            .map_err(|error| unnamed::nearest_machines(error, &case, &args.name))?,
        // What is announced for others says nothing of it.
        Some(why) => {
            let mut report = report::upcoming(&case, "*", now, within)?;
            report.name.clone_from(&args.name);
            report.announced.clear();
            report.unread.push(why.clone());
            report
        }
    };
    report.unread.sort();
    let text = match format {
        Format::Json => serde_json::to_string_pretty(&report).unwrap_or_default() + "\n",
        _ => reported(&report, unnamed.as_deref(), now, args),
    };
    std::io::stdout()
        .lock()
        .write_all(text.as_bytes())
        .map_err(|error| Error::Io {
            path: "standard output".to_owned(),
            error,
        })?;
    let is_unseen = is_unseen(&report) || unnamed.is_some();
    Ok(match (report.announced.is_empty(), is_unseen) {
        (false, _) => ANNOUNCED,
        (true, true) => UNSEEN,
        (true, false) => 0,
    })
}

/// Whether there may be announcements that nobody could read.
fn is_unseen(report: &Report) -> bool {
    report.read.is_empty() || report.is_incomplete
}

fn reported(report: &Report, unnamed: Option<&str>, now: Nanos, args: &Args) -> String {
    let shown = |time: &str| Clock(args.output.tz).full_with_zone(time);
    let mut out = String::new();
    let name = &report.name;
    for one in &report.announced {
        let machine = &one.machine;
        let when = match (&one.from, &one.to) {
            (Some(from), Some(to)) => {
                format!("from {} to {}{}", shown(from), shown(to), ahead(from, now))
            }
            (Some(from), None) => format!("at {}{}", shown(from), ahead(from, now)),
            (None, _) => "at no stated time".to_owned(),
        };
        let by = one
            .actor
            .as_ref()
            .map_or_else(String::new, |actor| format!(" by {actor}"));
        let announced = match &one.announced_at {
            Some(at) => format!("announced {}{by}", shown(at)),
            None => format!("announced at an unknown time{by}"),
        };
        out.push_str(&format!(
            "! {machine}  {when}\n    {}\n    {announced} · {} · {}\n",
            one.text,
            named(one.source),
            &one.event_id[..one.event_id.len().min(12)]
        ));
    }
    if report.announced.is_empty() {
        let until = shown(&report.until);
        // Who said how far to look knows how to look further.
        let further = match args.within {
            Some(_) => "",
            None => " (use --within 7d to look further ahead)",
        };
        out.push_str(&match (report.placed, is_unseen(report)) {
            _ if let Some(why) = unnamed => format!("{name}: unknown; {why}\n"),
            (false, _) => format!(
                "{name} was on no machine at {}, so nothing can be announced for it\n",
                shown(&report.now)
            ),
            (true, true) if report.is_incomplete => format!(
                "{name}: unknown; nothing is announced until {until} in what could be read, but entries of a calendar could not be read\n"
            ),
            (true, true) => {
                format!("{name}: unknown; no source of announcements could be read\n")
            }
            (true, false) => {
                let whose = match (name.as_str(), report.calendar_alone) {
                    ("*", _) => "any machine",
                    (_, true) => "a machine of this name",
                    (_, false) => "its machines",
                };
                format!("{name}: nothing is announced for {whose} until {until}{further}\n")
            }
        });
    }
    if !report.read.is_empty() {
        let read: Vec<String> = report.read.iter().map(|what| named(what)).collect();
        out.push_str(&format!("  read: {}\n", read.join(", ")));
    }
    // What stands above is not said again.
    let rest = |why: &&String| unnamed != Some(why.as_str());
    for why in report.unread.iter().filter(rest) {
        out.push_str(&format!("  not read: {why}\n"));
    }
    out
}

/// A source as people know it: of a machine's own records only a calendar announces anything.
fn named(source: &str) -> String {
    match source {
        "node_log" | "node_log maintenance" => "the maintenance calendar".to_owned(),
        source => source.to_owned(),
    }
}

/// How far ahead a time is.
fn ahead(time: &str, now: Nanos) -> String {
    let Some(at) = whathappened_model::time::Stamp::parse(time) else {
        return String::new();
    };
    let minutes = at.lo.saturating_sub(now) / (60 * SECOND);
    match minutes {
        ..0 => " (in progress)".to_owned(),
        0..120 => format!(" (in {minutes} min)"),
        _ => format!(" (in {} h)", minutes / 60),
    }
}
