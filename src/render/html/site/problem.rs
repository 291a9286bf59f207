//! What could not be shown, and what to do.

use maud::html;

use super::super::super::text::escape;
use super::super::super::text::in_address;
use super::frame::Frame;

/// An error as a sentence: on a command line it stands behind a colon.
fn sentence(detail: &str) -> String {
    let mut letters = detail.chars();
    let first = letters.next().map(|first| first.to_uppercase().to_string());
    let end = if detail.ends_with(['.', '!', '?']) {
        ""
    } else {
        "."
    };
    format!("{}{}{end}", first.unwrap_or_default(), letters.as_str())
}

/// A page that says what is wrong. `near` are names that may have been meant.
#[must_use]
pub fn problem(
    frame: &Frame,
    title: &str,
    detail: &str,
    hints: &[String],
    near: &[String],
) -> String {
    let page = html! {
        main.problem {
            h1 { (escape(title)) }
            p.summary { bdi { (escape(&sentence(detail))) } }
            @if !near.is_empty() {
                h2 { "Did you mean" }
                ul.names { @for name in near { li { a href={ "/x/" (in_address(name)) } { bdi { (escape(name)) } } } } }
            }
            p.way { a href="/" { "All incidents" } a href="/fleet" { "Fleet" } a href="/sql" { "SQL" } }
            @let hints: Vec<&String> = hints.iter().filter(|hint| !hint.contains("/api/")).collect();
            @if !hints.is_empty() && near.is_empty() {
                ul { @for hint in hints { li { bdi { (escape(hint)) } } } }
            }
        }
    };
    frame.around(title, &[], &page)
}
