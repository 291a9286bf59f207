//! Answers as files.

use whathappened_slack::{Message, Mrkdwn, Upload};

use super::Slack;
use super::command::Subject;
use super::reply::Replies;
use crate::answer::Answer;
use crate::error::Error;
use crate::render::{self, Format, Style};

impl Slack {
    /// Hands the answer over as files: as a text for people, and as JSON unless
    /// it is about the timeline alone.
    pub(super) async fn hand_over(
        &self,
        replies: &Replies<'_>,
        answer: &Answer,
        about: &Subject,
        text_alone: bool,
    ) {
        let refusal = match self.files(replies, answer, about, text_alone).await {
            Ok(()) => return,
            Err(why) => Message::text(&Mrkdwn::new().say(why)),
        };
        replies.say(&refusal, true).await;
    }

    async fn files(
        &self,
        replies: &Replies<'_>,
        answer: &Answer,
        about: &Subject,
        text_alone: bool,
    ) -> Result<(), String> {
        if replies.is_private && !replies.place.is_direct {
            return Err(
                "Everyone in this channel would see the file, but this answer is only for you. Ask for it in a direct message.".to_owned(),
            );
        }
        let api = self.api.as_ref().ok_or_else(|| {
            "Files cannot be sent because the service has no SLACK_BOT_TOKEN.".to_owned()
        })?;
        let name = file_name(&about.name);
        let mut files = vec![written(answer, Format::Md, &name)?];
        if !text_alone {
            files.push(written(answer, Format::Json, &name)?);
        }
        let comment = format!("What happened to {}, in full", quiet(&about.name));
        let (channel, thread) = (&replies.place.channel, replies.thread.as_deref());
        api.upload(channel, thread, &comment, &files)
            .await
            .map_err(|error| format!("The file could not be sent. {error}."))
    }
}

fn written(answer: &Answer, format: Format, name: &str) -> Result<Upload, String> {
    let style = Style {
        explain: true,
        timeline_limit: None,
        ..Style::default()
    };
    let mut bytes = Vec::new();
    render::answer(answer, format, &style, &mut bytes)
        .map_err(|error| format!("The file could not be written: {}.", Error::from(error)))?;
    Ok(Upload {
        name: format!("{name}.{format}"),
        title: format!("{name}.{format}"),
        bytes,
    })
}

/// A name that is one of a file everywhere.
fn file_name(name: &str) -> String {
    let safe = |c: char| match c {
        'a'..='z' | 'A'..='Z' | '0'..='9' | '-' | '_' => c,
        _ => '-',
    };
    let name: String = name.chars().map(safe).take(80).collect();
    let name = name.trim_matches('-');
    if name.is_empty() {
        "whathappened".to_owned()
    } else {
        name.to_owned()
    }
}

/// The comment beside a file is markup.
fn quiet(name: &str) -> String {
    Mrkdwn::new().code(name).clipped(200).markup()
}
