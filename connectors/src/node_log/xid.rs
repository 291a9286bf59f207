//! What the faults mean that NVIDIA's driver reports by number (Xid).
//!
//! In our words, after NVIDIA's public catalog. An Xid that is not here is
//! shown by its number only.

/// Who is to be asked first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// The GPU, its memory, its links or its slot.
    Hardware,
    /// The driver or the GPU's firmware; sometimes the hardware under it.
    Driver,
    /// The program, unless it repeats on one GPU across programs.
    Program,
    /// Another Xid, or a process that was killed: this one only follows.
    Symptom,
}

/// What NVIDIA says to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Action {
    /// Start the program again.
    RestartProgram,
    /// Reset the GPU, after draining the node.
    ResetGpu,
    /// Restart the virtual machine.
    RestartVm,
    /// Reboot the machine.
    Reboot,
    /// Ask the vendor.
    ContactSupport,
    /// Nothing for this one alone.
    Nothing,
    /// What the line itself says.
    AsLogged,
}

/// One row of the catalog.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Xid {
    /// The number.
    pub number: u32,
    /// What happened.
    pub meaning: &'static str,
    /// Who is to be asked first.
    pub blame: Blame,
    /// What to do.
    pub action: Action,
    /// How far upstream it stands among Xids of one GPU and one moment; lower
    /// is nearer to the root.
    pub upstream: u8,
}

impl Action {
    /// For people.
    #[must_use]
    pub fn words(self) -> &'static str {
        match self {
            Self::RestartProgram => "restart the program",
            Self::ResetGpu => "drain the node and reset the GPU",
            Self::RestartVm => "restart the virtual machine",
            Self::Reboot => "drain and reboot the machine",
            Self::ContactSupport => "contact the vendor",
            Self::Nothing => "nothing for this fault alone",
            Self::AsLogged => "what the line says",
        }
    }
}

const fn x(number: u32, meaning: &'static str, blame: Blame, action: Action, upstream: u8) -> Xid {
    Xid {
        number,
        meaning,
        blame,
        action,
        upstream,
    }
}

use Action::{AsLogged, ContactSupport, Nothing, Reboot, ResetGpu, RestartProgram, RestartVm};
use Blame::{Driver, Hardware, Program, Symptom};

