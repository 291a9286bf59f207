//! What experiment trackers' own files tell, under the names that decoders, the entity graph and
//! reports share.
//!
//! A tracker's file is written by the program that trains, or by a helper of it: what it says of the
//! run is a claim of that program, and often stays as it was when the program is killed.

/// The kind of fact that tells of one training step.
pub const STEP: &str = "tracker.step";

/// The kind of fact that tells what a tracker says of a whole run.
pub const RUN: &str = "tracker.run";

/// The kind of fact that tells that a loss or a gradient was no number any more, to the end of its file.
pub const NOT_FINITE: &str = "tracker.not_finite";

/// The kind of fact that tells of a checkpoint.
pub const CHECKPOINT: &str = "tracker.checkpoint";

/// Attribute: the folder that all files of the run lie in.
pub const FOLDER: &str = "run_folder";

/// Attribute: the name of the machine, or of the pod, that the program ran on.
pub const HOST: &str = "hostname";

/// Attribute: the name that people gave the run.
pub const NAME: &str = "run_name";

/// Attribute: `running`, `finished`, `failed`, `killed`.
pub const STATE: &str = "state";

/// Attribute: the curves that a step is of; those of another file are of another part of the training.
pub const SERIES: &str = "series";

/// Attribute: what people call the tracker.
pub const TRACKER: &str = "tracker";

/// Whether a fact is one that a tracker's file tells.
#[must_use]
pub fn is_fact(fact: &str) -> bool {
    matches!(fact, STEP | RUN | NOT_FINITE | CHECKPOINT)
}

/// What a run is called of which a tracker's files alone tell: the last part of its folder's path.
#[must_use]
pub fn name_of_folder(folder: &str) -> &str {
    let mut parts = folder.rsplit(['/', '\\', '!']);
    let name = parts.find(|part| !matches!(*part, "" | "." | ".."));
    name.unwrap_or("tracker")
}

#[cfg(test)]
mod tests {
    use super::name_of_folder;

    #[test]
    fn a_run_is_called_after_its_folder() {
        assert_eq!(name_of_folder("runs/gpt2-a"), "gpt2-a");
        assert_eq!(name_of_folder("in.zip!runs/gpt2-a/"), "gpt2-a");
        assert_eq!(name_of_folder("./"), "tracker");
    }
}
