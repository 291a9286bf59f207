//! GitHub-flavoured Markdown, for an issue or a chat.

mod answer;
mod escape;
mod fleet;
mod records;
mod rows;

pub(crate) use self::answer::answer;
pub(crate) use self::fleet::fleet;
pub(crate) use self::rows::Rows;
