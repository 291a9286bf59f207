//! The blocks that we use. None can be made that Slack would not take.

use serde::Serialize;
use serde::ser::{SerializeMap as _, Serializer};

use super::limits::{LIMITS, clip, length, visible};
use super::mrkdwn::Mrkdwn;

/// Text that Slack shows letter by letter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlainText(String);

impl PlainText {
    fn new(text: &str, limit: usize) -> Self {
        let line = visible(text).replace(['\n', '\t'], " ");
        let text = clip(line.trim(), limit);
        // An empty text is turned away.
        Self(if text.is_empty() {
            "–".to_owned()
        } else {
            text
        })
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A button.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Button {
    text: PlainText,
    action_id: String,
    value: String,
    url: Option<String>,
}

impl Button {
    /// A button that sends us `value`; none where the value is too long, since a
    /// cut one would mean something else.
    #[must_use]
    pub fn new(text: &str, action_id: &'static str, value: String) -> Option<Self> {
        (length(&value) <= LIMITS.value).then(|| Self {
            text: PlainText::new(text, LIMITS.button),
            action_id: action_id.to_owned(),
            value,
            url: None,
        })
    }

    /// A button that opens a page; none where the address cannot be one.
    #[must_use]
    pub fn open(text: &str, action_id: &'static str, url: &str) -> Option<Self> {
        let is_web = url.starts_with("https://") || url.starts_with("http://");
        (is_web && length(url) <= LIMITS.url && url::Url::parse(url).is_ok()).then(|| Self {
            text: PlainText::new(text, LIMITS.button),
            action_id: action_id.to_owned(),
            value: String::new(),
            url: Some(url.to_owned()),
        })
    }
}

/// A block of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Block {
    /// A headline.
    Header(PlainText),
    /// A paragraph.
    Section(Mrkdwn),
    /// Small print.
    Context(Mrkdwn),
    /// A row of buttons.
    Actions(Vec<Button>),
    /// A line.
    Divider,
}

impl Block {
    /// A headline.
    #[must_use]
    pub fn header(text: &str) -> Self {
        Self::Header(PlainText::new(text, LIMITS.header))
    }

    /// A paragraph.
    #[must_use]
    pub fn section(text: &Mrkdwn) -> Self {
        Self::Section(filled(text, LIMITS.section))
    }

    /// Small print.
    #[must_use]
    pub fn context(text: &Mrkdwn) -> Self {
        Self::Context(filled(text, LIMITS.context))
    }

    /// A row of buttons; none without any.
    #[must_use]
    pub fn actions(buttons: impl IntoIterator<Item = Option<Button>>) -> Option<Self> {
        let buttons = buttons.into_iter().flatten().take(LIMITS.buttons);
        let buttons: Vec<Button> = buttons.collect();
        (!buttons.is_empty()).then_some(Self::Actions(buttons))
    }

    /// How much of a message's length it takes.
    #[must_use]
    pub fn length(&self) -> usize {
        match self {
            Self::Header(text) => length(&text.0),
            Self::Section(text) | Self::Context(text) => length(&text.markup()),
            Self::Actions(buttons) => buttons
                .iter()
                .map(|button| length(&button.text.0) + length(&button.value))
                .sum(),
            Self::Divider => 0,
        }
    }
}

fn filled(text: &Mrkdwn, limit: usize) -> Mrkdwn {
    if text.is_empty() {
        return Mrkdwn::new().say("–");
    }
    text.clipped(limit)
}

impl Serialize for PlainText {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(3))?;
        map.serialize_entry("type", "plain_text")?;
        map.serialize_entry("text", &self.0)?;
        map.serialize_entry("emoji", &false)?;
        map.end()
    }
}

impl Serialize for Mrkdwn {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(Some(3))?;
        map.serialize_entry("type", "mrkdwn")?;
        map.serialize_entry("text", &self.markup())?;
        // Slack then looks for neither names of channels nor addresses in it.
        map.serialize_entry("verbatim", &true)?;
        map.end()
    }
}

impl Serialize for Button {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        map.serialize_entry("type", "button")?;
        map.serialize_entry("text", &self.text)?;
        map.serialize_entry("action_id", &self.action_id)?;
        if !self.value.is_empty() {
            map.serialize_entry("value", &self.value)?;
        }
        if let Some(url) = &self.url {
            map.serialize_entry("url", url)?;
        }
        map.end()
    }
}

impl Serialize for Block {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut map = to.serialize_map(None)?;
        match self {
            Self::Header(text) => {
                map.serialize_entry("type", "header")?;
                map.serialize_entry("text", text)?;
            }
            Self::Section(text) => {
                map.serialize_entry("type", "section")?;
                map.serialize_entry("text", text)?;
            }
            Self::Context(text) => {
                map.serialize_entry("type", "context")?;
                map.serialize_entry("elements", &[text])?;
            }
            Self::Actions(buttons) => {
                map.serialize_entry("type", "actions")?;
                map.serialize_entry("elements", buttons)?;
            }
            Self::Divider => map.serialize_entry("type", "divider")?,
        }
        map.end()
    }
}
