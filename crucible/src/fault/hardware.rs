//! Hardware that breaks under a rank.

use super::victim;
use crate::control::{Exit, exit, machine_dies};
use crate::plan::Fault;
use crate::time::SEC;
use crate::train::say_all;
use crate::world::{ActId, Ask, Client, Relation, Unit, World, claims, names};

/// Breaks something under a pod of a workload.
pub(super) fn strike(w: &mut World, fault: Fault, load: usize) {
    let Some(pod) = victim(w, load) else { return };
    let Some((node, pid, rank)) = w
        .pods
        .get(pod)
        .and_then(|pod| Some((pod.node?, pod.pid, pod.rank)))
    else {
        return;
    };
    let bus = bus_of(w);
    match fault {
        Fault::XidElsewhere => {
            // On a machine on which this workload has nothing.
            let Some(other) = w.node_without(load) else {
                return;
            };
            let act = w.act("a GPU of another machine broke", &[], None);
            lost_gpu(w, other, bus, pid, act);
        }
        Fault::Gpu => {
            let act = w.act("a GPU broke", &["hw.gpu"], None);
            if w.rng.chance(60) {
                lost_gpu(w, node, bus, pid, act);
            } else {
                w.host_line(node, Unit::Kernel, format!("NVRM: Xid (PCI:{bus}): 119, pid={pid}, name=python3, Timeout after 6s of waiting for RPC response from GPU4 GSP! Expected function 76 (GSP_RM_CONTROL) (0x20803032 0x8c4)."), &names(act));
                w.host_line(node, Unit::Kernel, format!("NVRM: Xid (PCI:{bus}): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)"), &names(act));
            }
            fewer_gpus(w, node, act);
            // Programs fail like this by themselves as well.
            let step = w.act("a kernel of the program fails", &[], Some(act));
            crash(w, pod, rank, step, "CUDA error: unspecified launch failure");
        }
        Fault::GpuMemory => {
            let act = w.act("memory of a GPU failed", &["hw.gpu_memory"], None);
            for text in [
                format!(
                    "NVRM: Xid (PCI:{bus}): 48, An uncorrectable double bit error (DBE) has been detected on GPU in the framebuffer at physAddr 0xe9b9107e0 partition 3, subpartition 0."
                ),
                format!(
                    "NVRM: Xid (PCI:{bus}): 63, pid={pid}, name=python3, Row Remapper: New row (0x0000000e9b9107e0) marked for remapping, reset gpu to activate."
                ),
                format!(
                    "NVRM: Xid (PCI:{bus}): 94, pid={pid}, name=python3, Contained: SM (0x1). RST: No, D-RST: No"
                ),
                format!("NVRM: Xid (PCI:{bus}): 45, pid={pid}, name=python3, Ch 00000008"),
            ] {
                w.host_line(node, Unit::Kernel, text, &names(act));
            }
            fewer_gpus(w, node, act);
            crash(
                w,
                pod,
                rank,
                act,
                "CUDA error: uncorrectable ECC error encountered",
            );
        }
        Fault::NvLink => {
            let act = w.act("a link between GPUs failed", &["hw.nvlink_fabric"], None);
            w.host_line(node, Unit::Kernel, format!("NVRM: Xid (PCI:{bus}): 74, pid='<unknown>', name=<unknown>, NVLink: fatal error detected on link 14(0x0, 0x0, 0x10000, 0x0, 0x0, 0x0, 0x0)"), &names(act));
            w.host_line(
                node,
                Unit::Kernel,
                "nvidia-nvswitch0: SXid (PCI:0000:a9:00.0): 20034, Fatal, Link 30 LTSSM Fault Up",
                &names(act),
            );
            crash(
                w,
                pod,
                rank,
                act,
                "CUDA error: Invalid access of peer GPU memory over nvlink or a hardware error",
            );
        }
        Fault::Nic => nic(w, pod, node, rank),
        Fault::Disk => disk(w, pod, node, rank),
        Fault::Memory => memory(w, node),
        Fault::Thermal => thermal(w, node),
        _ => {}
    }
}

/// Where some GPU sits.
pub(super) fn bus_of(w: &mut World) -> &'static str {
    w.rng
        .word(&["0000:18:00", "0000:2a:00", "0000:9b:00", "0000:ab:00"])
}

pub(super) fn lost_gpu(w: &mut World, node: usize, bus: &str, pid: i64, act: ActId) {
    for text in [
        format!("NVRM: GPU at PCI:{bus}: GPU-6a1d0f52-8c44-2b71-90e3-5d7b1c09ae11"),
        format!("NVRM: Xid (PCI:{bus}): 79, pid={pid}, name=python3, GPU has fallen off the bus."),
        format!("NVRM: GPU {bus}.0: GPU has fallen off the bus."),
    ] {
        w.host_line(node, Unit::Kernel, text, &names(act));
    }
}

/// The device plugin offers one GPU less.
pub(super) fn fewer_gpus(w: &mut World, node: usize, act: ActId) {
    w.soon(2000, 20_000, move |w| {
        let Some(body) = w.nodes.get_mut(node) else {
            return;
        };
        body.gpus.1 = body.gpus.1.saturating_sub(1);
        let name = body.name.clone();
        w.put_node(
            node,
            Ask::new(Client::kubelet(&name), "patch", "status").with_tags(&claims(act)),
        );
    });
}

