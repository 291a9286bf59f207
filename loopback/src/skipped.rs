//! Tests that need what is not on every machine pass where it is not. That is counted: `.ci/tests` prints, behind
//! the runner's own summary, how many were skipped and why.

use std::env;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::thread;

/// Says that the test which calls this ends here, or leaves a part out, because of `why`.
pub fn skipped(why: &str) {
    let name = env::var("NEXTEST_TEST_NAME").ok();
    let name = name.or_else(|| thread::current().name().map(str::to_owned));
    let name = name.unwrap_or_else(|| "a test".to_owned());
    // Not `eprintln!`, which a runner hides where the test passes.
    writeln!(std::io::stderr(), "skipped: {why} ({name})").ok();
    let Some(path) = env::var_os("SKIPPED_TESTS") else {
        return;
    };
    let mut file = OpenOptions::new()
        .create(true)
        .append(true)
        .open(path)
        .unwrap();
    // One write, since tests run at once.
    file.write_all(format!("{why}\t{name}\n").as_bytes())
        .unwrap();
}
