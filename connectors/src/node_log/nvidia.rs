//! The GPU driver's own lines: faults by number, and which GPU sits where.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use super::xid;
use crate::event::Event;
use crate::time::{Nanos, SECOND};

static XID: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"NVRM:\s*Xid\s*\((?:PCI:)?(?<pci>[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}(?:\.\d)?)",
        r"(?:\s+GPU-I:(?<instance>\d+))?(?:\s+GPU-CI:\d+)?\):\s*(?<xid>\d+)",
        r"(?:,\s*pid='?(?:(?<pid>\d+)|<unknown>|<n/a>)'?)?",
        r"(?:,\s*name='?(?:<unknown>|(?<process>[^,']*))'?)?,?\s*(?<text>.*)$",
    ))
    .ok()
});

static SXID: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"nvidia-nvswitch(?<switch>\d+): SXid \(PCI:(?<pci>[0-9a-fA-F:.]+)\): (?<sxid>\d+), ",
        r"(?:(?<severity>Fatal|Non-fatal)\b)?(?:.*?\bLink (?<link>\d+))?",
    ))
    .ok()
});

static LOST: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"NVRM: GPU (?<pci>[0-9A-Fa-f:.]+): GPU has fallen off the bus").ok()
});

static PLACE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"NVRM: GPU at (?:PCI:)?(?<pci>[0-9A-Fa-f:.]+): (?<uuid>GPU-[0-9a-zA-Z-]+)").ok()
});

/// How long after a fault others of its GPU may be its consequences.
const FOLLOWS: Nanos = 60 * SECOND;

/// GPUs that are remembered.
const MAX_GPUS: usize = 4_096;

/// What the log has said of its machine's GPUs so far.
#[derive(Debug, Default)]
pub(super) struct Gpus {
    uuids: HashMap<String, String>,
    /// The most upstream Xid of late: when, its number, how far upstream.
    roots: HashMap<(Option<String>, String), (Nanos, u32, u8)>,
}

impl Gpus {
    /// Adds what the event's text says of a GPU. `moment` orders the log's lines.
    pub(super) fn note(&mut self, event: &mut Event, moment: Option<Nanos>) {
        let Some(text) = event.message.clone() else {
            return;
        };
        if let Some(found) = captures(&XID, &text) {
            let pci = crate::pci::normal(&found["pci"]);
            let number: u32 = found["xid"].parse().unwrap_or(u32::MAX);
            event.set_attribute("xid", Some(found["xid"].to_owned()));
            for key in ["pid", "process"] {
                let value = found.name(key).map(|value| value.as_str().trim());
                event.set_attribute(key, value.filter(|value| !value.is_empty()));
            }
            let instance = found.name("instance").map(|value| value.as_str());
            event.set_attribute("gpu_instance", instance);
            if let Some(known) = xid::of(number) {
                event.set_attribute("xid_meaning", Some(known.meaning));
                event.set_attribute("xid_action", Some(known.action.words()));
                let follows = self.follows(event, &pci, known, moment);
                event.set_attribute("follows_xid", follows.map(|number| number.to_string()));
            }
            self.place(event, pci);
        } else if let Some(found) = captures(&SXID, &text) {
            for key in ["sxid", "switch", "link"] {
                event.set_attribute(key, found.name(key).map(|value| value.as_str()));
            }
            event.set_attribute("switch_pci", Some(crate::pci::normal(&found["pci"])));
        } else if let Some(found) = captures(&LOST, &text) {
            // The driver's plain words for Xid 79.
            event.set_attribute("xid", Some("79"));
            self.place(event, crate::pci::normal(&found["pci"]));
        } else if text.contains("NVRM: fallen off the bus") {
            // The last of three lines; the first names the GPU.
            event.set_attribute("xid", Some("79"));
        } else if let Some(found) = captures(&PLACE, &text) {
            let pci = crate::pci::normal(&found["pci"]);
            let uuid = found["uuid"].trim_end_matches('-').to_owned();
            if self.uuids.len() < MAX_GPUS {
                self.uuids.insert(pci.clone(), uuid);
            }
            self.place(event, pci);
        }
    }

    fn place(&self, event: &mut Event, pci: String) {
        let uuid = self.uuids.get(&pci).cloned();
        event.set_attribute("gpu_uuid", uuid);
        event.set_attribute("gpu_pci", Some(pci));
    }

