mod e2e;
pub(crate) mod real;
mod server;
mod source;
mod telling;
