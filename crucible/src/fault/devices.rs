//! Kinds of trouble of devices and kernels that studies of failures tell apart, and the same records
//! where they did no harm.

use std::rc::Rc;

use super::hardware::{bus_of, crash, fewer_gpus, lost_gpu};
use super::victim;
use crate::control::{Exit, exit, machine_dies};
use crate::plan::Fault;
use crate::time::SEC;
use crate::train::say_all;
use crate::world::{ActId, PodFault, Relation, Unit, World, claims, names};

/// Breaks something under a pod of a workload, or writes as if.
pub(super) fn strike(w: &mut World, fault: Fault, load: usize) {
    let Some(pod) = victim(w, load) else { return };
    let Some((node, pid, rank)) = w
        .pods
        .get(pod)
        .and_then(|pod| Some((pod.node?, pod.pid, pod.rank)))
    else {
        return;
    };
    match fault {
        Fault::Pcie => pcie(w, (pod, rank), node, pid),
        Fault::Links => links(w, load, pod),
        Fault::XidOfProgram => of_program(w, (pod, rank), node, pid),
        Fault::GpuFirmware => firmware(w, (pod, rank), node, pid),
        Fault::GpuMemoryKinds => memory(w, (pod, rank), node, pid),
        Fault::Lockup => lockup(w, node, pid),
        Fault::Power => {
            let act = w.act("the power of the machine failed", &["hw.power"], None);
            let lines = [
                "Power Supply #0x51 | Power Supply AC lost | Asserted",
                "Power Supply #0x52 | Power Supply AC lost | Asserted",
                "Power Unit #0x0c | Power off/down | Asserted",
            ];
            goes_down(w, node, &lines, act);
        }
        Fault::Board => {
            let act = w.act("a processor of the machine failed", &["hw.board"], None);
            let line = w.rng.word(&[
                "Processor #0x61 | IERR | Asserted",
                "Processor CPU1 Status | IERR | Asserted",
            ]);
            goes_down(w, node, &[line], act);
        }
        _ => harmless(w, fault, load, node),
    }
}

