//! What a batch system writes into the output of a job, behind a line that the program had not ended yet.

use memchr::memmem;

/// How such lines begin; Slurm writes them by itself, through the same file.
const STARTS: [&str; 2] = ["slurmstepd: error: ", "srun: error: "];

/// A line's own text, and what a batch system wrote behind it.
pub(super) fn parts(line: &str) -> impl Iterator<Item = &str> {
    let starts = STARTS.iter().filter_map(|start| {
        let at = memmem::find(line.as_bytes(), start.as_bytes())?;
        // What quotes such a line has a blank or a quotation mark before it.
        let before = line.get(..at)?.bytes().next_back()?;
        (!before.is_ascii_whitespace() && !matches!(before, b'"' | b'\'' | b'`')).then_some(at)
    });
    let (own, behind) = starts.min().map_or((line, ""), |at| line.split_at(at));
    std::iter::once(own).chain(Some(behind).filter(|behind| !behind.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn a_batch_system_does_not_wait_for_the_end_of_a_line() {
        let glued = "7it [00:34,  7.00s/it]slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT t ***";
        let behind = "slurmstepd: error: *** JOB 7 ON n1 CANCELLED AT t ***";
        assert!(parts(glued).eq(["7it [00:34,  7.00s/it]", behind]));
        for whole in [
            behind,
            "saw slurmstepd: error: x",
            "\"srun: error: x\"",
            "step 1",
        ] {
            assert!(parts(whole).eq([whole]));
        }
    }
}
