//! The nodes' own logs.

use super::files::{File, Record};
use crate::case::Case;
use crate::plan::Observe;
use crate::rng::Rng;
use crate::time::{MIN, SEC, Time};
use crate::world::{HostLine, Unit};

/// One log a node: syslog, or the kernel's own ring.
pub(super) fn lines(case: &Case, observe: &Observe, files: &mut Vec<File>) {
    let w = &case.world;
    let mut rng = Rng::stream(w.plan.seed, "hosts");
    let dmesg = observe.zone_min == 0 && rng.chance(20);
    for (at, node) in w.nodes.iter().enumerate() {
        // The clock of one node is off.
        let skew = if at
            == w.deaths
                .first()
                .and_then(|death| w.pods.get(death.pod))
                .and_then(|pod| pod.node)
                .unwrap_or(0)
        {
            observe.skew_s * SEC
        } else {
            0
        };
        let mut lines: Vec<HostLine> = w
            .hosts
            .iter()
            .filter(|line| line.node == at && line.time <= case.now && line.unit != Unit::Bmc)
            .cloned()
            .collect();
        let down = |time: Time| {
            let mut downs = node.downs.iter();
            downs.any(|&(from, to)| from <= time && to.is_none_or(|to| time < to))
        };
        let noise = noise(w.plan.start, case.now, at).into_iter();
        lines.extend(noise.filter(|line| !down(line.time)));
        lines.sort_by_key(|a| (a.time, a.unit));
        let name = if dmesg { "dmesg" } else { "syslog" };
        let mut file = File::lines("hosts", format!("nodes/{}/{name}", node.name));
        for line in lines {
            if dmesg && line.unit != Unit::Kernel {
                continue;
            }
            let time = line.time.plus(skew);
            let up = line.time.since(line.booted);
            let text = if dmesg {
                format!("[{}] {}", time.format("%a %b %e %H:%M:%S %Y", 0), line.text)
            } else {
                let stamp = time.format("%Y-%m-%dT%H:%M:%S%.6f%:z", observe.zone_min);
                match line.unit {
                    Unit::Kernel => format!(
                        "{stamp} {} kernel: [{}.{:06}] {}",
                        node.name,
                        up / SEC,
                        up % SEC / 1000,
                        line.text
                    ),
                    Unit::Systemd => format!("{stamp} {} systemd[1]: {}", node.name, line.text),
                    unit => format!("{stamp} {} {}[2514]: {}", node.name, unit.name(), line.text),
                }
            };
            file.records.push(Record::new(text, &line.tags));
        }
        files.push(file);
    }
}

/// What a machine writes when all is well.
fn noise(start: Time, now: Time, node: usize) -> Vec<HostLine> {
    let mut lines = Vec::new();
    let mut time = start.plus(i64::try_from(node).unwrap_or(0) * 7 * SEC);
    while time < now {
        lines.push(HostLine {
            time,
            booted: start,
            node,
            unit: Unit::Systemd,
            text: "Started Session 912 of User root.".to_owned(),
            tags: Vec::new(),
        });
        time = time.plus(17 * MIN);
    }
    lines
}

/// The event logs of the machines' own controllers, as `ipmitool sel elist` prints them.
pub(super) fn controllers(case: &Case, files: &mut Vec<File>) {
    let w = &case.world;
    for (at, node) in w.nodes.iter().enumerate() {
        let mut file = File::lines("hosts", format!("nodes/{}/ipmi-sel.txt", node.name));
        let lines = w
            .hosts
            .iter()
            .filter(|line| line.node == at && line.unit == Unit::Bmc && line.time <= case.now);
        for (number, line) in lines.enumerate() {
            let stamp = line.time.format("%m/%d/%Y | %H:%M:%S", 0);
            let text = format!("{:>4x} | {stamp} | {}", number + 0x52, line.text);
            file.records.push(Record::new(text, &line.tags));
        }
        files.push(file);
    }
}