/// The machine goes down; its own controller has told why.
fn goes_down(w: &mut World, node: usize, lines: &[&'static str], act: ActId) {
    for text in lines {
        w.host_line(node, Unit::Bmc, *text, &names(act));
    }
    w.soon(200, 3000, move |w| {
        machine_dies(w, node, act);
    });
}

/// The link of a slot is lost, and with it what sits there.
fn pcie(w: &mut World, (pod, rank): (usize, u32), node: usize, pid: i64) {
    let bus = bus_of(w);
    let act = w.act("a PCIe link failed", &["hw.pcie"], None);
    let texts: &[&str] = if w.rng.chance(50) {
        &[
            "pcieport 0000:50:01.0: AER: Uncorrectable (Fatal) error message received from 0000:52:00.0",
            "pcieport 0000:50:01.0: AER: subordinate device reset failed",
        ]
    } else {
        &[
            "pcieport 0000:50:01.0: pciehp: Slot(5): Link Down",
            "pcieport 0000:50:01.0: pciehp: Slot(5): Card not present",
        ]
    };
    for text in texts {
        w.host_line(node, Unit::Kernel, *text, &names(act));
    }
    let step = w.act("the GPU behind it is gone", &["hw.gpu"], Some(act));
    w.soon(100, 2000, move |w| {
        lost_gpu(w, node, bus, pid, step);
        fewer_gpus(w, node, step);
        crash(w, pod, rank, step, "CUDA error: unspecified launch failure");
    });
}

/// A link that flaps, a card that fails, or a switch that takes the links of two machines.
fn links(w: &mut World, load: usize, pod: usize) {
    let Some(node) = w.pods.get(pod).and_then(|pod| pod.node) else {
        return;
    };
    let other = w
        .pods
        .iter()
        .filter(|one| one.load == load && one.alive && one.gone.is_none())
        .find_map(|one| one.node.filter(|&at| at != node));
    match (w.rng.below(3), other) {
        (0, _) => {
            let act = w.act("a link flaps", &["hw.nic"], None);
            for turn in 0..4i64 {
                w.after(turn * 22 * SEC, move |w| {
                    down(w, node, act);
                    w.soon(3000, 9000, move |w| {
                        w.host_line(
                            node,
                            Unit::Kernel,
                            "mlx5_core 0000:5c:00.0 ib2: Port: 1 Link ACTIVE",
                            &claims(act),
                        );
                    });
                });
            }
            w.after(70 * SEC, move |w| lost_peer(w, pod, act));
        }
        (1, Some(other)) => {
            let act = w.act("a switch took the links of two machines", &["hw.nic"], None);
            down(w, node, act);
            down(w, other, act);
            w.soon(4000, 20_000, move |w| lost_peer(w, pod, act));
        }
        _ => {
            let act = w.act("a network card failed", &["hw.nic"], None);
            for text in [
                "mlx5_core 0000:5c:00.0: poll_health:825:(pid 0): Fatal error 1 detected",
                "mlx5_core 0000:5c:00.0: print_health_info:424:(pid 0): Health issue observed, firmware internal error, severity(3) ERROR:",
                "mlx5_core 0000:5c:00.0: mlx5_health_try_recover:318:(pid 1210): handling bad device here",
            ] {
                w.host_line(node, Unit::Kernel, text, &names(act));
            }
            w.soon(2000, 15_000, move |w| lost_peer(w, pod, act));
        }
    }
}

fn down(w: &mut World, node: usize, act: ActId) {
    let tags = names(act);
    w.host_line(
        node,
        Unit::Kernel,
        "mlx5_core 0000:5c:00.0 ib2: Port: 1 Link DOWN",
        &tags,
    );
}

/// NCCL gives up on a connection over the card.
fn lost_peer(w: &mut World, pod: usize, act: ActId) {
    let Some(body) = w.pods.get(pod).filter(|pod| pod.alive && !pod.stopping) else {
        return;
    };
    let (name, pid, rank) = (body.name.clone(), body.pid, body.rank);
    let thread = pid + 300;
    say_all(
        w,
        pod,
        &format!(
            "{name}:{pid}:{thread} [2] transport/net_ib.cc:1296 NCCL WARN NET/IB : mlx5_2:1 Got async event : port error\n{name}:{pid}:{thread} [2] transport/net_ib.cc:2122 NCCL WARN NET/IB: Got completion from peer 10.128.0.11<33092> with status=12 opcode=129 len=0 vendor err 129 (Recv)\n[rank{rank}]: torch.distributed.DistBackendError: NCCL error in: ../torch/csrc/distributed/c10d/ProcessGroupNCCL.cpp:2133, remote process exited or there was a network error, NCCL version 2.27.3"
        ),
        &claims(act),
    );
    exit(w, pod, &Exit::code(1, act, Relation::Victim));
}

/// Xids of what the program itself does on a GPU.
fn program_xids(bus: &str, pid: i64, name: &str) -> [String; 3] {
    [
        format!(
            "NVRM: Xid (PCI:{bus}): 13, pid={pid}, name={name}, Graphics SM Warp Exception on (GPC 1, TPC 0, SM 1): Out Of Range Address"
        ),
        format!(
            "NVRM: Xid (PCI:{bus}): 31, pid={pid}, name={name}, channel 0x00000002, intr 00000000. MMU Fault: ENGINE GRAPHICS GPC6 GPCCLIENT_T1_13 faulted @ 0x6f6f_320c2000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ"
        ),
        format!("NVRM: Xid (PCI:{bus}): 43, pid={pid}, name={name}, Ch 00000010"),
    ]
}

/// The program reads what it should not; the GPU is well.
fn of_program(w: &mut World, (pod, rank): (usize, u32), node: usize, pid: i64) {
    let bus = bus_of(w);
    let act = w.act(
        "a kernel of the program reads beyond its memory",
        &["code.exception"],
        None,
    );
    let xids = program_xids(bus, pid, "python3");
    let which = w.rng.below(2);
    if let Some(text) = xids.get(which) {
        w.host_line(node, Unit::Kernel, text.clone(), &claims(act));
    }
    if w.rng.chance(40) {
        w.host_line(node, Unit::Kernel, xids[2].clone(), &claims(act));
    }
    let error = w.rng.word(&[
        "CUDA error: an illegal memory access was encountered",
        "CUDA error: device-side assert triggered",
    ]);
    w.soon(200, 2500, move |w| {
        if w.pods.get(pod).is_none_or(|pod| !pod.alive || pod.stopping) {
            return;
        }
        say_all(w, pod, &format!("[rank{rank}]: Traceback (most recent call last):\n[rank{rank}]:   File \"/workspace/train.py\", line 188, in main\n[rank{rank}]:     out = fused_gather(table, index)\n[rank{rank}]: torch.AcceleratorError: {error}\n[rank{rank}]: CUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect."), &names(act));
        exit(w, pod, &Exit::code(1, act, Relation::Victim));
    });
}

/// The firmware of a GPU hangs or faults.
fn firmware(w: &mut World, (pod, rank): (usize, u32), node: usize, pid: i64) {
    let bus = bus_of(w);
    let act = w.act("the firmware of a GPU failed", &["hw.gpu"], None);
    let text = match w.rng.below(4) {
        0 => format!(
            "NVRM: Xid (PCI:{bus}): 120, pid={pid}, name=python3, GSP task exception: 2 @ pc:0x4d1e2e4, partition:1#0, task:1"
        ),
        1 => format!(
            "NVRM: Xid (PCI:{bus}): 109, pid={pid}, name=python3, Ch 00000008, errorString CTX SWITCH TIMEOUT, Info 0x2c014"
        ),
        2 => format!("NVRM: Xid (PCI:{bus}): 62, 203c(3090) 85020c09 ffffbd53"),
        _ => format!(
            "NVRM: Xid (PCI:{bus}): 119, pid={pid}, name=python3, Timeout after 6s of waiting for RPC response from GPU4 GSP! Expected function 76 (GSP_RM_CONTROL) (0x20803032 0x8c4)."
        ),
    };
    w.host_line(node, Unit::Kernel, text, &names(act));
    w.host_line(node, Unit::Kernel, format!("NVRM: Xid (PCI:{bus}): 154, GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)"), &names(act));
    let step = w.act(
        "a call to the GPU fails",
        &["hw.gpu", "code.exception"],
        Some(act),
    );
    crash(w, pod, rank, step, "CUDA error: unspecified launch failure");
}

/// Memory of a GPU that fails beyond repair, in other words than a double bit error.
fn memory(w: &mut World, (pod, rank): (usize, u32), node: usize, pid: i64) {
    let bus = bus_of(w);
    let act = w.act("memory of a GPU failed", &["hw.gpu_memory"], None);
    let texts = match w.rng.below(3) {
        0 => vec![format!(
            "NVRM: Xid (PCI:{bus}): 95, pid={pid}, name=python3, Uncontained: LTC TAG (0x2,0x0). RST: Yes, D-RST: No"
        )],
        1 => vec![
            format!(
                "NVRM: Xid (PCI:{bus}): 48, pid={pid}, name=python3, An uncorrectable double bit error (DBE) has been detected on GPU in the framebuffer at physAddr 0xe9b9107e0 partition 3, subpartition 0."
            ),
            format!(
                "NVRM: Xid (PCI:{bus}): 64, pid={pid}, name=python3, Row Remapper: All reserved rows for bank are remapped"
            ),
        ],
        _ => vec![format!(
            "NVRM: Xid (PCI:{bus}): 140, pid={pid}, name=python3, An uncorrectable ECC error detected (possible firmware handling failure) DRAM:1, LTC:0, MMU:0, PCIE:0"
        )],
    };
    for text in texts {
        w.host_line(node, Unit::Kernel, text, &names(act));
    }
    crash(
        w,
        pod,
        rank,
        act,
        "CUDA error: uncorrectable ECC error encountered",
    );
}

/// A processor of the machine no longer comes out of the kernel, until it stands still.
fn lockup(w: &mut World, node: usize, pid: i64) {
    let act = w.act(
        "a processor is stuck in the kernel",
        &["node.kernel_panic"],
        None,
    );
    for turn in 1..4i64 {
        w.after((turn - 1) * 24 * SEC, move |w| {
            w.host_line(
                node,
                Unit::Kernel,
                format!(
                    "watchdog: BUG: soft lockup - CPU#18 stuck for {}s! [python3:{pid}]",
                    turn * 24 + 2
                ),
                &names(act),
            );
        });
    }
    let panics = w.rng.chance(50);
    w.after(55 * SEC, move |w| {
        let text = if panics {
            "Kernel panic - not syncing: softlockup: hung tasks"
        } else {
            "rcu: INFO: rcu_preempt detected stalls on CPUs/tasks:"
        };
        w.host_line(node, Unit::Kernel, text, &names(act));
        machine_dies(w, node, act);
    });
}

/// A container is given fewer GPUs than it asked for, or asks for more than it was given.
pub(super) fn fewer(w: &mut World, load: usize) {
    let by_program = w.rng.chance(40);
    let act = if by_program {
        w.act(
            "it starts more ranks than it has GPUs",
            &["code.config_or_input", "code.exception"],
            None,
        )
    } else {
        w.act("a GPU cannot be opened", &["hw.gpu", "node.driver"], None)
    };
    let bus = bus_of(w);
    let Some(body) = w.loads.get_mut(load) else {
        return;
    };
    body.curse = Some(PodFault(Rc::new(move |w: &mut World, pod| {
        let Some(body) = w.pods.get(pod).filter(|pod| by_program || pod.rank == 0) else {
            return;
        };
        let Some(node) = body.node else { return };
        w.soon(2000, 8000, move |w| {
            if w.pods.get(pod).is_none_or(|pod| !pod.alive || pod.stopping) {
                return;
            }
            let mut step = act;
            if !by_program {
                for text in [format!("NVRM: GPU {bus}.0: RmInitAdapter failed! (0x22:0x56:884)"), format!("NVRM: GPU {bus}.0: rm_init_adapter failed, device minor number 3")] {
                    w.host_line(node, Unit::Kernel, text, &names(act));
                }
                step = w.act("it finds fewer GPUs than it asked for", &["hw.gpu", "node.driver", "code.exception", "code.config_or_input"], Some(act));
            }
            say_all(w, pod, "Traceback (most recent call last):\n  File \"/workspace/train.py\", line 47, in setup\n    torch.cuda.set_device(local_rank)\ntorch.AcceleratorError: CUDA error: invalid device ordinal\nCUDA kernel errors might be asynchronously reported at some other API call, so the stacktrace below might be incorrect.", &names(step));
            exit(w, pod, &Exit::code(1, step, Relation::Victim));
        });
    })));
}

/// The words of a fault on the machine of a workload, and nothing comes of them.
fn harmless(w: &mut World, fault: Fault, load: usize, node: usize) {
    let act = w.act("words of a machine that hurt nobody", &[], None);
    let tags = names(act);
    let bus = bus_of(w);
    let line = |w: &mut World, text: &str| w.host_line(node, Unit::Kernel, text, &tags);
    match fault {
        Fault::XidOfOther => {
            let name = w
                .rng
                .word(&["ray::Worker", "jupyter-lab", "dcgmproftester1"]);
            let which = w.rng.below(3);
            if let Some(text) = program_xids(bus, 77_012, name).get(which) {
                line(w, text);
            }
        }
        Fault::RowsRemapped => {
            let text = if w.rng.chance(60) {
                format!(
                    "NVRM: Xid (PCI:{bus}): 63, pid='<unknown>', name=<unknown>, Row Remapper: New row (0x0000000e9b9107e0) marked for remapping, reset gpu to activate."
                )
            } else {
                format!("NVRM: Xid (PCI:{bus}): 92, High single-bit ECC error rate")
            };
            line(w, &text);
        }
        Fault::LinkBlip => {
            line(w, "mlx5_core 0000:5c:00.0 ib2: Port: 1 Link DOWN");
            w.soon(2000, 6000, move |w| {
                w.host_line(
                    node,
                    Unit::Kernel,
                    "mlx5_core 0000:5c:00.0 ib2: Port: 1 Link ACTIVE",
                    &[],
                );
            });
        }
        Fault::ShortLockup => {
            if w.rng.chance(50) {
                line(
                    w,
                    "watchdog: BUG: soft lockup - CPU#18 stuck for 22s! [kworker/18:2:3312]",
                );
            } else {
                line(
                    w,
                    "INFO: task pt_save:88123 blocked for more than 120 seconds.",
                );
            }
        }
        Fault::PcieCorrected => {
            for text in [
                "pcieport 0000:16:02.0: AER: Correctable error message received from 0000:18:00.0",
                "nvidia 0000:18:00.0: PCIe Bus Error: severity=Correctable, type=Physical Layer, (Receiver ID)",
                "nvidia 0000:18:00.0:   device [10de:2330] error status/mask=00000001/0000a000",
                "nvidia 0000:18:00.0:    [ 0] RxErr                  (First)",
            ] {
                line(w, text);
            }
        }
        Fault::PowerSpare => {
            for text in [
                "Power Supply #0x51 | Power Supply AC lost | Asserted",
                "Power Unit #0x0c | Redundancy Lost | Asserted",
            ] {
                w.host_line(node, Unit::Bmc, text, &tags);
            }
        }
        _ => at_end(w, load, 0),
    }
}

/// The driver clears up after a process that was ended: an Xid that is an effect.
fn at_end(w: &mut World, load: usize, times: u32) {
    let ended = w.deaths.iter().find_map(|death| {
        let pod = w.pods.get(death.pod).filter(|pod| pod.load == load)?;
        Some((pod.node?, pod.pid))
    });
    if let Some((node, pid)) = ended {
        if w.nodes.get(node).is_some_and(|node| node.up) {
            let bus = bus_of(w);
            w.host_line(
                node,
                Unit::Kernel,
                format!("NVRM: Xid (PCI:{bus}): 45, pid={pid}, name=python3, Ch 00000008"),
                &[],
            );
        }
    } else if times < 3600 {
        w.after(SEC, move |w| at_end(w, load, times + 1));
    }
}
