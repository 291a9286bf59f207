//! The path of somebody who has never seen any of this: from a message to the record behind its verdict.

use std::time::{Duration, Instant};

use super::browser::Browser;
use super::{judge, timeline};

/// Follows a message's link, clicks on the root in the picture and on its record: that record's text, and how
/// long it took. Nothing where there is no browser.
pub(crate) fn three_clicks(base: &str, link: &str) -> Option<(String, Duration)> {
    let mut browser = Browser::start()?;
    browser.look(1280, "light");
    let begun = Instant::now();
    judge(&browser.open(link), base, link);
    let record = timeline::to_the_roots_record(&mut browser);
    Some((record, begun.elapsed()))
}
