//! The page that documents the configuration names every section and every key, and no other.

use std::collections::BTreeSet;

use whathappened::config::{
    Alertmanager, Aws, Azure, Config, Gcp, Grafana, Prometheus, Section, Slurm,
};
use whathappened_model::event::SourceKind;

const PAGE: &str = "docs/configuration.md";
/// Keys that every source takes; the page has them once.
const OF_EVERY_SOURCE: [&str; 4] = ["enabled", "name", "labels", "headers"];

/// The keys that the program itself accepts where a text stands before an unknown one.
fn accepted(before: &str) -> BTreeSet<String> {
    let text = format!("{before}no_such_key = 1\n");
    let why = toml::from_str::<Config>(&text).unwrap_err().to_string();
    let (_, known) = why.split_once("expected ").unwrap();
    let known = known.lines().next().unwrap();
    known
        .split('`')
        .skip(1)
        .step_by(2)
        .map(str::to_owned)
        .collect()
}

/// The first columns of the page's table below a heading, split where one row has several keys.
fn documented(heading: &str) -> Vec<(String, String)> {
    let page = std::fs::read_to_string(PAGE).unwrap();
    let start = page
        .lines()
        .position(|line| line == heading)
        .unwrap_or_else(|| panic!("{PAGE} has no heading {heading:?}"));
    let section = page.lines().skip(start + 1);
    let section = section.take_while(|line| !line.starts_with('#'));
    let rows = section.filter(|line| line.starts_with("| `"));
    let mut keys = Vec::new();
    for row in rows {
        let mut columns = row.split('|').map(str::trim).skip(1);
        let (names, second) = (columns.next().unwrap(), columns.next().unwrap());
        for name in names.split(", ") {
            let second = second.trim_matches('`').to_owned();
            keys.push((name.trim_matches('`').to_owned(), second));
        }
    }
    keys
}

fn keys(heading: &str) -> BTreeSet<String> {
    documented(heading)
        .into_iter()
        .map(|(key, _)| key)
        .collect()
}

#[test]
fn the_page_lists_every_key_of_every_section() {
    for (heading, before) in [
        ("## `[store]`", "[store]\n"),
        ("## `[kubernetes]`", "[kubernetes]\n"),
        ("## `[logs]`", "[logs]\n"),
        ("## `[serve]`", "[serve]\n"),
        ("### `[[serve.caller]]`", "[[serve.caller]]\nname = 'a'\n"),
        ("### `[serve.limits]`", "[serve.limits]\n"),
        ("### `[serve.sql]`", "[serve.sql]\n"),
        ("### `[serve.hooks.NAME]`", "[serve.hooks.generic]\n"),
        ("### `[serve.syslog]`", "[serve.syslog]\n"),
        (
            "### `[serve.postgres]` and `[serve.flight]`",
            "[serve.postgres]\n",
        ),
        ("## `[slack]`", "[slack]\n"),
    ] {
        assert_eq!(keys(heading), accepted(before), "{PAGE}, {heading}");
    }
    let mut top = keys("## Top level");
    let page = std::fs::read_to_string(PAGE).unwrap();
    let sections = page.lines().filter(|line| line.starts_with('#'));
    let sections = sections.filter_map(|line| line.split_once("`[")?.1.split_once("]`"));
    top.extend(
        sections
            .map(|(name, _)| name.trim_matches(['[', ']']).to_owned())
            .filter(|name| !name.contains('.')),
    );
    assert_eq!(top, accepted(""), "{PAGE}: sections");
}

#[test]
fn the_page_lists_every_variable_of_every_source() {
    fn of<S: Section + Default>(name: &str) {
        same(name, &S::default());
    }
    fn same(name: &str, own: &dyn Section) {
        let heading = format!("### `[{name}]`");
        let own = own.variables().iter();
        let own: BTreeSet<(String, String)> = own
            .map(|(key, variable)| ((*key).to_owned(), (*variable).to_owned()))
            .collect();
        let page: BTreeSet<(String, String)> = documented(&heading).into_iter().collect();
        assert_eq!(page, own, "{PAGE}, {heading}");
        let mut all = keys("## Sources");
        assert_eq!(all, BTreeSet::from(OF_EVERY_SOURCE.map(str::to_owned)));
        all.extend(own.into_iter().map(|(key, _)| key));
        assert_eq!(all, accepted(&format!("[[{name}]]\n")), "{name}");
    }
    for kind in SourceKind::LOG_STORES {
        let text = format!("[{}]\n", kind.as_str());
        let config: Config = toml::from_str(&text).unwrap();
        let stores = config.log_stores();
        let (name, sections) = stores
            .iter()
            .find(|(name, _)| *name == kind.as_str())
            .unwrap();
        same(name, sections[0]);
    }
    of::<Prometheus>("prometheus");
    of::<Alertmanager>("alertmanager");
    of::<Grafana>("grafana");
    of::<Gcp>("gcp");
    of::<Aws>("aws");
    of::<Azure>("azure");
    of::<Slurm>("slurm");
}
