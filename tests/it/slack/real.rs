//! Slack itself, where the environment has a token for it.

use whathappened_http::Secret;
use whathappened_slack::{Api, Block, MessageBuilder, Mrkdwn, Upload};

/// Writes a message, changes it and adds a file, in `E2E_SLACK_CHANNEL` where that
/// is named; else asks who we are and nothing more.
#[tokio::test]
async fn e2e_slack_takes_what_we_write() {
    let Ok(token) = std::env::var("E2E_SLACK_BOT_TOKEN") else {
        whathappened_loopback::skipped("no E2E_SLACK_BOT_TOKEN");
        return;
    };
    let api = Api::new(Api::ADDRESS, Secret::from(token)).unwrap();
    let identity = api.identity().await.unwrap();
    println!("{} in {}", identity.user, identity.team);
    let Ok(channel) = std::env::var("E2E_SLACK_CHANNEL") else {
        return;
    };
    let mut message = MessageBuilder::new("A test of whathappened, <!channel> & @here.");
    message.push(Block::header("A test of whathappened"));
    let text = Mrkdwn::new()
        .bold("Nobody")
        .say(" is told: <!channel> & @here ``` ");
    message.push(Block::section(&text.fence("a line\n```\n<!here>")));
    let message = message.build();
    let posted = api.post(&channel, None, &message).await.unwrap();
    api.update(&channel, &posted.ts, &message).await.unwrap();
    let file = Upload {
        name: "test.md".to_owned(),
        title: "test.md".to_owned(),
        bytes: b"# A test\n".to_vec(),
    };
    let thread = Some(posted.ts.as_str());
    api.upload(&channel, thread, "A file", &[file])
        .await
        .unwrap();
}
