mod conforming;
mod curve;
mod e2e;
mod emit;
pub(crate) mod real;
mod server;
mod source;

pub(crate) use conforming::conforming;
