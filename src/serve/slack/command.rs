//! What a person wishes, from what they typed.

use std::fmt;

use serde::{Deserialize, Serialize};
use whathappened_model::time::Nanos;
use whathappened_slack::{Block, Message, MessageBuilder, Mrkdwn, Wording};

use crate::config::parse_moment;
use crate::report::Question;

/// What a person wishes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum UserCommand {
    /// How this is used; with what was wrong.
    Help(Option<String>),
    /// Something about an experiment.
    Show(AnswerView, Subject),
    /// To be told when an experiment loses a pod.
    Subscribe(String),
    /// No more of that.
    Unsubscribe(String),
    /// What the channel is told of.
    Subscriptions,
}

/// What is to be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum AnswerView {
    /// The verdict.
    Verdict,
    /// What happened, in order.
    Timeline,
    /// The evidence.
    Why,
    /// All runs and attempts.
    Attempts,
    /// Everything, as files.
    File,
}

/// What a question is about. Buttons carry it, and it is no permission: that is
/// looked at for whoever clicks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Subject {
    pub(super) name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) run: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) pod: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) since: Option<Nanos>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) until: Option<Nanos>,
}

impl fmt::Display for UserCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Help(_) => f.write_str("help"),
            Self::Show(what, about) => {
                let about = serde_json::to_string(about).unwrap_or_default();
                write!(f, "{what:?} {about}")
            }
            Self::Subscribe(name) => write!(f, "subscribe {name}"),
            Self::Unsubscribe(name) => write!(f, "unsubscribe {name}"),
            Self::Subscriptions => f.write_str("subscriptions"),
        }
    }
}

impl Subject {
    pub(super) fn question(&self) -> Question {
        Question {
            name: self.name.clone(),
            run: self.run.clone(),
            pod: self.pod.clone(),
            since: self.since,
            until: self.until,
            at: None,
        }
    }
}

/// The longest name that is looked for.
const LONGEST: usize = 512;

impl UserCommand {
    /// Reads what was typed; times count back from `now`.
    pub(super) fn read(text: &Wording, now: Nanos) -> Self {
        let mut words: Vec<&str> = text
            .as_str()
            .split(' ')
            .filter(|word| !word.is_empty())
            .collect();
        // `@app whathappened run-7` says the same as `@app run-7`.
        if words.len() > 1 && words[0].eq_ignore_ascii_case("whathappened") {
            words.remove(0);
        }
        let Some(&first) = words.first() else {
            return Self::Help(None);
        };
        if words.iter().any(|word| word.len() > LONGEST) {
            return Self::Help(Some(format!(
                "A name can have at most {LONGEST} characters."
            )));
        }
        let rest = &words[1..];
        match (first.to_lowercase().as_str(), rest) {
            ("help" | "?" | "--help" | "hello" | "hi", []) => Self::Help(None),
            ("subscriptions", []) => Self::Subscriptions,
            ("subscribe", [name]) => Self::Subscribe(clean(name)),
            ("unsubscribe", [name]) => Self::Unsubscribe(clean(name)),
            ("subscribe" | "unsubscribe", _) => Self::Help(Some(format!(
                "Name one experiment: {} EXPERIMENT.",
                first.to_lowercase()
            ))),
            ("timeline", [_, ..]) => Self::of_question(AnswerView::Timeline, rest, now),
            ("why", [_, ..]) => Self::of_question(AnswerView::Why, rest, now),
            ("attempts", [_, ..]) => Self::of_question(AnswerView::Attempts, rest, now),
            ("file", [_, ..]) => Self::of_question(AnswerView::File, rest, now),
            _ => Self::of_question(AnswerView::Verdict, &words, now),
        }
    }

    fn of_question(what: AnswerView, words: &[&str], now: Nanos) -> Self {
        match about(words, now) {
            Ok(about) => Self::Show(what, about),
            Err(wrong) => Self::Help(Some(wrong)),
        }
    }
}

fn about(words: &[&str], now: Nanos) -> Result<Subject, String> {
    let mut about = Subject::default();
    let mut words = words.iter();
    while let Some(word) = words.next() {
        let (option, value) = match word.strip_prefix("--") {
            None if about.name.is_empty() => {
                about.name = clean(word);
                continue;
            }
            None => {
                return Err(format!(
                    "Only one name is allowed, but there are two: {} and {word}. Options start with --.",
                    about.name
                ));
            }
            Some(option) => match option.split_once('=') {
                Some((option, value)) => (option, Some(value)),
                None => (option, words.next().copied()),
            },
        };
        let value = value.ok_or_else(|| format!("--{option} needs a value."))?;
        match option {
            "pod" => about.pod = Some(value.to_owned()),
            "run" => about.run = Some(value.to_owned()),
            "since" => about.since = Some(moment(value, now)?),
            "until" => about.until = Some(moment(value, now)?),
            _ => {
                return Err(format!(
                    "--{option} is not a known option; the options are --pod, --run, --since and --until."
                ));
            }
        }
    }
    if about.name.is_empty() {
        return Err("Name an experiment, a workload, a pod or a machine.".to_owned());
    }
    Ok(about)
}

