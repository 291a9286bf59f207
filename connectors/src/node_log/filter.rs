//! Which lines are worth reading at all.
//!
//! Nearly every line of a machine's log means nothing for a training run, and
//! there are millions. One search for words over whole blocks finds the few that
//! may; only these are taken apart. The words come from the signals, built-in and
//! a person's own alike: whoever loads them says them ([`look_for`]), before
//! anything is read. Until then every line may mean something. Beside them stand the
//! few words of lines that no signal is made of and that readers here know.

use std::sync::Arc;

use aho_corasick::{AhoCorasick, AhoCorasickKind};
use whathappened_model::line_word::LineWord;

use super::boot;
use crate::contract::{WordSearch, WordTable};

/// The driver's line that says which GPU sits where; it means nothing by itself.
pub(super) const PLACES: &str = "NVRM: GPU at ";

/// What systemd says first of a unit that it was asked to stop: a service by its
/// unit's name means something ([`stops_a_service`]), so that no signal has it searched for.
const STOPPING: &str = "Stopping ";

/// Words of lines that are read for what they are, beside the ends of [`boot`].
const READ: &[&str] = &[
    // which GPU sits where: lines after it are told with the GPU's own name
    PLACES,
    // Slurm's steps, whose other lines do not name them
    "slurmstepd: error",
    "Could not open std",
    "CANCELLED AT",
];

/// Words of lines that tell when others were.
const TIMING: &[&str] = &[
    "audit(",
    "setting system clock to",
    "boot_time=",
    "Starting Chef",
    "Run complete in",
    STOPPING,
    "Node ID: ",
    // Its daemons speak of other machines; what they say is read in `slurm`.
    "slurmctld",
    "slurmd",
    // Their own files do not say whose they are on each line.
    "JobId=",
    "] update_node: ",
    "] drain_nodes: ",
    "ot responding",
    "now responding",
    "ResumeTimeout",
    "has authentication error",
    "count reported lower than configured",
    "returned to service",
    "reboot request queued",
    "Prolog/Epilog failure",
    "Prolog or job env setup failure",
    "-- Boot ",
    "-- Reboot --",
    "-- Logs begin at",
    "-- Journal begins at",
    // A text that is no text: journalctl prints bytes as numbers.
    "\"MESSAGE\":[",
    "\"MESSAGE\" : [",
];

/// The words, and the searches for them, all in any case.
#[derive(Debug)]
struct MachineWords {
    words: Vec<LineWord>,
    /// What a line must hold to mean something.
    significant: AhoCorasick,
    /// What it must hold to be read, which is more.
    any: AhoCorasick,
    /// What it must hold to mean something to a person's own signals.
    own: Option<AhoCorasick>,
}

impl WordSearch for MachineWords {
    fn new(words: Vec<LineWord>) -> Result<Self, String> {
        let search = |words: &mut dyn Iterator<Item = &str>| {
            AhoCorasick::builder()
                .kind(Some(AhoCorasickKind::DFA))
                .ascii_case_insensitive(true)
                .build(words)
                .map_err(|error| error.to_string())
        };
        let parts = || words.iter().map(|word| word.part.as_str());
        let read = || READ.iter().chain(boot::ENDS).copied();
        let own: Vec<&str> = words
            .iter()
            .filter(|word| word.own)
            .map(|word| word.part.as_str())
            .collect();
        Ok(Self {
            significant: search(&mut parts().chain(read()))?,
            any: search(&mut parts().chain(read()).chain(TIMING.iter().copied()))?,
            own: if own.is_empty() {
                None
            } else {
                Some(search(&mut own.into_iter())?)
            },
            words,
        })
    }

    fn words(&self) -> &[LineWord] {
        &self.words
    }
}

#[cfg(not(test))]
static WORDS: WordTable<MachineWords> = WordTable::new();
#[cfg(test)]
static WORDS: WordTable<MachineWords> =
    WordTable::new(whathappened_core::signals::Ruleset::machine_words);

fn words() -> Option<Arc<MachineWords>> {
    WORDS.get()
}

/// Looks for these words, too, wherever a machine's lines are read from now on.
pub(crate) fn look_for<'w>(words: impl IntoIterator<Item = &'w LineWord>) -> Result<(), String> {
    WORDS.add(words)
}

