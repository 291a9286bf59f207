//! What the shapes and colours of one picture mean: only those that it has.

use maud::{Markup, html};

use super::Group;
use super::Picture;

/// Wider than this, a mark is drawn as wide as its time is uncertain.
const WIDE: f64 = 1_000.0;

/// Kinds of bars with what they mean.
const BARS: [(&str, &str); 10] = [
    ("pending", "waiting, cordoned"),
    ("starting", "starting"),
    ("running", "running"),
    ("alive", "there, in an unknown state"),
    ("stuck", "stuck"),
    ("terminating", "terminating"),
    ("announced", "maintenance announced"),
    ("maintenance", "maintenance"),
    ("failed", "ended, failed or not ready"),
    ("read", "read, from the first to the last record"),
];

pub(super) fn show(picture: &Picture, has_saves: bool) -> Markup {
    let item = |what: &str, sample: Markup| {
        html! {
            li { svg width="30" height="16" viewBox="0 0 30 16" aria-hidden="true" focusable="false" { (sample) } " " (what) }
        }
    };
    let marks = || picture.marks.iter().chain(&picture.inner);
    let has_mark = |class: &str| marks().any(|mark| mark.class == class);
    let has_bar = |class: &str| picture.bars.iter().any(|bar| bar.class == class);
    let is_wide = marks().any(|mark| mark.count == 1 && mark.span.length() > WIDE);
    let of_pods = picture.lanes.iter().any(|lane| lane.group == Group::Pods);
    html! {
        ul.legend {
            @if !picture.steps.is_empty() { (item("step of the chain", html! { g.step.cause { circle cx="15" cy="8" r="7" {} } })) }
            @if has_mark("error") { (item("error", html! { g.mark.error { rect x="10" y="3" width="10" height="10" rx="1.5" {} } })) }
            @if has_mark("warning") { (item("warning", html! { g.mark.warning { path.solid d="M15 2L21 13H9z" {} } })) }
            @if has_mark("info") { (item("other record", html! { g.mark.info { rect x="11" y="4" width="8" height="8" rx="4" {} } })) }
            @if is_wide { (item("time not known more exactly", html! { g.mark.wide.error { rect x="2" y="4" width="26" height="8" rx="4" {} } })) }
            @if has_mark("death") && of_pods {
                (item("end of a pod, job or instance", html! { g.mark.death { circle.solid cx="15" cy="8" r="7" {} path d="M12 5L18 11M18 5L12 11" {} } }))
            }
            @for (class, what) in BARS.into_iter().filter(|(class, _)| has_bar(class)) {
                (item(what, html! { rect class={ "bar " (class) } x="1" y="3" width="28" height="10" {} }))
            }
            @if has_saves { (item("checkpoint saved", html! { path.save d="M15 3L20 12H10z" {} })) }
            // The picture's own pattern is gone where the script draws, so this one is made of lines.
            @if has_bar("unseen") {
                (item("could not be seen", html! { rect.hatch-ground x="1" y="3" width="28" height="10" {} path.hatch-line d="M1 9L7 3M4 13L14 3M11 13L21 3M18 13L28 3M25 13L29 9" {} }))
            }
        }
    }
}
