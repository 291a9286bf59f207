//! Whether what a container runs gives itself a time, as `timeout` does.

use super::{EntityGraph, Task};

/// What ends the command that it runs when a time is up.
const TIMEOUT: [&str; 2] = ["gtimeout", "timeout"];

/// Programs that begin with a program of the user's at once: what else ends it would be in the command.
const LAUNCHERS: [&str; 7] = [
    "accelerate",
    "deepspeed",
    "horovodrun",
    "mpirun",
    "python",
    "ray",
    "torchrun",
];

/// Whether the command of a pod's container has a time limit; `None` where the command is not known, or is a script or another
/// program that may have one.
#[must_use]
pub fn is_timed(graph: &EntityGraph, pod: &Task, container: &str) -> Option<bool> {
    let body = graph.template(pod)?;
    let mut known = body.containers.iter();
    let one = known.find(|one| one.name == container || container.is_empty())?;
    of_command(&one.command)
}

fn of_command(command: &[String]) -> Option<bool> {
    let base = |word: &str| word.rsplit('/').next().unwrap_or(word).to_owned();
    let words = command.iter().flat_map(|part| part.split_whitespace());
    if words.map(base).any(|word| TIMEOUT.contains(&word.as_str())) {
        return Some(true);
    }
    let first = base(command.first()?);
    // `python3.12`
    let name = first.trim_end_matches(|one: char| one.is_ascii_digit() || one == '.');
    LAUNCHERS.contains(&name).then_some(false)
}

#[cfg(test)]
mod tests {
    use super::of_command;

    #[test]
    fn a_command_says_whether_it_has_a_time() {
        let of = |command: &[&str]| {
            let command: Vec<String> = command.iter().map(|&word| word.to_owned()).collect();
            of_command(&command)
        };
        assert_eq!(of(&["/usr/bin/timeout", "1h", "torchrun"]), Some(true));
        assert_eq!(of(&["sh", "-c", "timeout 60 python t.py"]), Some(true));
        assert_eq!(of(&["torchrun", "train.py"]), Some(false));
        assert_eq!(of(&["/opt/venv/bin/python3.12", "t.py"]), Some(false));
        // A script may do anything, and a command that is not known too.
        assert_eq!(of(&["bash", "run.sh"]), None);
        assert_eq!(of(&[]), None);
    }
}
