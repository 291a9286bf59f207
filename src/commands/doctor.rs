//! `whathappened doctor`

use std::io::Write as _;
use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use whathappened_connectors::cluster::{ClusterError, Reason, connect};
use whathappened_model::connector::{Health, Verdict};
use whathappened_model::time::{Nanos, SECOND, rfc3339};
use whathappened_store::{Status, Store, StoreError};

use super::{clock, common, service_check, settings};
use crate::cli::{LiveArgs, OutputArgs, StoreArgs};
use crate::config::Config;
use crate::error::Error;
use crate::fetch;
use crate::render::Format;

/// Checks the configuration, also as `serve` would, and every source: whether it can be reached, which permissions it grants, how far back it
/// goes and how far its clock is off; changes nothing
///
/// Exit code 0: everything that is configured works; 4: something does not, or a permission is
/// missing (marked ✗).
#[derive(clap::Args, Clone, Debug)]
#[command(mut_arg("format", crate::cli::table_or_json))]
pub struct Args {
    #[command(flatten)]
    pub stored: StoreArgs,
    #[command(flatten)]
    pub live: LiveArgs,
    #[command(flatten)]
    pub output: OutputArgs,
}

/// What was found.
struct Report {
    config: String,
    /// Files that it names and that cannot be read.
    unreadable: Vec<String>,
    /// What `serve` would refuse of it: what is wrong, and what to do.
    refused: Vec<(String, Vec<String>)>,
    store: Result<(String, Status), StoreError>,
    sources: Vec<Health>,
    failed: Vec<ClusterError>,
    /// Why no cluster was tried, where nobody named one and there is no kubeconfig.
    none: Option<ClusterError>,
    now: Nanos,
}

/// Looks at everything.
///
/// # Errors
/// [`Error::Failed`] when a source that is configured cannot be used.
pub async fn run(args: &Args) -> Result<(), Error> {
    let format = args.output.format;
    let config = settings::of_all(&args.stored, &args.live)?;
    let report = look(args, &config).await?;
    let text = match format {
        Format::Json => format!("{:#}\n", to_json(&report)),
        _ => to_text(&report, common::style(&args.output).color),
    };
    let failed = |error| Error::Io {
        path: "standard output".to_owned(),
        error,
    };
    std::io::stdout()
        .lock()
        .write_all(text.as_bytes())
        .map_err(failed)?;
    let bad_config = !report.unreadable.is_empty() || !report.refused.is_empty();
    let bad = report.failed.len()
        + report
            .sources
            .iter()
            .filter(|health| health.unreachable.is_some() || refusal(health).is_some())
            .count();
    let missing = matches!(report.store, Err(StoreError::Missing { .. }));
    let denied = report.sources.iter().flat_map(|health| &health.permissions);
    let denied = denied.filter(|one| one.verdict == Verdict::Denied).count();
    if bad > 0 || bad_config || (report.store.is_err() && !missing) {
        return Err(Error::Failed(
            "some of the configuration does not work".to_owned(),
        ));
    }
    if denied > 0 {
        let missing = common::count(denied as u64, "permission");
        return Err(Error::Failed(format!("{missing} missing (marked ✗ above)")));
    }
    Ok(())
}

async fn look(args: &Args, config: &Config) -> Result<Report, Error> {
    let now = clock::now();
    let path = config.store_path()?;
    let store = Store::open_to_read(&path)
        .and_then(|store| Ok((path.display().to_string(), store.status()?)));
    let file = args.stored.config.clone().or_else(Config::default_path);
    let config_file = match file {
        Some(file) if file.exists() => file.display().to_string(),
        Some(file) => format!("{} (not found, using defaults)", file.display()),
        None => "none".to_owned(),
    };
    let (mut sources, mut failed, mut none) = (Vec::new(), Vec::new(), None);
    if config.kubernetes.enabled {
        let options = fetch::options(&config.kubernetes);
        let named = std::env::var_os("KUBECONFIG").is_some_and(|list| !list.is_empty());
        let is_named = named || options.kubeconfig.is_some();
        match connect(&options).await {
            Ok(connected) => {
                for cluster in &connected.clusters {
                    let deadline = Instant::now() + config.kubernetes.timeout;
                    sources.push(cluster.check(clock::now(), deadline).await);
                }
                failed = connected.failed;
            }
            Err(error) if error.reason == Reason::NoKubeconfig && !is_named => none = Some(error),
            Err(error) => failed.push(error),
        }
    }
    let env = |name: &str| std::env::var(name).ok();
    let others = fetch::sources(config, &env, Arc::new(clock::now)).await;
    let deadline = Instant::now() + config.kubernetes.timeout;
    let checked = others
        .usable
        .iter()
        .map(|source| source.check(clock::now(), deadline));
    sources.extend(futures::future::join_all(checked).await);
    sources.extend(others.failed.into_iter().map(|row| Health {
        source: row.source,
        unreachable: row.detail,
        ..Health::default()
    }));
    let unreadable: Vec<String> = Config::unreadable(args.stored.config.as_deref())
        .into_iter()
        .map(|(_, error)| error.to_string())
        .collect();
    let refused = service_check::refused(config).await;
    let refused = refused
        .into_iter()
        .map(|error| (error.to_string(), error.hints()))
        // A file that cannot be read is told above.
        .filter(|(what, _)| !unreadable.contains(what));
    Ok(Report {
        config: config_file,
        refused: refused.collect(),
        unreadable,
        store,
        sources,
        failed,
        none,
        now,
    })
}