fn moment(text: &str, now: Nanos) -> Result<Nanos, String> {
    parse_moment(text, now).ok_or_else(|| {
        format!(
            "{text} is not a valid time: write 2026-11-21T15:20:00Z, or 30m, 2h, 7d before now."
        )
    })
}

/// A name without the quotes and the code signs that people put around it.
fn clean(name: &str) -> String {
    name.trim_matches(['"', '\'', '`', ',']).to_owned()
}

/// How this is used; with what was wrong.
pub(super) fn help(wrong: Option<&str>) -> Message {
    const LINES: [(&str, &str); 8] = [
        (
            "NAME",
            "what happened to an experiment, workload, pod or machine",
        ),
        ("timeline NAME", "what happened, in order"),
        ("why NAME", "the evidence"),
        ("attempts NAME", "its runs and attempts"),
        ("file NAME", "everything, as files"),
        (
            "subscribe NAME",
            "notifies this channel when it loses a pod",
        ),
        ("unsubscribe NAME", "stops the notifications"),
        ("subscriptions", "lists the subscriptions of this channel"),
    ];
    let mut read = wrong.map(|text| format!("{text} ")).unwrap_or_default();
    read.push_str(
        "Write /whathappened and the name of an experiment to learn which pod died first, who or what killed it, and how that is known.",
    );
    let mut message = MessageBuilder::new(&read);
    if let Some(wrong) = wrong {
        message.push(Block::section(&Mrkdwn::new().say(wrong)));
    }
    let mut text =
        Mrkdwn::new().bold("Which pod died first, who or what killed it, and how that is known");
    for (command, what) in LINES {
        text = text
            .say("\n• ")
            .code(format!("/whathappened {command}"))
            .say(format!(" {what}"));
    }
    message.push(Block::section(&text));
    let options = Mrkdwn::new()
        .say("Options: ")
        .code("--since 2h")
        .say(" ")
        .code("--until 30m")
        .say(" ")
        .code("--pod POD")
        .say(" ")
        .code("--run ID")
        .say(" · in a thread, mention the app instead: Slack does not support commands there");
    message.push(Block::context(&options));
    message.build()
}

#[cfg(test)]
mod tests {
    use whathappened_model::time::SECOND;

    use super::*;

    fn read(text: &str) -> UserCommand {
        UserCommand::read(&Wording::new(text), 10_000 * SECOND)
    }

    fn named(name: &str) -> Subject {
        Subject {
            name: name.to_owned(),
            ..Subject::default()
        }
    }

    #[test]
    fn people_are_understood() {
        for (text, user_command) in [
            (
                "run-7",
                UserCommand::Show(AnswerView::Verdict, named("run-7")),
            ),
            (
                "whathappened `run-7`",
                UserCommand::Show(AnswerView::Verdict, named("run-7")),
            ),
            (
                "job/team/run-7",
                UserCommand::Show(AnswerView::Verdict, named("job/team/run-7")),
            ),
            // An experiment may be called like a verb.
            ("why", UserCommand::Show(AnswerView::Verdict, named("why"))),
            (
                "WHY run-7",
                UserCommand::Show(AnswerView::Why, named("run-7")),
            ),
            (
                "timeline run-7",
                UserCommand::Show(AnswerView::Timeline, named("run-7")),
            ),
            (
                "subscribe “run-7”",
                UserCommand::Subscribe("run-7".to_owned()),
            ),
            (
                "unsubscribe run-7",
                UserCommand::Unsubscribe("run-7".to_owned()),
            ),
            ("subscriptions", UserCommand::Subscriptions),
            ("", UserCommand::Help(None)),
            ("help", UserCommand::Help(None)),
        ] {
            assert_eq!(read(text), user_command, "{text}");
        }
        let about = Subject {
            name: "run-7".to_owned(),
            pod: Some("p".to_owned()),
            run: Some("r".to_owned()),
            since: Some(2_800 * SECOND),
            until: Some(5 * SECOND),
        };
        assert_eq!(
            read("run-7 —since 2h --until=1970-01-01T00:00:05Z --pod p --run r"),
            UserCommand::Show(AnswerView::Verdict, about.clone())
        );
        let json = serde_json::to_string(&about).unwrap();
        assert_eq!(serde_json::from_str::<Subject>(&json).unwrap(), about);
    }

    #[test]
    fn what_is_not_understood_says_why() {
        for (text, says) in [
            ("a b", "Only one name is allowed"),
            ("--since 2h", "Name an experiment"),
            ("a --since soon", "is not a valid time"),
            ("a --since", "needs a value"),
            ("a --colour red", "is not a known option"),
            ("subscribe", "Name one experiment"),
            ("subscribe a b", "Name one experiment"),
            (&"x".repeat(600), "at most"),
        ] {
            let UserCommand::Help(Some(wrong)) = read(text) else {
                panic!("{text}");
            };
            assert!(wrong.contains(says), "{wrong}");
            assert!(help(Some(&wrong)).fallback().contains(says));
        }
    }
}
