#!/usr/bin/env python3
"""Reads a gigabyte of journal JSON on one core: it must be 100 MB/s or better.

    cargo build -p whathappened-connectors --example recording
    benches/journal.py [gigabytes] [path of the example]

The journal is made anew from a seed: kubelet, containerd, the kernel, sshd, cron,
systemd and others as healthy machines write them. Nothing of it may be told.
"""
import json, os, random, subprocess, sys, tempfile, time

SIZE = float(sys.argv[1]) if len(sys.argv) > 1 else 1.0
TARGET = os.environ.get("CARGO_TARGET_DIR", os.path.expanduser("~/.cache/whathappened-target"))
READER = sys.argv[2] if len(sys.argv) > 2 else f"{TARGET}/debug/examples/recording"
rnd = random.Random(7)
hexes = lambda n: "".join(rnd.choice("0123456789abcdef") for _ in range(n))
pod = lambda: f"{hexes(8)}-{hexes(4)}-{hexes(4)}-{hexes(4)}-{hexes(12)}"
name = lambda: rnd.choice(["train-7b", "eval-mmlu", "tokenize", "node-exporter", "coredns"]) + "-" + hexes(5)

LINES = [
    ("kubelet", 14, lambda: f'I1121 15:20:{rnd.randint(10, 59)}.{rnd.randint(0, 999999):06} {rnd.randint(900, 3000)} kubelet.go:2421] "SyncLoop ADD" source="api" pods=["lab/{name()}"]'),
    ("kubelet", 14, lambda: f'I1121 15:20:{rnd.randint(10, 59)}.{rnd.randint(0, 999999):06} {rnd.randint(900, 3000)} reconciler_common.go:245] "operationExecutor.VerifyControllerAttachedVolume started for volume \\"kube-api-access-{hexes(5)}\\" (UniqueName: \\"kubernetes.io/projected/{pod()}-kube-api-access-{hexes(5)}\\") pod \\"{name()}\\" (UID: \\"{pod()}\\") "'),
    ("kubelet", 6, lambda: f'I1121 15:20:{rnd.randint(10, 59)}.{rnd.randint(0, 999999):06} {rnd.randint(900, 3000)} prober.go:107] "Probe succeeded" probeType="Readiness" pod="kube-system/{name()}"'),
    ("containerd", 18, lambda: f'time="2026-11-21T15:20:{rnd.randint(10, 59)}.{rnd.randint(0, 999999999):09}Z" level=info msg="CreateContainer within sandbox \\"{hexes(64)}\\" for container &ContainerMetadata{{Name:trainer,Attempt:0,}}"'),
    ("containerd", 8, lambda: f'time="2026-11-21T15:20:{rnd.randint(10, 59)}Z" level=info msg="StartContainer for \\"{hexes(64)}\\" returns successfully"'),
    ("kernel", 8, lambda: f"IPVS: rr: TCP 10.{rnd.randint(0, 255)}.{rnd.randint(0, 255)}.{rnd.randint(1, 254)}:443 - no destination available"),
    ("kernel", 6, lambda: f"eth0: renamed from veth{hexes(7)}"),
    ("kernel", 4, lambda: f"audit: type=1400 audit(1795274{rnd.randint(100, 999)}.{rnd.randint(100, 999)}:{rnd.randint(1, 9999)}): apparmor=\"ALLOWED\" operation=\"open\" comm=\"python3\""),
    ("kernel", 3, lambda: "nvidia-uvm: Loaded the UVM driver, major device number 510."),
    ("systemd", 8, lambda: f"run-containerd-runc-k8s.io-{hexes(64)}-runc.{hexes(6)}.mount: Deactivated successfully."),
    ("systemd", 4, lambda: f"Started Session {rnd.randint(1, 9999)} of User alice."),
    ("sshd", 4, lambda: f"Accepted publickey for alice from 10.0.{rnd.randint(0, 255)}.{rnd.randint(1, 254)} port {rnd.randint(1024, 65535)} ssh2: ED25519 SHA256:{hexes(43)}"),
    ("CRON", 3, lambda: "(root) CMD (test -x /usr/sbin/anacron || run-parts --report /etc/cron.daily)"),
    ("chronyd", 1, lambda: f"Selected source 10.0.0.{rnd.randint(1, 9)} (ntp.lab)"),
    ("dockerd", 2, lambda: f'level=info msg="ignoring event" container={hexes(64)} module=libcontainerd namespace=moby topic=/tasks/delete'),
]
# A block of some ten megabytes, again and again with other times: lines of a
# journal repeat, and making them must not take longer than reading them.
weights = [weight for _, weight, _ in LINES]
block = []
for at in range(16_000):
    program, _, text = rnd.choices(LINES, weights)[0]
    block.append((program, text()))


def write(to, wanted):
    written = seq = 0
    while written < wanted:
        for program, text in block:
            seq += 1
            micros = 1795274400000000 + seq * 1000
            record = {
                "__CURSOR": f"s={seq:032x};i={seq:x};b=5f2f8d9c", "__REALTIME_TIMESTAMP": str(micros),
                "__MONOTONIC_TIMESTAMP": str(seq * 1000), "_BOOT_ID": "5f2f8d9c3ab74aa0b0a5a2b9e51a7c10",
                "_HOSTNAME": f"gpu-{seq % 64}", "PRIORITY": "6", "SYSLOG_IDENTIFIER": program, "_PID": str(900 + seq % 9000),
                "_TRANSPORT": "kernel" if program == "kernel" else "syslog", "_SYSTEMD_UNIT": f"{program}.service",
                "_MACHINE_ID": "0f2f8d9c3ab74aa0b0a5a2b9e51a7c10", "MESSAGE": text,
            }
            line = json.dumps(record, separators=(",", ":")) + "\n"
            to.write(line)
            written += len(line)
            if written >= wanted:
                break
    return written, seq


with tempfile.TemporaryDirectory() as folder:
    path = f"{folder}/journal.json"
    with open(path, "w") as to:
        size, lines = write(to, int(SIZE * 1e9))
    print(f"{size / 1e6:.0f} MB, {lines} lines")
    for turn in range(3):
        began = time.monotonic()
        done = subprocess.run(["taskset", "-c", "0", READER, path], capture_output=True, text=True)
        took = time.monotonic() - began
        user = os.times().children_user
        print(f"{size / 1e6 / took:.0f} MB/s by the clock, {took:.1f} s; {user:.1f} s of one core so far; exit {done.returncode}")
    print(done.stdout[-600:], done.stderr[-300:])
