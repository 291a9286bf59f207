//! The pages of the service, made of the same parts as the page in one file.

mod answer;
mod assets;
mod bounce;
mod fleet;
mod frame;
mod home;
mod login;
mod node;
pub(super) mod plot;
mod problem;
mod record;
mod sql;
#[cfg(test)]
mod tests;

pub use self::answer::{AnswerPage, AnswerView};
pub use self::assets::{Asset, asset};
pub use self::bounce::bounce;
pub(crate) use self::fleet::alone as fleet_alone;
pub use self::fleet::fleet;
pub use self::frame::{Frame, Tab};
pub use self::home::{Home, home};
pub use self::login::login;
pub use self::node::node;
pub use self::problem::problem;
pub use self::record::{plain, plain_lines};
pub use self::sql::{SqlFailure, SqlPage, SqlRows, sql};
