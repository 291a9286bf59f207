//! Messages of blocks, with a text for those who do not see them.

use serde::Serialize;

use super::block::Block;
use super::limits::{LIMITS, clip, visible};
use super::mrkdwn::{Mrkdwn, escape};

/// A message that Slack takes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Message {
    /// What notifications and screen readers tell, escaped.
    text: String,
    /// What is shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    blocks: Vec<Block>,
}

impl Message {
    /// A message of a text alone.
    #[must_use]
    pub fn text(text: &Mrkdwn) -> Self {
        Self {
            text: fallback(&text.plain()),
            blocks: vec![Block::section(text)],
        }
    }

    /// What notifications and screen readers tell, escaped.
    #[must_use]
    pub fn fallback(&self) -> &str {
        &self.text
    }

    /// What is shown.
    #[must_use]
    pub fn blocks(&self) -> &[Block] {
        &self.blocks
    }

    /// The text alone, for when Slack turns the blocks away.
    #[must_use]
    pub fn without_blocks(&self) -> Self {
        Self {
            text: self.text.clone(),
            blocks: Vec::new(),
        }
    }
}

/// Puts a message together, never more than Slack takes.
#[derive(Clone, Debug)]
pub struct MessageBuilder {
    text: String,
    blocks: Vec<Block>,
    /// What is kept free for the end.
    reserved: (usize, usize),
    last: Vec<Block>,
    left_out: usize,
    /// Where the rest is.
    rest: &'static str,
}

impl MessageBuilder {
    /// A message with a text that says it all to those who hear it read.
    #[must_use]
    pub fn new(text: &str) -> Self {
        Self {
            text: fallback(text),
            blocks: Vec::new(),
            reserved: (0, 0),
            last: Vec::new(),
            left_out: 0,
            rest: "see the file",
        }
    }

    /// Says where the reader finds what does not fit; without it, in a file beside the message.
    #[must_use]
    pub fn rest_is(mut self, place: &'static str) -> Self {
        self.rest = place;
        self
    }

    /// Adds a block, if there is room for it.
    pub fn push(&mut self, block: Block) -> bool {
        let used: usize = self.blocks.iter().map(Block::length).sum();
        // A note of what is left out needs room, too.
        let fits = self.blocks.len() + self.reserved.0 + 1 < LIMITS.blocks
            && used + self.reserved.1 + block.length() + 200 <= LIMITS.message;
        if fits {
            self.blocks.push(block);
        } else {
            self.left_out += 1;
        }
        fits
    }

    /// Adds a block to the very end, behind all that is pushed, now or later.
    pub fn last(&mut self, block: Block) {
        self.reserved.0 += 1;
        self.reserved.1 += block.length();
        self.last.push(block);
    }

    /// Adds a paragraph with a title and lines, as many as there is room for in
    /// one block, and how many more there are.
    pub fn lines(&mut self, title: &str, lines: &[Mrkdwn], most: usize) {
        if lines.is_empty() {
            return;
        }
        let mut text = Mrkdwn::new().bold(title);
        let mut shown = 0;
        for line in lines.iter().take(most) {
            let line = line.clipped(LIMITS.section / 4);
            let longer = text.clone().say("\n• ").and(line);
            let more = more(lines.len() - shown, self.rest);
            if super::length(&longer.clone().and(more).markup()) > LIMITS.section {
                break;
            }
            text = longer;
            shown += 1;
        }
        if shown < lines.len() {
            text = text.and(more(lines.len() - shown, self.rest));
        }
        self.push(Block::section(&text));
    }

    /// The message.
    #[must_use]
    pub fn build(mut self) -> Message {
        if self.left_out > 0 {
            let parts = match self.left_out {
                1 => "1 part".to_owned(),
                many => format!("{many} parts"),
            };
            let note = format!("… {parts} of the answer did not fit, {}", self.rest);
            self.blocks.push(Block::context(&Mrkdwn::new().say(note)));
        }
        self.blocks.append(&mut self.last);
        Message {
            text: self.text,
            blocks: self.blocks,
        }
    }
}

fn more(lines: usize, rest: &str) -> Mrkdwn {
    let s = if lines == 1 { "" } else { "s" };
    Mrkdwn::new()
        .say("\n")
        .italic(format!("… {lines} more line{s}, {rest}"))
}

