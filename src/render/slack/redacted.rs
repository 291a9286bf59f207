//! An answer for channels that people of other firms are in.

use whathappened_slack::{Message, Mrkdwn};

use crate::answer::{Answer, Incident, Level};

use super::super::table::main_incident;
use super::super::wording;

/// What kind of thing happened, without a name of anything, a text from a record
/// or a time.
#[must_use]
pub fn redacted(answer: &Answer) -> Message {
    let reported = match main_incident(answer) {
        Some(incident) => of(incident),
        None => "No incident was found in the data that was read.".to_owned(),
    };
    Message::text(
        &Mrkdwn::new().say(reported).say(
            " Names are hidden because this channel includes people from other organisations.",
        ),
    )
}

fn of(incident: &Incident) -> String {
    let died = incident.victims.len().max(incident.first_victims.len()) + incident.collateral.len();
    let pods = wording::count(died, "pod").replace('\u{a0}', " ");
    if incident.level == Level::Unknown {
        return format!("The cause could not be determined; {pods} ended.");
    }
    format!(
        "{} ({}, {}); {pods} ended.",
        incident.title, incident.cause, incident.level
    )
}
