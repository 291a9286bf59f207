//! What Slack speaks, without DataFusion: signatures, payloads, Block Kit, the
//! Web API and Socket Mode.