/// A text in one paragraph without markup, escaped, within its limit.
fn fallback(text: &str) -> String {
    // Read aloud, the stars around a line of Slurm's are noise.
    let mut text = visible(text)
        .replace('\u{a0}', " ")
        .replace("*** ", "")
        .replace(" ***", "");
    loop {
        let escaped = escape(&text);
        if super::length(&escaped) <= LIMITS.fallback {
            return escaped;
        }
        let most = super::length(&text) * 9 / 10;
        text = clip(&text, most.min(LIMITS.fallback));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::{Button, length};
    use super::*;

    #[test]
    fn a_message_is_what_slack_expects() {
        let mut message = MessageBuilder::new("a <b>");
        message.push(Block::header("He\nad"));
        message.push(Block::section(&Mrkdwn::new().bold("x")));
        message.push(Block::context(&Mrkdwn::new()));
        message.push(Block::Divider);
        let buttons = [
            Button::new("Timeline", "timeline", "7".to_owned()),
            Button::open("Open", "open", "https://x.example"),
            Button::open("Open", "open", "javascript:x"),
            Button::new("Too long", "long", "x".repeat(2_000)),
        ];
        message.last(Block::actions(buttons).unwrap());
        assert_eq!(
            serde_json::to_value(message.build()).unwrap(),
            json!({"text": "a &lt;b&gt;", "blocks": [
                {"type": "header", "text": {"type": "plain_text", "text": "He ad", "emoji": false}},
                {"type": "section", "text": {"type": "mrkdwn", "text": "*x*", "verbatim": true}},
                {"type": "context", "elements": [{"type": "mrkdwn", "text": "–", "verbatim": true}]},
                {"type": "divider"},
                {"type": "actions", "elements": [
                    {"type": "button", "text": {"type": "plain_text", "text": "Timeline", "emoji": false}, "action_id": "timeline", "value": "7"},
                    {"type": "button", "text": {"type": "plain_text", "text": "Open", "emoji": false}, "action_id": "open", "url": "https://x.example"},
                ]},
            ]})
        );
        assert_eq!(Block::actions([None]), None);
    }

    #[test]
    fn too_much_is_left_out_and_told() {
        let mut message = MessageBuilder::new(&"&".repeat(5_000));
        message.last(Block::Divider);
        let big = Mrkdwn::new().say("y".repeat(5_000));
        let pushed = (0..80)
            .filter(|_| message.push(Block::section(&big)))
            .count();
        assert_eq!(pushed, 3);
        let message = message.build();
        let sum: usize = message.blocks().iter().map(Block::length).sum();
        assert!(sum <= LIMITS.message, "{sum}");
        assert!(length(message.fallback()) <= LIMITS.fallback);
        assert_eq!(message.blocks().len(), 5);
        assert_eq!(message.blocks()[4], Block::Divider);
        let Block::Context(note) = &message.blocks()[3] else {
            panic!("{:?}", message.blocks()[3]);
        };
        assert_eq!(
            note.plain(),
            "… 77 parts of the answer did not fit, see the file"
        );

        let mut message = MessageBuilder::new("x");
        for _ in 0..80 {
            message.push(Block::Divider);
        }
        assert_eq!(message.build().blocks().len(), LIMITS.blocks);
    }

    #[test]
    fn lines_that_do_not_fit_are_counted() {
        let lines: Vec<Mrkdwn> = (0..200)
            .map(|n| Mrkdwn::new().say(format!("{n} {}", "<".repeat(n * 3))))
            .collect();
        let mut message = MessageBuilder::new("x");
        message.lines("Evidence", &lines, 500);
        message.lines("Few", &lines[..3], 2);
        message.lines("None", &[], 2);
        let message = message.build();
        let [Block::Section(text), Block::Section(few)] = message.blocks() else {
            panic!("{:?}", message.blocks());
        };
        let shown = text.plain().matches('•').count();
        assert!(shown > 10, "{shown}");
        let rest = format!("… {} more lines, see the file", 200 - shown);
        assert!(text.plain().ends_with(&rest), "{}", text.plain());
        assert!(length(&text.markup()) <= LIMITS.section);
        assert_eq!(
            few.markup(),
            "*Few*\n• 0 \n• 1 &lt;&lt;&lt;\n_… 1 more line, see the file_"
        );
    }
}