    /// The earlier and more upstream Xid of this GPU that this one comes after.
    fn follows(
        &mut self,
        event: &Event,
        pci: &str,
        xid: &xid::Xid,
        moment: Option<Nanos>,
    ) -> Option<u32> {
        let moment = moment?;
        if self.roots.len() >= MAX_GPUS {
            self.roots.clear();
        }
        let key = (event.entities.host.clone(), pci.to_owned());
        let root = self.roots.get(&key).copied();
        if let Some((at, number, upstream)) = root
            && (0..=FOLLOWS).contains(&moment.saturating_sub(at))
            && upstream <= xid.upstream
        {
            return (upstream < xid.upstream).then_some(number);
        }
        self.roots.insert(key, (moment, xid.number, xid.upstream));
        None
    }
}

fn captures<'t>(
    pattern: &'static LazyLock<Option<Regex>>,
    text: &'t str,
) -> Option<regex::Captures<'t>> {
    pattern.as_ref()?.captures(text)
}

/// Whether a line is worth reading only for what it says of later ones.
pub(super) fn only_places(text: &str) -> bool {
    text.contains(super::filter::PLACES)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{EventId, SourceKind};
    use crate::time::Stamp;

    fn noted(gpus: &mut Gpus, text: &str, at: Nanos) -> Event {
        let id = EventId::of(&[text]);
        let mut event = Event::new(id, "node.log", Stamp::second(at), SourceKind::NodeLog);
        event.message = Some(text.to_owned());
        gpus.note(&mut event, Some(at));
        event
    }

    #[test]
    fn an_xid_says_which_gpu_process_and_number() {
        let mut gpus = Gpus::default();
        noted(&mut gpus, "NVRM: GPU at PCI:0000:9b:00: GPU-1111-2222", 0);
        let event = noted(
            &mut gpus,
            "NVRM: Xid (PCI:0000:9B:00 GPU-I:05): 31, pid=4711, name=nvc:[driver], Ch 00000010, MMU Fault",
            SECOND,
        );
        for (key, value) in [
            ("xid", "31"),
            ("gpu_pci", "0000:9b:00"),
            ("gpu_uuid", "GPU-1111-2222"),
            ("pid", "4711"),
            ("process", "nvc:[driver]"),
            ("gpu_instance", "05"),
        ] {
            assert_eq!(event.attribute(key), Some(value), "{key}");
        }
        let old = noted(&mut gpus, "NVRM: Xid (0000:03:00): 14, Channel 1", SECOND);
        assert_eq!(old.attribute("xid"), Some("14"));
        let unknown = "NVRM: Xid (PCI:0002:01:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus.";
        let event = noted(&mut gpus, unknown, SECOND);
        assert_eq!(
            (event.attribute("pid"), event.attribute("process")),
            (None, None)
        );
        let lost = noted(
            &mut gpus,
            "NVRM: GPU 0000:29:00.0: GPU has fallen off the bus.",
            0,
        );
        assert_eq!(
            (lost.attribute("xid"), lost.attribute("gpu_pci")),
            (Some("79"), Some("0000:29:00"))
        );
        let third = "NVRM: fallen off the bus and is not responding to commands.";
        let third = noted(&mut gpus, third, 0);
        assert_eq!(third.attribute("xid"), Some("79"));
    }

    #[test]
    fn what_follows_a_fault_on_the_same_gpu_says_so() {
        let mut gpus = Gpus::default();
        let mut at = |text: &str, seconds: i64| {
            let event = noted(&mut gpus, text, seconds * SECOND);
            event.attribute("follows_xid").map(str::to_owned)
        };
        assert_eq!(at("NVRM: Xid (PCI:0000:9b:00): 48, DBE", 100), None);
        assert_eq!(
            at("NVRM: Xid (PCI:0000:9b:00): 45, pid=1, Ch 1", 103).as_deref(),
            Some("48")
        );
        assert_eq!(
            at("NVRM: Xid (PCI:0000:9b:00): 43, pid=1, Ch 1", 104).as_deref(),
            Some("48")
        );
        assert_eq!(at("NVRM: Xid (PCI:0000:9c:00): 43, pid=1, Ch 1", 104), None);
        assert_eq!(at("NVRM: Xid (PCI:0000:9b:00): 45, pid=1, Ch 1", 900), None);
    }

    #[test]
    fn one_place_has_one_name() {
        for name in ["00000000:9B:00.0", "0000:9b:00", "9b:00.0", "0000:9b:00.0"] {
            assert_eq!(crate::pci::normal(name), "0000:9b:00", "{name}");
        }
        assert_eq!(crate::pci::normal("0008:01:00"), "0008:01:00");
    }
}
