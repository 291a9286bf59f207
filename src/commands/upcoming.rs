//! `whathappened upcoming`

use std::io::Write as _;

use whathappened_connectors::connector::Window;
use whathappened_connectors::time::{Nanos, SECOND};

use super::common::{self, OpenedCase};
use super::{clock, question};
use crate::cli::{InputArgs, OutputArgs};
use crate::config::parse_duration;
use crate::error::Error;
use crate::render::Format;
use crate::report::{self, Report};

/// Shows what is announced for the machines that a run is on, or for one machine
///
/// For launchers, to check before starting work on a host. Exit code 0: nothing is
/// announced; 5: something is; 6: no source that announces anything could be read.
#[derive(clap::Args, Clone, Debug)]
#[command(mut_arg("format", crate::cli::table_or_json))]
pub struct Args {
    /// Experiment, workload or pod, or node/NAME, instance/ID; also a bare name.
    #[arg(value_name = "NAME")]
    pub name: String,
    #[command(flatten)]
    pub input: InputArgs,
    #[command(flatten)]
    pub output: OutputArgs,
    /// How far ahead to look, such as 60m, 2h or 7d.
    #[arg(long, value_name = "TIME", default_value = "60m")]
    pub within: String,
    /// The time to look ahead from; by default now, or with recordings the latest record.
    #[arg(long, value_name = "TIME")]
    pub at: Option<String>,
}

/// Something is announced.
const ANNOUNCED: u8 = 5;
/// Nobody who would announce anything could be asked.
const UNSEEN: u8 = 6;

/// Looks ahead; gives the exit code.
///
/// # Errors
/// When nothing bears the name, or a time is none.
pub async fn run(args: &Args) -> Result<u8, Error> {
    let format = args.output.format;
    let within = parse_duration(&args.within).ok_or_else(|| {
        Error::misused(
            format!("--within {} is not valid", args.within),
            "write 60m, 2h or 7d",
        )
    })?;
    let opened = common::open(&args.input, &args.name, Window::default());
    let OpenedCase { case, .. } = Box::pin(opened).await?;
    let present = if args.input.from.is_empty() {
        Some(clock::now())
    } else {
        case.graph.now
    };
    let at = args.at.as_deref();
    let now = at
        .map(|text| question::moment(text, present, args.output.tz))
        .transpose()?
        .or(present)
        .ok_or_else(|| Error::misused("the input has no timestamps", "give the time with --at"))?;
    let report = report::upcoming(&case, &args.name, now, within)?;
    let text = match format {
        Format::Json => serde_json::to_string_pretty(&report).unwrap_or_default() + "\n",
        _ => reported(&report, now),
    };
    std::io::stdout()
        .lock()
        .write_all(text.as_bytes())
        .map_err(|error| Error::Io {
            path: "standard output".to_owned(),
            error,
        })?;
    Ok(
        match (report.announced.is_empty(), report.read.is_empty()) {
            (false, _) => ANNOUNCED,
            (true, true) => UNSEEN,
            (true, false) => 0,
        },
    )
}

fn reported(report: &Report, now: Nanos) -> String {
    let mut out = String::new();
    let name = &report.name;
    for one in &report.announced {
        let machine = &one.machine;
        let when = match (&one.from, &one.to) {
            (Some(from), Some(to)) => format!("from {from} to {to}{}", ahead(from, now)),
            (Some(from), None) => format!("at {from}{}", ahead(from, now)),
            (None, _) => "at no stated time".to_owned(),
        };
        let by = one
            .actor
            .as_ref()
            .map_or_else(String::new, |actor| format!(" by {actor}"));
        let announced = match &one.announced_at {
            Some(at) => format!("announced {at}{by}"),
            None => format!("announced at an unknown time{by}"),
        };
        out.push_str(&format!(
            "! {machine}  {when}\n    {}\n    {announced} · {} · {}\n",
            one.text,
            one.source,
            &one.event_id[..one.event_id.len().min(12)]
        ));
    }
    if report.announced.is_empty() {
        // Nobody reads the fraction of a second that a clock has.
        let whole = |time: &str| match time.split_once('.') {
            Some((whole, _)) => format!("{whole}Z"),
            None => time.to_owned(),
        };
        let until = whole(&report.until);
        out.push_str(&match (report.placed, report.read.is_empty()) {
            (false, _) => format!(
                "{name} was on no machine at {}, so nothing can be announced for it\n",
                whole(&report.now)
            ),
            (true, true) => {
                format!("{name}: unknown; no source of announcements could be read\n")
            }
            (true, false) => format!(
                "{name}: nothing is announced for its machines until {until} (use --within 7d to look further ahead)\n"
            ),
        });
    }
    if !report.read.is_empty() {
        out.push_str(&format!("  read: {}\n", report.read.join(", ")));
    }
    for why in &report.unread {
        out.push_str(&format!("  not read: {why}\n"));
    }
    out
}

/// How far ahead a time is.
fn ahead(time: &str, now: Nanos) -> String {
    let Some(at) = whathappened_connectors::time::Stamp::parse(time) else {
        return String::new();
    };
    let minutes = at.lo.saturating_sub(now) / (60 * SECOND);
    match minutes {
        ..0 => " (in progress)".to_owned(),
        0..120 => format!(" (in {minutes} min)"),
        _ => format!(" (in {} h)", minutes / 60),
    }
}