/// By number.
const CATALOG: &[Xid] = &[
    x(
        13,
        "the graphics engine hit an exception, such as an access out of bounds",
        Program,
        RestartProgram,
        6,
    ),
    x(
        31,
        "the program accessed an unmapped memory page",
        Program,
        RestartProgram,
        6,
    ),
    x(
        32,
        "the commands given to the GPU were damaged",
        Program,
        RestartProgram,
        6,
    ),
    x(
        38,
        "the driver's firmware for context switches failed",
        Driver,
        Nothing,
        3,
    ),
    x(
        43,
        "the GPU stopped one program's work after a fault of that program",
        Program,
        Nothing,
        8,
    ),
    x(
        44,
        "a fault while switching between programs",
        Program,
        Nothing,
        6,
    ),
    x(
        45,
        "a program's work was removed after it was killed or after another fault",
        Symptom,
        Nothing,
        9,
    ),
    x(46, "the GPU did not answer in time", Hardware, ResetGpu, 3),
    x(
        48,
        "a double-bit memory error that could not be corrected",
        Hardware,
        ResetGpu,
        2,
    ),
    x(
        61,
        "the GPU's power controller hit a breakpoint",
        Driver,
        ContactSupport,
        3,
    ),
    x(62, "the GPU's power controller halted", Driver, ResetGpu, 3),
    x(
        63,
        "a bad memory row or page was noted to be replaced at the next reset",
        Hardware,
        Nothing,
        7,
    ),
    x(
        64,
        "a bad memory row or page could not be replaced",
        Hardware,
        ResetGpu,
        2,
    ),
    x(
        68,
        "the video decoder hit an exception",
        Program,
        RestartProgram,
        6,
    ),
    x(
        69,
        "the graphics engine was given a wrong command",
        Program,
        RestartProgram,
        6,
    ),
    x(
        74,
        "a link between GPUs failed (NVLink)",
        Hardware,
        ContactSupport,
        4,
    ),
    x(
        79,
        "the GPU fell off the bus: the machine can no longer reach it",
        Hardware,
        Reboot,
        1,
    ),
    x(92, "many single-bit memory errors", Hardware, Nothing, 7),
    x(
        94,
        "a memory error that hit one program only",
        Hardware,
        RestartProgram,
        5,
    ),
    x(
        95,
        "a memory error that may have hit every program on the GPU",
        Hardware,
        ResetGpu,
        2,
    ),
    x(
        109,
        "switching between programs took too long",
        Driver,
        ResetGpu,
        3,
    ),
    x(110, "the GPU's security engine failed", Driver, ResetGpu, 3),
    x(
        119,
        "the GPU's system processor (GSP) did not answer in time",
        Driver,
        ResetGpu,
        3,
    ),
    x(
        120,
        "the GPU's system processor (GSP) failed",
        Driver,
        ResetGpu,
        3,
    ),
    x(
        121,
        "the link between processor and GPU corrected an error",
        Hardware,
        Nothing,
        7,
    ),
    x(
        122,
        "the GPU's flash memory could not be read",
        Driver,
        ContactSupport,
        3,
    ),
    x(
        123,
        "the GPU's flash memory could not be written",
        Driver,
        ContactSupport,
        3,
    ),
    x(
        136,
        "a link between GPUs could not be brought up",
        Hardware,
        ResetGpu,
        4,
    ),
    x(
        137,
        "a link between GPUs refused an access, of the program or of a failing peer",
        Program,
        Nothing,
        6,
    ),
    x(
        140,
        "memory errors were found that could not be corrected",
        Hardware,
        ResetGpu,
        2,
    ),
    x(143, "the GPU could not be set up", Hardware, ResetGpu, 3),
    x(
        144,
        "an error of a link between GPUs (NVLink, SAW)",
        Hardware,
        AsLogged,
        4,
    ),
    x(
        145,
        "an error of a link between GPUs (NVLink, RLW)",
        Hardware,
        AsLogged,
        4,
    ),
    x(
        146,
        "an error of a link between GPUs (NVLink, TLW)",
        Hardware,
        AsLogged,
        4,
    ),
    x(
        147,
        "an error of a link between GPUs (NVLink, TREX)",
        Hardware,
        AsLogged,
        4,
    ),
    x(
        148,
        "an error of a link between GPUs (NVLink, control)",
        Hardware,
        AsLogged,
        4,
    ),
    x(
        149,
        "an error of a link between GPUs (NVLink, NETIR)",
        Hardware,
        AsLogged,
        4,
    ),
    x(
        150,
        "an error of a link between GPUs (NVLink, MSE)",
        Hardware,
        AsLogged,
        4,
    ),
    x(
        151,
        "the keys for confidential computing could not be changed",
        Driver,
        RestartVm,
        3,
    ),
    x(
        154,
        "the recovery action that the driver recommends for the GPU has changed",
        Symptom,
        AsLogged,
        7,
    ),
    x(
        155,
        "the driver reported a fault of a link between GPUs",
        Hardware,
        ResetGpu,
        4,
    ),
    x(
        156,
        "a bad part of the GPU was taken out of use",
        Hardware,
        ResetGpu,
        7,
    ),
    x(
        157,
        "a bad part of the GPU could not be taken out of use",
        Hardware,
        Nothing,
        2,
    ),
    x(
        158,
        "the GPU hit an unrecoverable timeout",
        Hardware,
        ResetGpu,
        3,
    ),
    x(
        160,
        "a memory channel was taken out of use",
        Hardware,
        Nothing,
        7,
    ),
    x(
        161,
        "a memory channel could not be taken out of use",
        Hardware,
        Nothing,
        7,
    ),
    x(
        171,
        "where in the GPU's memory an error was that could not be corrected",
        Hardware,
        Nothing,
        7,
    ),
    x(
        172,
        "where in the GPU's caches an error was that could not be corrected",
        Hardware,
        Nothing,
        7,
    ),
];

/// What is known of a number.
#[must_use]
pub fn of(number: u32) -> Option<&'static Xid> {
    CATALOG
        .binary_search_by_key(&number, |xid| xid.number)
        .ok()
        .map(|at| &CATALOG[at])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_each_number_is_there_once() {
        assert!(CATALOG.windows(2).all(|two| two[0].number < two[1].number));
        assert_eq!(of(79).unwrap().action, Reboot);
        assert_eq!(of(99_999), None);
    }

    #[test]
    fn actions_are_those_of_the_catalog() {
        let path = "../../shared/recordings/gpu/nvidia-xid-catalog.csv";
        let Ok(mut table) = csv::ReaderBuilder::new().flexible(true).from_path(path) else {
            whathappened_loopback::skipped("no ../shared");
            return;
        };
        let mut compared = 0;
        for row in table.records().flatten() {
            let number = row.iter().find_map(|cell| cell.trim().parse::<u32>().ok());
            let Some(xid) = number.and_then(of) else {
                continue;
            };
            let want = match xid.action {
                RestartProgram => "RESTART_APP",
                Reboot => "RESTART_BM",
                ResetGpu => "RESET",
                RestartVm => "RESTART_VM",
                _ => continue,
            };
            // Some are different alone and beside others.
            assert!(
                row.iter()
                    .any(|cell| cell.contains(want) || cell.starts_with("WORKFLOW")),
                "{number:?}: {row:?}"
            );
            compared += 1;
        }
        assert!(compared > 15, "{compared}");
    }
}
