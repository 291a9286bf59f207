mod e2e;
mod emit;
pub(crate) mod real;
mod server;
mod source;
