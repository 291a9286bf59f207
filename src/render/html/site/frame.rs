//! What is around every page of the service: the bar at the top, style and scripts.

use maud::{DOCTYPE, Markup, html};

use super::super::super::text::escape;
use super::assets::address;

/// Where in the service a page is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tab {
    /// Recent incidents and what is running.
    Home,
    /// Losses by cause, day and machine.
    Fleet,
    /// Statements.
    Sql,
    /// One thing: an experiment, an incident, a machine.
    #[default]
    Elsewhere,
}

/// What the frame shows beside the page.
#[derive(Clone, Debug, Default)]
pub struct Frame {
    /// Where the reader is.
    pub tab: Tab,
    /// Who is signed in; nobody where no token is needed.
    pub caller: Option<String>,
    /// What was searched for.
    pub query: String,
    /// Whether the reader may go anywhere: not before signing in.
    pub closed: bool,
}

impl Frame {
    /// The whole document around a page.
    pub(super) fn around(&self, title: &str, scripts: &[&str], page: &Markup) -> String {
        let document = html! {
            (DOCTYPE)
            html lang="en" {
                head {
                    meta charset="utf-8";
                    meta name="viewport" content="width=device-width, initial-scale=1";
                    meta name="color-scheme" content="light dark";
                    title { (escape(title)) " · whathappened" }
                    link rel="icon" href=(address("icon", "svg"));
                    link rel="stylesheet" href=(address("page", "css"));
                    link rel="stylesheet" href=(address("site", "css"));
                    @if !self.closed { script defer src=(address("site", "js")) {} }
                    @for script in scripts { script defer src=(address(script, "js")) {} }
                }
                body.site {
                    a.skip href="#content" { "Skip to the content" }
                    (self.bar())
                    div #content tabindex="-1" { (page) }
                }
            }
        };
        document.into_string()
    }

    fn bar(&self) -> Markup {
        html! {
            div.topbar role="banner" {
                a.brand href="/" { svg.mark-of-brand viewBox="0 0 24 24" width="22" height="22" aria-hidden="true" focusable="false" {
                        path d="M3 12h4l3-8 4 16 3-8h4" fill="none" stroke="currentColor" stroke-width="2.4" stroke-linecap="round" stroke-linejoin="round" {}
                    } "whathappened" }
                @if !self.closed {
                    nav.tabs aria-label="Service" {
                        (self.tab(Tab::Home, "/", "Incidents"))
                        (self.tab(Tab::Fleet, "/fleet", "Fleet"))
                        (self.tab(Tab::Sql, "/sql", "SQL"))
                    }
                    @if self.tab != Tab::Home { (search(&self.query, false)) }
                    @if let Some(caller) = &self.caller {
                        form.leave method="post" action="/logout" {
                            span.dim { bdi { (escape(caller)) } }
                            button type="submit" { "Sign out" }
                        }
                    }
                }
            }
        }
    }

    fn tab(&self, tab: Tab, path: &str, title: &str) -> Markup {
        html! { a href=(path) aria-current=[(self.tab == tab).then_some("page")] { (title) } }
    }
}

/// The box that finds experiments, runs, pods and machines.
pub(super) fn search(query: &str, is_large: bool) -> Markup {
    html! {
        form.search.large[is_large] method="get" action="/search" role="search" {
            input #q name="q" type="search" value=(query) autocomplete="off" spellcheck="false" required
                maxlength="500" placeholder="Experiment, job, pod or node" aria-label="Experiment, job, pod or node"
                role="combobox" aria-expanded="false" aria-controls="suggestions" aria-autocomplete="list" autofocus[is_large];
            button type="submit" { "Search" }
            ul #suggestions role="listbox" aria-label="Suggestions" hidden {}
        }
    }
}

pub(super) use super::super::verdict::level;
