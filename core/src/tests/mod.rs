//! Records of made-up days, from facts and versions of objects to lives, ends and what counts for them.

#![allow(clippy::unwrap_used, reason = "tests")]

mod machines;
mod pods;
mod tale;