fn distance(nanos: Nanos) -> String {
    let seconds = nanos / SECOND;
    match seconds.saturating_abs() {
        0..=119 => format!("{seconds} s"),
        120..=7_199 => format!("{} min", seconds / 60),
        7_200..=172_799 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

fn to_text(report: &Report, color: bool) -> String {
    let mark = |good: bool| match (good, color) {
        (true, true) => "\u{1b}[32m✓\u{1b}[0m",
        (true, false) => "✓",
        (false, true) => "\u{1b}[31m✗\u{1b}[0m",
        (false, false) => "✗",
    };
    let mut out = format!("configuration  {}\n", report.config);
    for why in &report.unreadable {
        out.push_str(&format!("{} {why}\n", mark(false)));
    }
    for (what, hints) in &report.refused {
        out.push_str(&format!("{} {what}\n", mark(false)));
        for hint in hints {
            out.push_str(&format!("    hint: {hint}\n"));
        }
    }
    out.push('\n');
    match &report.store {
        Ok((path, status)) => {
            out.push_str(&format!("{} store  {path}\n", mark(true)));
            out.push_str(&format!(
                "    {} facts, {} object versions, {} {}\n",
                status.facts + status.hot,
                status.versions,
                status.incidents,
                if status.incidents == 1 {
                    "incident"
                } else {
                    "incidents"
                }
            ));
            if let (Some(from), Some(to)) = (status.from, status.to) {
                out.push_str(&format!("    from {} to {}\n", rfc3339(from), rfc3339(to)));
            }
        }
        Err(StoreError::Missing { path }) => {
            out.push_str(&format!(
                "  store  {} is empty; fill it with `whathappened import` or `whathappened collect`\n",
                path.display()
            ));
        }
        Err(error) => out.push_str(&format!("{} store  {error}\n", mark(false))),
    }
    if let Some(none) = &report.none {
        out.push_str(&format!(
            "\n○ kubernetes  not configured: {}\n    hint: {}\n",
            none.message, none.hint
        ));
    }
    for error in &report.failed {
        let context = error
            .context
            .as_ref()
            .map_or_else(String::new, |context| format!(" {context}"));
        out.push_str(&format!(
            "\n{} kubernetes{context}\n    {}\n    hint: {}\n",
            mark(false),
            error.message,
            error.hint
        ));
    }
    for health in &report.sources {
        out.push('\n');
        of_source(&mut out, health, report.now, &mark);
    }
    out
}

/// What a source says that does not know who asks: no permission is missing then.
fn refusal(health: &Health) -> Option<&str> {
    let denied = health.permissions.iter();
    let mut denied = denied.filter(|one| one.verdict == Verdict::Denied);
    denied.find_map(|one| {
        one.detail
            .as_deref()
            .filter(|why| why.contains("returned 401"))
    })
}

/// Whether a source responds and gives nothing of what is asked of it.
fn allows_nothing(health: &Health) -> bool {
    let mut permissions = health.permissions.iter();
    !health.permissions.is_empty() && permissions.all(|one| one.verdict == Verdict::Denied)
}

fn of_source(out: &mut String, health: &Health, now: Nanos, mark: &dyn Fn(bool) -> &'static str) {
    let refusal = refusal(health);
    let allows_nothing = allows_nothing(health);
    let good = health.unreachable.is_none() && refusal.is_none() && !allows_nothing;
    out.push_str(&format!(
        "{} {}  {}{}\n",
        mark(good),
        health.source,
        health.place,
        health
            .version
            .as_ref()
            .map_or_else(String::new, |version| format!("  {version}"))
    ));
    if let Some(why) = &health.unreachable {
        out.push_str(&format!("    does not respond: {why}\n"));
    }
    if refusal.is_some() {
        out.push_str("    credentials refused (401): they are missing, wrong or have expired\n");
    } else if allows_nothing {
        out.push_str("    responds, and allows nothing that is read there\n");
    }
    if let Some(back) = health.reaches_back_to {
        out.push_str(&format!(
            "    goes back to {} ({} ago)\n",
            rfc3339(back),
            distance(now.saturating_sub(back))
        ));
    }
    if let Some(skew) = health.skew {
        let apart = skew.by.saturating_abs();
        let within = distance(skew.within.saturating_add(SECOND - 1));
        let says = match skew.by {
            _ if apart <= skew.within => "agrees with this machine's".to_owned(),
            ..0 => format!("is {} behind this machine's", distance(apart)),
            _ => format!("is {} ahead of this machine's", distance(apart)),
        };
        out.push_str(&format!("    its clock {says} (± {within})\n"));
    }
    for permission in &health.permissions {
        let sign = match permission.verdict {
            Verdict::Allowed => mark(true),
            Verdict::Denied => mark(false),
            Verdict::Unknown => "?",
        };
        out.push_str(&format!("    {sign} {}", permission.what));
        if permission.verdict != Verdict::Allowed {
            out.push_str(&format!(" — would show {}", permission.shows));
            if let Some(detail) = &permission.detail {
                out.push_str(&format!(" ({detail})"));
            }
        }
        out.push('\n');
    }
    for note in &health.notes {
        out.push_str(&format!("    {note}\n"));
    }
}

fn to_json(report: &Report) -> Value {
    let source = |health: &Health| {
        let permissions: Vec<Value> = health
            .permissions
            .iter()
            .map(|one| {
                json!({
                    "what": one.what,
                    "verdict": match one.verdict {
                        Verdict::Allowed => "allowed",
                        Verdict::Denied => "denied",
                        Verdict::Unknown => "unknown",
                    },
                    "shows": one.shows,
                    "detail": one.detail,
                })
            })
            .collect();
        json!({
            "source": health.source,
            "place": health.place,
            "reachable": health.unreachable.is_none(),
            "why_not": health.unreachable,
            "version": health.version,
            "reaches_back_to": health.reaches_back_to.map(rfc3339),
            "clock_skew_ns": health.skew.map(|skew| skew.by),
            "clock_skew_within_ns": health.skew.map(|skew| skew.within),
            "permissions": permissions,
            "notes": health.notes,
        })
    };
    let mut sources: Vec<Value> = report.sources.iter().map(source).collect();
    sources.extend(report.failed.iter().map(|error| {
        json!({
            "source": "kubernetes",
            "place": error.context,
            "reachable": false,
            "why_not": error.message,
            "to_do": error.hint,
        })
    }));
    sources.extend(report.none.iter().map(|error| {
        json!({
            "source": "kubernetes",
            "configured": false,
            "reachable": false,
            "why_not": error.message,
            "to_do": error.hint,
        })
    }));
    let store = match &report.store {
        Ok((path, status)) => json!({
            "path": path,
            "facts": status.facts + status.hot,
            "versions": status.versions,
            "incidents": status.incidents,
            "from": status.from.map(rfc3339),
            "to": status.to.map(rfc3339),
        }),
        Err(error) => json!({ "error": error.to_string() }),
    };
    let refused: Vec<Value> = report
        .refused
        .iter()
        .map(|(what, hints)| json!({"what": what, "to_do": hints}))
        .collect();
    json!({ "configuration": report.config, "unreadable": report.unreadable, "refused": refused, "store": store, "sources": sources })
}

#[cfg(test)]
mod tests {
    use super::*;
    use whathappened_model::connector::Permission;

    #[test]
    fn a_source_that_allows_nothing_is_not_in_order() {
        let permission = |verdict: Verdict| Permission {
            what: "list pods at cluster scope".to_owned(),
            verdict,
            shows: "how containers ended".to_owned(),
            detail: None,
        };
        let told = |verdicts: [Verdict; 2]| {
            let health = Health {
                source: "kubernetes".to_owned(),
                permissions: verdicts.into_iter().map(permission).collect(),
                ..Health::default()
            };
            let mut out = String::new();
            of_source(&mut out, &health, 0, &|good| {
                if good { "✓" } else { "✗" }
            });
            out
        };
        let none = told([Verdict::Denied, Verdict::Denied]);
        assert!(none.starts_with("✗ kubernetes"), "{none}");
        assert!(none.contains("allows nothing"), "{none}");
        let some = told([Verdict::Allowed, Verdict::Denied]);
        assert!(some.starts_with("✓ kubernetes"), "{some}");
    }
}