/// The rank on the broken part ends; its words are a symptom.
pub(super) fn crash(w: &mut World, pod: usize, rank: u32, act: ActId, error: &str) {
    let stamp = w.now.format("%m%d %H:%M:%S%.9f", 0);
    let text = format!(
        "[rank{rank}]:[E{stamp} ProcessGroupNCCL.cpp:1899] [PG ID 0 PG GUID 0(default_pg) Rank {rank}] Process group watchdog thread terminated with exception: {error}\nCUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.\nterminate called after throwing an instance of 'c10::DistBackendError'\nFatal Python error: Aborted"
    );
    w.soon(300, 4000, move |w| {
        if w.pods
            .get(pod)
            .is_some_and(|pod| pod.alive && !pod.stopping)
        {
            say_all(w, pod, &text, &claims(act));
            exit(w, pod, &Exit::code(134, act, Relation::Victim));
        }
    });
}

fn nic(w: &mut World, pod: usize, node: usize, rank: u32) {
    let act = w.act("a network card lost its link", &["hw.nic"], None);
    w.host_line(
        node,
        Unit::Kernel,
        "mlx5_core 0000:5c:00.0 ib2: Port: 1 Link DOWN",
        &names(act),
    );
    w.host_line(node, Unit::Kernel, "mlx5_core 0000:5c:00.0: mlx5_pcie_event:299:(pid 268269): Detected insufficient power on the PCIe slot (27W).", &claims(act));
    let pid = w.pods.get(pod).map_or(0, |pod| pod.pid);
    let name = w
        .pods
        .get(pod)
        .map(|pod| pod.name.clone())
        .unwrap_or_default();
    w.soon(3000, 20_000, move |w| {
        if w.pods.get(pod).is_some_and(|pod| pod.alive && !pod.stopping) {
            say_all(w, pod, &format!("{name}:{pid}:{} [2] transport/net_ib.cc:1296 NCCL WARN NET/IB : mlx5_2:1 Got async event : port error\n{name}:{pid}:{} [2] transport/net_ib.cc:2122 NCCL WARN NET/IB: Got completion from peer 10.128.0.11<33092> with status=12 opcode=129 len=0 vendor err 129 (Recv)\n[rank{rank}]: torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:2133, remote process exited or there was a network error, NCCL version 2.27.3", pid + 300, pid + 300), &claims(act));
            exit(w, pod, &Exit::code(1, act, Relation::Victim));
        }
        w.after(25 * SEC, move |w| w.host_line(node, Unit::Kernel, "mlx5_core 0000:5c:00.0 ib2: Port: 1 Link ACTIVE", &claims(act)));
    });
}

fn disk(w: &mut World, pod: usize, node: usize, rank: u32) {
    let act = w.act("a disk failed", &["hw.disk"], None);
    for text in [
        "nvme nvme4: I/O tag 22 (2016) opcode 0x2 (I/O Cmd) QID 12 timeout, reset controller",
        "nvme nvme4: Disabling device after reset failure: -19",
        "Buffer I/O error on dev nvme4n1, logical block 1308098575, lost async page write",
        "EXT4-fs (nvme4n1): Remounting filesystem read-only",
    ] {
        w.host_line(node, Unit::Kernel, text, &names(act));
    }
    // The program's words do not say which storage it was.
    let act = w.act("reads fail", &["hw.disk", "dep.storage"], Some(act));
    w.soon(1000, 9000, move |w| {
        if w.pods.get(pod).is_some_and(|pod| pod.alive && !pod.stopping) {
            say_all(w, pod, &format!("[rank{rank}]: Traceback (most recent call last):\n[rank{rank}]:   File \"/workspace/data.py\", line 118, in read_shard\n[rank{rank}]:     buf = f.read(n)\n[rank{rank}]: OSError: [Errno 5] Input/output error"), &claims(act));
            exit(w, pod, &Exit::code(1, act, Relation::Victim));
        }
    });
}

/// Memory of the host fails beyond repair; the machine stops.
fn memory(w: &mut World, node: usize) {
    let act = w.act("memory of the host failed", &["hw.memory"], None);
    for text in [
        "mce: [Hardware Error]: Machine check events logged",
        "EDAC MC0: 1 UE memory read error on CPU_SrcID#0_MC#0_Chan#1_DIMM#0 (channel:1 slot:0 page:0x5a2b1c offset:0x0 grain:32)",
        "mce: [Hardware Error]: CPU 31: Machine Check Exception: 5 Bank 7: be00000000800400",
        "Kernel panic - not syncing: Fatal machine check",
    ] {
        w.host_line(node, Unit::Kernel, text, &names(act));
    }
    let panic = w.act("the kernel stops", &["node.kernel_panic"], Some(act));
    machine_dies(w, node, panic);
}

/// The machine becomes too hot, and its kernel powers it off.
fn thermal(w: &mut World, node: usize) {
    let act = w.act("the machine became too hot", &["hw.thermal"], None);
    w.host_line(
        node,
        Unit::Kernel,
        "mce: CPU14: Package temperature above threshold, cpu clock throttled (total events = 412)",
        &claims(act),
    );
    w.host_line(
        node,
        Unit::Kernel,
        "thermal thermal_zone0: acpitz: critical temperature reached",
        &names(act),
    );
    w.host_line(
        node,
        Unit::Kernel,
        "reboot: HARDWARE PROTECTION shutdown (Temperature too high)",
        &names(act),
    );
    let step = w.act(
        "the machine powers itself off",
        &["node.shutdown"],
        Some(act),
    );
    machine_dies(w, node, step);
}