/// What a log store is asked for: each line that may mean something holds one of these.
pub(crate) fn asked() -> Vec<LineWord> {
    let mut asked = words().map_or_else(Vec::new, |words| words.words.clone());
    for text in READ.iter().chain(boot::ENDS).chain([&STOPPING]) {
        let part = text.to_ascii_lowercase();
        // Whatever holds a word that is asked for is found by that.
        let finds = |known: &LineWord| {
            let written = known.written.as_deref();
            part.contains(&known.part) && written.is_none_or(|written| text.contains(written))
        };
        if !asked.iter().any(finds) {
            let written = Some((*text).to_owned());
            asked.push(LineWord {
                written,
                ..LineWord::new(text, text.starts_with("ystem"), false)
            });
        }
    }
    asked
}

/// Whether a line may mean something to somebody's own signals.
pub(super) fn names_owner(text: &str) -> bool {
    words().is_some_and(|words| words.own.as_ref().is_some_and(|own| own.is_match(text)))
}

/// Whether somebody has signals of their own on lines of machines.
pub(super) fn has_owner() -> bool {
    words().is_some_and(|words| words.own.is_some())
}

/// Whether systemd stops a service that it names. Who logs out ends services
/// of their own (`user@1000.service`) on any healthy machine: not those.
fn stops_a_service(text: &str) -> bool {
    text.split_once(STOPPING).is_some_and(|(_, unit)| {
        let unit = unit.split_whitespace().next().unwrap_or_default();
        unit.trim_end_matches('.').ends_with(".service") && !unit.starts_with("user")
    })
}

/// Whether a line may mean something.
#[must_use]
pub fn may_be_evidence(text: &str) -> bool {
    words().is_none_or(|words| words.significant.is_match(text)) || stops_a_service(text)
}

/// The first place from `from` on where something stands that is worth reading.
pub(super) fn next(block: &[u8], from: usize) -> Option<usize> {
    let Some(words) = words() else {
        // The next line: whoever comes back to the end of one would stay there for ever.
        let ahead = &block[from..];
        return ahead
            .iter()
            .position(|byte| *byte != b'\n')
            .map(|at| from + at);
    };
    words
        .any
        .find(&block[from..])
        .map(|found| from + found.start())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_healthy_machines_say_is_passed_over() {
        for line in [
            "systemd[1]: Reached target Network is Online.",
            "systemd[1]: Started Session 4 of user root.",
            "CRON[77]: (root) CMD (run-parts /etc/cron.hourly)",
            "sshd[77]: Accepted publickey for alice from 10.0.0.5",
            "kernel: EXT4-fs (nvme0n1p1): mounted filesystem with ordered data mode",
            "kubelet[9]: I1121 15:20:27.000001 9 kubelet.go:1] \"SyncLoop ADD\"",
            "systemd[1]: Stopping User Manager for UID 1000...",
            "systemd[1]: Stopping user@1000.service - User Manager for UID 1000...",
            "hyperkube[9]: I1121 reflector.go:225] Stopping reflector *v1.Secret (0s) from object",
        ] {
            assert!(!may_be_evidence(line), "{line}");
        }
        assert!(may_be_evidence(
            "systemd[1]: Stopping train.service - LLM training..."
        ));
        assert!(may_be_evidence(
            "kernel: NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus."
        ));
        let block = b"a\nb audit(1\n";
        assert_eq!(next(block, 0), Some(4));
        assert_eq!(next(block, 5), None);
    }

    #[test]
    fn words_of_somebodys_own_signals_are_looked_for_too() {
        let own = |text| LineWord {
            own: true,
            ..LineWord::new(text, false, false)
        };
        let line = "kernel: coolantd: Loop 3 of the manifold ran dry";
        let block = format!("a\n{line}\n");
        assert!(!may_be_evidence(line) && next(block.as_bytes(), 0).is_none());
        look_for(&[own("of the manifold ran dry")]).unwrap();
        look_for(&[own("quench detected")]).unwrap();
        assert!(may_be_evidence(line) && may_be_evidence("Quench Detected in magnet 4"));
        assert!(names_owner(line) && !names_owner("kernel: NVRM: Xid (PCI:0000:9b:00): 79, x"));
        assert!(!may_be_evidence("kernel: coolantd: all loops are filled"));
        assert!(next(block.as_bytes(), 0).is_some());
        assert!(may_be_evidence("kernel: NVRM: Xid (PCI:0000:9b:00): 79, x"));
        let asked: Vec<String> = asked().into_iter().map(|word| word.phrase).collect();
        assert!(asked.contains(&"of the manifold ran dry".to_owned()));
    }
}
