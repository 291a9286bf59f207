"""Bare machines: mounts that go, tickets that run out, drivers, fabric manager, lockups and kdump, PCIe, BERT, admins' harmful and harmless acts."""

from kit import NOBODY, OWN, PEOPLE, family, finish, goes_away, vm
from world import Machine, OWN_ERRORS, Train, iso


@family("n.fuse", "gcsfuse_oom gcsfuse_segv gcsfuse_person_umount other_mount_gone s3fs_gone_no_kernel gone_then_remounted_own transport_caught_then_own juicefs_killed_by_oom_host", 10)
def fuse(c):
    """A FUSE mount goes: its daemon ended, the program gets ENOTCONN."""
    m, log = vm(c)
    t, v, mild, actor, who = c.between(900, 1500), c.variant, [], None, c.pick(*PEOPLE)
    log.steps(1, t)
    d = m.pid - 700
    gone = ("OSError: [Errno 107] Transport endpoint is not connected: '/mnt/data/shard-000412.tar'", "    with open(path, 'rb') as f:")
    if v == "gcsfuse_oom":
        m.oom(t - 1, "gcsfuse", d, "/system.slice/gcsfuse.service", "/system.slice/gcsfuse.service")
        m.log(t - 0.5, "systemd", "gcsfuse.service: Main process exited, code=killed, status=9/KILL")
    elif v == "juicefs_killed_by_oom_host":
        m.oom(t - 1, "juicefs", d, "/system.slice/juicefs.service")
    elif v == "gcsfuse_segv":
        m.segfault(t - 1, "gcsfuse", d)
        m.log(t - 0.5, "systemd", "gcsfuse.service: Main process exited, code=dumped, status=11/SEGV")
    elif v == "gcsfuse_person_umount":
        m.sudo(t - 1, who, c.pick("/usr/bin/fusermount -uz /mnt/data", "/usr/bin/umount -l /mnt/data", "/usr/bin/systemctl stop gcsfuse"))
        gone = gone if c.number % 2 else ("FileNotFoundError: [Errno 2] No such file or directory: '/mnt/data/shard-000412.tar'", "    with open(path, 'rb') as f:")
    if v == "other_mount_gone":
        m.log(t - 2, "systemd", "home-bob-bucket.mount: Main process exited, code=killed, status=9/KILL")
        m.log(t - 2, "systemd", "Unmounted /home/bob/bucket.")
        log.traceback(t + 0.1, *c.pick(*OWN_ERRORS))
        right = OWN
    elif v in ("transport_caught_then_own", "gone_then_remounted_own"):
        early = t - 300
        log.say(early, "could not read shard-000412.tar: [Errno 107] Transport endpoint is not connected: '/mnt/data/shard-000412.tar', retrying", "WARNING")
        if v == "gone_then_remounted_own":
            m.log(early - 1, "systemd", "gcsfuse.service: Main process exited, code=killed, status=9/KILL")
            m.log(early + 9, "systemd", f"Started {m.named('gcsfuse', 'Google Cloud Storage mount')}.")
        log.traceback(t + 0.1, *c.pick(*OWN_ERRORS))
        right = OWN
    else:
        log.traceback(t + 0.1, *gone)
        right = ["dep.storage"] if v != "gcsfuse_person_umount" else ["dep.storage", "ops.manual_delete", "ops.config_change", "code.exception", "code.config_or_input"]
        if v in ("gcsfuse_oom", "gcsfuse_segv", "juicefs_killed_by_oom_host"):
            right = right + ["code.exception"] if False else right
            mild = ["code.exception", "node.system_oom"] if "oom" in v else ["code.exception"]
        if v == "s3fs_gone_no_kernel":
            mild = ["code.exception"]
    m.exit(t + 0.9, 1)
    c.expect(right, f"a FUSE mount: {v}", mild=mild, actor=actor)
    finish(c, m, log)


@family("n.ticket", "krb_expired krb_renewed_own aws_expired hf_401 gcs_token_expired ldap_down_own wandb_401_survived vault_403 krb_expired_survived afs_token", 8)
def ticket(c):
    """Credentials run out in a long run."""
    m, log = vm(c)
    t, v, mild, actor = c.between(900, 1500), c.variant, [], None
    log.steps(1, t)
    if v in ("krb_expired", "krb_renewed_own", "krb_expired_survived"):
        early = t - (1 if v == "krb_expired" else 400)
        m.log(early, "rpc.gssd", "WARNING: Client 'alice@LAB.EXAMPLE' has expired or missing credentials in cache 'FILE:/tmp/krb5cc_1000'" if c.number % 2 else "ERROR: GSS-API: error in gss_acquire_cred(): Ticket expired")
        m.kernel(early + 0.2, "NFS: nfs4_discover_server_trunking unhandled error -126. Exiting with error EIO") if c.number % 2 else None
        if v == "krb_renewed_own":
            m.log(early + 5, "k5start", "authenticated as alice@LAB.EXAMPLE")
    if v == "krb_expired":
        log.traceback(t + 0.2, c.pick("OSError: [Errno 126] Required key not available: '/nfs/ckpt/step-900.pt'", "PermissionError: [Errno 13] Permission denied: '/nfs/ckpt/step-900.pt'"), "    torch.save(state, path)")
        right, mild = ["dep.secret_or_config", "dep.storage", "code.exception"], ["code.config_or_input"]
    elif v == "aws_expired":
        log.traceback(t + 0.2, "botocore.exceptions.ClientError: An error occurred (ExpiredToken) when calling the GetObject operation: The provided token has expired.", "    obj = s3.get_object(Bucket=b, Key=k)")
        right = ["dep.secret_or_config"]
    elif v == "hf_401":
        log.traceback(t + 0.2, "huggingface_hub.errors.HfHubHTTPError: 401 Client Error: Unauthorized for url: https://huggingface.co/api/datasets/acme/corpus (Request ID: Root=1-6)", "    ds = load_dataset('acme/corpus')")
        right = ["dep.secret_or_config"]
    elif v == "gcs_token_expired":
        log.traceback(t + 0.2, "google.auth.exceptions.RefreshError: ('invalid_grant: Token has been expired or revoked.', {'error': 'invalid_grant', 'error_description': 'Token has been expired or revoked.'})", "    blob.download_to_filename(path)")
        right = ["dep.secret_or_config"]
    elif v == "vault_403":
        log.traceback(t + 0.2, "hvac.exceptions.Forbidden: permission denied, on get https://vault.lab.example/v1/secret/data/train", "    client.secrets.kv.read_secret(path='train')")
        right, mild = ["dep.secret_or_config", "code.exception"], []
    elif v == "afs_token":
        m.kernel(t, "afs: Tokens for user of AFS id 1000 for cell lab.example are discarded (rxkad error=19270408, server 10.0.0.9)")
        log.traceback(t + 0.2, "PermissionError: [Errno 13] Permission denied: '/afs/lab.example/user/alice/ckpt.pt'", "    torch.save(state, path)")
        right, mild = ["dep.secret_or_config", "dep.storage", "code.exception", "code.config_or_input"], []
    else:
        if v == "ldap_down_own":
            m.log(t - 20, "sssd", "Backend is offline")
            m.log(t - 10, "sssd", "Backend is online")
        elif v == "wandb_401_survived":
            log.say(t - 200, "wandb: ERROR Error while calling W&B API: user is not logged in (<Response [401]>)", "ERROR")
        right, mild, actor = goes_away(c, m, log, t, c.pick("own", "oom_unit", "stop"))
        c.expect(right, f"credentials: {v}", mild=mild, actor=actor)
        finish(c, m, log)
        return
    m.exit(t + 0.9, 1)
    c.expect(right, f"credentials: {v}", mild=mild, actor=actor)
    finish(c, m, log)


@family("n.driver", "fabric_manager_stopped fabric_manager_failed_start upgrade_unattended upgrade_person persistenced_restart_own dkms_build_own gpu_reset_person gpu_reset_other_idle modprobe_refused_own mig_change_person smi_query_own mps_quit", 10)
def driver(c):
    """Drivers, fabric manager, resets by people."""
    m, log = vm(c)
    t, v, mild, actor, who = c.between(900, 1500), c.variant, [], None, c.pick(*PEOPLE)
    log.steps(1, t)
    fail = True
    if v == "fabric_manager_stopped":
        m.sudo(t + 0.1, who, "/usr/bin/systemctl restart nvidia-fabricmanager")
        m.log(t + 0.3, "systemd", f"Stopping {m.named('nvidia-fabricmanager', 'NVIDIA fabric manager service')}...")
        m.log(t + 0.5, "nv-fabricmanager", "Fabric Manager is shutting down. Aborting all CUDA jobs using NVLink.")
        log.traceback(t + 2, "torch.AcceleratorError: CUDA error: system not yet initialized" if c.number % 2 else "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2355, unhandled cuda error, NCCL version 2.21.5", "    dist.all_reduce(x)")
        right, mild = ["node.driver", "ops.manual_delete", "ops.config_change", "hw.nvlink_fabric", "code.exception"], []
    elif v == "fabric_manager_failed_start":
        m.log(t - 900, "nv-fabricmanager", "failed to initialize NVSwitch devices")
        m.log(t - 899, "systemd", "nvidia-fabricmanager.service: Control process exited, code=exited, status=1/FAILURE")
        log.lines = [row for row in log.lines if row[0] <= 1]
        log.traceback(t + 0.1, "RuntimeError: CUDA error: system not yet initialized", "    torch.cuda.set_device(0)")
        right, mild = ["node.driver", "hw.nvlink_fabric", "node.launch_failed"], ["code.exception"]
    elif v in ("upgrade_unattended", "upgrade_person"):
        if v == "upgrade_person":
            m.sudo(t - 20, who, "/usr/bin/apt-get install -y nvidia-driver-570" if m.system.startswith("u") else "/usr/bin/dnf -y upgrade nvidia-driver")
        else:
            m.log(t - 25, "systemd", f"Starting {m.named('apt-daily-upgrade', 'Daily apt upgrade and clean activities')}...")
            m.log(t - 18, "apt.systemd.daily", "Packages that will be upgraded: libnvidia-compute-550 nvidia-utils-550 nvidia-dkms-550")
        m.kernel(t + 0.1, "NVRM: API mismatch: the client has the version 550.144.03, but\n".strip() + " this kernel module has the version 550.127.05.  Please make sure that this kernel module and all NVIDIA driver components have the same version.")
        log.traceback(t + 0.3, "RuntimeError: CUDA error: system has unsupported display driver / cuda driver combination", "    torch.cuda.init()")
        right, mild = ["node.driver"], ["ops.config_change", "code.version_mismatch", "code.exception"]
    elif v == "gpu_reset_person":
        m.sudo(t + 0.1, who, "/usr/bin/nvidia-smi --gpu-reset -i 0")
        m.kernel(t + 0.4, "NVRM: Xid (PCI:0000:3b:00): 45, pid=%d, name=python3, Ch 00000010" % m.pid)
        log.traceback(t + 1, "torch.AcceleratorError: CUDA error: unspecified launch failure", "    loss.backward()")
        right, mild = ["ops.manual_delete", "ops.config_change", "code.exception", "unknown"], ["hw.gpu", "node.driver"]
    elif v == "mps_quit":
        m.sudo(t + 0.1, who, "/bin/sh -c echo quit | nvidia-cuda-mps-control")
        log.traceback(t + 1, "torch.AcceleratorError: CUDA error: MPS client failed to connect to the MPS control daemon or the MPS server", "    loss.backward()")
        right, mild = ["ops.manual_delete", "ops.config_change", "node.driver", "code.exception"], ["hw.gpu"]
    else:
        near = t - c.between(1, 20)
        if v == "persistenced_restart_own":
            m.sudo(near, who, "/usr/bin/systemctl restart nvidia-persistenced")
        elif v == "dkms_build_own":
            m.log(near, "dkms", "nvidia/570.86.15, 6.8.0-50-generic, x86_64: installed")
        elif v == "gpu_reset_other_idle":
            m.sudo(near, who, "/usr/bin/nvidia-smi --gpu-reset -i 7")
        elif v == "modprobe_refused_own":
            m.sudo(near, who, "/usr/sbin/rmmod nvidia")
            m.kernel(near + 0.2, "NVRM: Attempting to remove device 0000:9b:00.0 with non-zero usage count!") if c.number % 2 else None
        elif v == "mig_change_person":
            m.sudo(near, who, "/usr/bin/nvidia-smi -i 7 -mig 1")
        else:
            m.sudo(near, who, "/usr/bin/nvidia-smi -q -d ECC")
        right, mild, actor = goes_away(c, m, log, t, c.pick("own", "oom_unit", "segv"))
        fail = False
    if fail:
        m.exit(t + 2.5, 1)
    c.expect(right, f"drivers: {v}", mild=mild, actor=actor)
    finish(c, m, log)


@family("n.lockup", "soft_then_panic hard_panic kdump_vmcore kdump_dmesg_file soft_recovered_own rcu_stall_recovered_completed hung_then_sysrq nmi_unknown_panic panic_other_boot_then_own oops_survived_own", 10)
def lockup(c):
    """Lockups, panics, kdump; and those that were survived."""
    m, log = vm(c)
    t, v, mild, actor, who = c.between(900, 1500), c.variant, [], None, c.pick(*PEOPLE)
    log.steps(1, t)
    if v == "soft_then_panic":
        m.kernel(t + 0.5, "watchdog: BUG: soft lockup - CPU#18 stuck for 23s! [kworker/18:1:%d]" % (m.pid + 3))
        m.kernel(t + 22, "Kernel panic - not syncing: softlockup: hung tasks")
        m.boots(t + 200)
        right = ["node.kernel_panic"]
    elif v == "hard_panic":
        m.kernel(t + 0.5, "NMI watchdog: Watchdog detected hard LOCKUP on cpu 18")
        m.kernel(t + 0.6, "Kernel panic - not syncing: Hard LOCKUP")
        m.boots(t + 200)
        right = ["node.kernel_panic"]
    elif v in ("kdump_vmcore", "kdump_dmesg_file"):
        m.dies(t + 0.5)
        m.boots(t + 240)
        m.log(t + 252, "kdump", "saving vmcore-dmesg.txt to /var/crash/127.0.0.1-2026-11-18/" if m.system.startswith("e") else "kdump-tools: saved vmcore in /var/crash/202611181203")
        m.log(t + 253, "kdump" if m.system.startswith("e") else "kdump-config", "saved vmcore" if c.number % 2 else "The kernel version is not supported. The makedumpfile operation may be incomplete. saving vmcore complete")
        right = ["node.kernel_panic"]
        mild = ["node.reboot", "unknown"]
        if v == "kdump_dmesg_file":
            up = t - m.booted
            c.write("gpu-07/vmcore-dmesg.txt", "".join(f"[{up + k:12.6f}] {text}\n" for k, text in (
                (-300.1, "perf: interrupt took too long (2514 > 2500), lowering kernel.perf_event_max_sample_rate to 79500"), (0.41, "BUG: unable to handle page fault for address: ffffb0c3c1a5f000"),
                (0.43, "Oops: 0002 [#1] PREEMPT SMP NOPTI"), (0.60, "Kernel panic - not syncing: Fatal exception"))))
        else:
            right = ["node.kernel_panic", "node.reboot", "unknown"]
    elif v == "hung_then_sysrq":
        m.kernel(t + 123, f"INFO: task python3:{m.pid} blocked for more than 120 seconds.")
        m.kernel(t + 400, "sysrq: Resetting")
        m.dies(t + 400.1)
        m.boots(t + 520)
        right, mild = ["node.reboot", "ops.manual_delete", "unknown", "hang.no_progress"], []
    elif v == "nmi_unknown_panic":
        m.kernel(t + 0.5, "Uhhuh. NMI received for unknown reason 3d on CPU 0.")
        m.kernel(t + 0.6, "Kernel panic - not syncing: NMI: Not continuing")
        m.boots(t + 200)
        right, mild = ["node.kernel_panic", "hw.board"], []
    else:
        early = t - c.between(60, 400)
        if v == "soft_recovered_own":
            m.kernel(early, "watchdog: BUG: soft lockup - CPU#18 stuck for 23s! [kworker/18:1:%d]" % (m.pid + 3))
        elif v == "rcu_stall_recovered_completed":
            m.kernel(early, "rcu: INFO: rcu_sched self-detected stall on CPU")
        elif v == "oops_survived_own":
            m.kernel(early, "BUG: kernel NULL pointer dereference, address: 0000000000000010")
            m.kernel(early + 0.1, "Oops: 0000 [#1] PREEMPT SMP NOPTI")
        elif v == "panic_other_boot_then_own":
            # The crash dump of the boot before.
            m.log(-1200, "kdump", "saved vmcore")
        right, mild, actor = goes_away(c, m, log, t, "completed" if v.endswith("completed") else "own")
    c.expect(right, f"lockups and dumps: {v}", mild=mild, actor=actor)
    finish(c, m, log)


@family("n.pcie", "fatal_link_down corrected_flood_own corrected_then_xid79 nonfatal_other_device fatal_other_device slot_power bert_after_power bert_old_then_own mce_after_boot row_remap_pending_own row_remap_failed_own replay_rollover_own", 10)
def pcie(c):
    """Errors of buses and boards, corrected ones among them; records of the previous boot that are told after it."""
    m, log = vm(c)
    t, v, mild, actor = c.between(900, 1500), c.variant, [], None
    log.steps(1, t)
    if v == "fatal_link_down":
        m.kernel(t + 0.1, "pcieport 0000:37:01.0: AER: Uncorrected (Fatal) error received: 0000:3b:00.0")
        m.kernel(t + 0.2, "pcieport 0000:37:01.0: pciehp: Slot(3): Link Down")
        m.xid(t + 0.4, 79)
        log.traceback(t + 3, "torch.AcceleratorError: CUDA error: unspecified launch failure", "    loss.backward()")
        m.exit(t + 3.5, 1)
        right = ["hw.pcie", "hw.gpu"]
    elif v == "corrected_then_xid79":
        for k in range(6):
            m.kernel(t - 300 + 45 * k, "pcieport 0000:37:01.0: AER: Corrected error received: 0000:3b:00.0")
        right, mild, actor = goes_away(c, m, log, t, "xid79")
        right = right + ["hw.pcie"]
    elif v in ("bert_after_power", "mce_after_boot"):
        m.dies(t + 0.3)
        m.boots(t + 240)
        if v == "bert_after_power":
            m.kernel(t + 240.5, "BERT: Error records from previous boot:")
            m.kernel(t + 240.6, "[Hardware Error]: event severity: fatal")
            m.kernel(t + 240.7, "[Hardware Error]:  Error 0, type: fatal")
            m.kernel(t + 240.8, "[Hardware Error]:   section_type: memory error")
            right, mild = ["hw.memory", "hw.board"], ["node.reboot", "unknown"]
        else:
            m.kernel(t + 240.5, "mce: [Hardware Error]: Machine check events logged")
            m.kernel(t + 240.6, "mce: [Hardware Error]: CPU 3: Machine Check: 0 Bank 5: bea00000000000000")
            right, mild = ["hw.board", "hw.memory", "node.reboot", "unknown"], []
    else:
        early = t - c.between(1, 30)
        if v in ("corrected_flood_own", "replay_rollover_own"):
            for k in range(6):
                m.kernel(early - 30 + 5 * k, "pcieport 0000:37:01.0: AER: Corrected error received: 0000:3b:00.0" if v[0] == "c" else "nvidia 0000:3b:00.0: PCIe Bus Error: severity=Corrected, type=Data Link Layer, (Transmitter ID)")
        elif v == "nonfatal_other_device":
            m.kernel(early, "pcieport 0000:00:1c.0: AER: Uncorrected (Non-Fatal) error received: 0000:02:00.0")
        elif v == "fatal_other_device":
            m.kernel(early, "pcieport 0000:00:1c.0: AER: Uncorrected (Fatal) error received: 0000:02:00.0")
            m.kernel(early + 0.2, "igb 0000:02:00.0 eno2: PCIe link lost, device now detached")
        elif v == "slot_power":
            m.kernel(early, "mlx5_core 0000:5c:00.0: mlx5_pcie_event:301:(pid 912): Detected insufficient power on the PCIe slot (27W).")
        elif v == "bert_old_then_own":
            m.kernel(-1400, "BERT: Error records from previous boot:")
            m.kernel(-1399.9, "[Hardware Error]: event severity: fatal")
        elif v == "row_remap_pending_own":
            m.kernel(early, "NVRM: Xid (PCI:0000:3b:00): 63, pid='<unknown>', name=<unknown>, Row Remapper: New row (0x00000000abcd1234) marked for remapping, reset gpu to activate.")
        elif v == "row_remap_failed_own":
            m.kernel(early, "NVRM: Xid (PCI:0000:9b:00): 64, pid='<unknown>', name=<unknown>, Row Remapper: remapping row failed")
            mild = ["hw.gpu_memory"]
        more = mild
        right, mild, actor = goes_away(c, m, log, t, "own")
        mild = mild + more
    c.expect(right, f"buses and boards: {v}", mild=mild, actor=actor)
    finish(c, m, log)


HARM = {
    "link_down": ("/usr/sbin/ip link set ibp92s0 down", ("torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2355, unhandled system error, NCCL version 2.21.5", "    dist.all_reduce(x)")),
    "ifdown": ("/usr/sbin/ifdown ibp92s0", ("torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2355, unhandled system error, NCCL version 2.21.5", "    dist.all_reduce(x)")),
    "rm_data": ("/usr/bin/rm -rf /scratch/shards", ("FileNotFoundError: [Errno 2] No such file or directory: '/scratch/shards/00412.tar'", "    with open(path, 'rb') as f:")),
    "iptables": ("/usr/sbin/iptables -A INPUT -p tcp --dport 29500 -j DROP", ("torch.distributed.DistNetworkError: The client socket has timed out after 600000ms while trying to connect to (10.0.0.7, 29500).", "    store.get(key)")),
    "chmod": ("/usr/bin/chmod -R go-rwx /ckpt", ("PermissionError: [Errno 13] Permission denied: '/ckpt/step-900.pt'", "    torch.save(state, path)")),
    "offline_mem": ("/usr/sbin/swapoff -a", None),
    "umount": ("/usr/bin/umount -l /nfs/data", ("FileNotFoundError: [Errno 2] No such file or directory: '/nfs/data/shards/00412.tar'", "    with open(path, 'rb') as f:")),
    "fill": ("/usr/bin/fallocate -l 3T /scratch/reserve.img", ("OSError: [Errno 28] No space left on device", "    torch.save(state, path)")),
    "pip": ("/usr/bin/pip install --upgrade torch", ("ImportError: /opt/conda/lib/python3.11/site-packages/torch/lib/libtorch_cuda.so: undefined symbol: ncclCommWindowRegister", "    import torch._dynamo")),
}


@family("n.harm", " ".join(HARM), 8)
def harm(c):
    """An admin's command breaks the run a second later: whose act it is must not be lost to a `supported` fault of a device."""
    m, log = vm(c)
    t, v, who = c.between(900, 1500), c.variant, c.pick(*PEOPLE)
    log.steps(1, t)
    command, error = HARM[v]
    m.sudo(t + 0.1, who, command)
    mild = ["dep.storage", "code.exception", "code.config_or_input", "dep.service", "dep.volume"]
    right = ["ops.manual_delete", "ops.config_change", "unknown", "code.exception", "code.config_or_input", "dep.storage", "dep.service"]
    if v in ("link_down", "ifdown"):
        m.link(t + 0.3, "ibp92s0", False)
        right, mild = ["ops.manual_delete", "ops.config_change", "unknown", "code.exception"], ["hw.nic", "hang.collective_timeout"]
    if v == "offline_mem":
        m.oom_own(t + 2, False)
        right, mild = ["node.system_oom", "code.host_oom"], []
    else:
        log.traceback(t + (600 if v == "iptables" else 2), *error)
        m.exit(t + (601 if v == "iptables" else 2.8), 1)
    c.expect(right, f"an admin's command that does harm: {v}", mild=mild)
    finish(c, m, log)


CALM = ("/usr/bin/systemctl daemon-reload", "/usr/bin/systemctl restart docker", "/usr/bin/systemctl restart nvidia-dcgm", "/usr/bin/journalctl --vacuum-size=1G", "/usr/bin/nvidia-smi -pm 1", "/usr/sbin/reboot --help",
        "/usr/bin/apt-get -y upgrade", "/usr/bin/ssh gpu-08 sudo reboot", "/usr/bin/ansible gpu-08 -b -m reboot", "/usr/bin/renice -n 5 -p {pid}", "/usr/bin/py-spy dump --pid {pid}", "/usr/bin/kill -0 {pid}",
        "/usr/bin/gdb -p {pid} -batch -ex bt", "/usr/bin/strace -p {pid} -c", "/usr/bin/kill -SIGUSR1 {pid}", "/usr/bin/kill -CONT {pid}", "/usr/bin/scontrol reboot gpu-09", "/usr/bin/systemctl status train", "/usr/bin/systemctl show train -p MainPID",
        "/usr/bin/systemctl reload train", "/usr/bin/systemctl enable train", "/usr/bin/systemctl edit train", "/usr/bin/systemctl cat reboot.target", "/usr/bin/tail -f /var/log/train/stop.log", "/usr/bin/virsh shutdown gpu-07-vm2",
        "/usr/bin/ipmitool -H gpu-08-bmc chassis power cycle", "/usr/bin/docker stop train-eval", "/usr/bin/systemctl stop train-exporter.service", "/usr/bin/systemctl stop train.timer", "/usr/bin/pdsh -w gpu-08 systemctl stop train",
        "/usr/bin/at -f reboot.sh 23:00", "/usr/sbin/shutdown -r 04:00", "/usr/bin/vim /etc/systemd/system/train.service", "/usr/bin/grep -r kill /home", "/usr/bin/less /var/log/syslog", "/usr/bin/cp train.log /tmp/killed")


@family("n.calm", "own bare killed oom_unit segv completed running", len(CALM))
def calm(c):
    """A person's act that ends nothing here, half a second to half a minute before the end."""
    m, log = vm(c)
    t, v, who, actor, mild = c.between(900, 1500), c.variant, c.pick(*PEOPLE), None, []
    command = CALM[c.number % len(CALM)].format(pid=m.pid)
    last = log.steps(1, t)
    m.sudo(t - c.pick(0.5, 2, 8, 30), who, command)
    if v == "running":
        last = log.steps(t, t + 60)
        right, mild = ["none.running"], ["unknown"]
    else:
        right, mild, actor = goes_away(c, m, log, t, v)
    c.expect(right, f"{command}, then {v}", mild=mild, actor=actor)
    finish(c, m, log, last + 3 if v == "running" else 4000)


@family("n.space", "zip_writer inode_df shm_bus tmp_full_other_user nfs_stale_reboot_of_server quota_ckpt enospc_then_person_frees_own io_uring_limit cuda_pinned_fail checkpoint_moved stale_survived_own", 8)
def space(c):
    """Full, stale, gone: what PyTorch and others say of it."""
    m, log = vm(c)
    t, v, mild, actor = c.between(900, 1500), c.variant, [], None
    log.steps(1, t)
    errors = {
        "zip_writer": ("RuntimeError: [enforce fail at inline_container.cc:603] . unexpected pos 56833600 vs 56833492", "    torch.save(state, path)", ["dep.storage"], ["code.exception"]),
        "inode_df": ("OSError: [Errno 28] No space left on device: '/scratch/tmp/lock-0412'", "    open(path, 'w')", ["dep.storage"], []),
        "shm_bus": ("RuntimeError: DataLoader worker (pid 4123) is killed by signal: Bus error. It is possible that dataloader's workers are out of shared memory. Please try to raise your shared memory limit.", "    batch = next(it)", ["code.data_loader", "code.config_or_input"], []),
        "quota_ckpt": ("OSError: [Errno 122] Disk quota exceeded: '/home/alice/ckpt/step-900.pt'", "    torch.save(state, path)", ["dep.storage"], []),
        "cuda_pinned_fail": ("RuntimeError: CUDA error: OS call failed or operation not supported on this OS", "    x = x.pin_memory()", OWN, ["hw.gpu", "node.driver", "code.config_or_input", "unknown"]),
        "io_uring_limit": ("OSError: [Errno 12] Cannot allocate memory", "    ring = io_uring.setup(4096)", OWN + ["code.host_oom"], ["node.system_oom"]),
        "checkpoint_moved": ("FileNotFoundError: [Errno 2] No such file or directory: '/ckpt/step-000800/model.pt'", "    state = torch.load(path)", OWN + ["code.config_or_input", "dep.storage"], []),
        "nfs_stale_reboot_of_server": ("OSError: [Errno 116] Stale file handle: '/nfs/data/shard-000412.tar'", "    with open(path, 'rb') as f:", ["dep.storage"], []),
    }
    if v in errors:
        error, where, right, mild = errors[v]
        if v == "nfs_stale_reboot_of_server":
            m.kernel(t - 90, "nfs: server 10.0.0.9 not responding, still trying")
            m.kernel(t - 5, "nfs: server 10.0.0.9 OK")
        log.traceback(t + 0.2, error, where)
        m.exit(t + 0.9, 1)
    else:
        if v == "tmp_full_other_user":
            m.log(t - 10, "rsyslogd", "file '/var/log/debug': write error - see https://www.rsyslog.com/solving-rsyslog-write-errors/ for help OS error: No space left on device [v8.2112.0]")
        elif v == "enospc_then_person_frees_own":
            log.say(t - 300, "checkpoint failed: [Errno 28] No space left on device, will retry at the next interval", "WARNING")
            m.sudo(t - 250, c.pick(*PEOPLE), "/usr/bin/rm -rf /scratch/old")
            log.say(t - 100, "saved checkpoint to /scratch/ckpt/step-000880")
        else:
            log.say(t - 200, "OSError: [Errno 116] Stale file handle: '/nfs/data/shard-000412.tar', reopening", "WARNING")
        right, mild, actor = goes_away(c, m, log, t, c.pick("own", "segv", "oom_unit"))
    c.expect(right, f"storage: {v}", mild=mild, actor=actor)
    finish(c, m, log)


@family("n.two_minutes", "xid94_then_own nfs_ok_then_oom link_flap_then_own lockup_then_reboot xid79_idle_then_stop oom_worker_then_panic ecc_then_segv disk_other_then_poweroff thermal_then_own thermal_then_power nccl_warn_then_oom", 10)
def two_minutes(c):
    """Two troubles minutes apart, steps between them: the second ended it."""
    m, log = vm(c)
    t, v = c.between(1200, 1800), c.variant
    early = t - c.between(100, 420)
    first, then = v.split("_then_")
    log.steps(1, t)
    if first == "xid94":
        m.xid(early, 94, "0000:9b:00", m.pid + 900, "eval.py")
    elif first == "nfs_ok":
        m.kernel(early, "nfs: server 10.0.0.9 not responding, still trying")
        m.kernel(early + 9, "nfs: server 10.0.0.9 OK")
    elif first == "link_flap":
        m.link(early, "ibp92s0", False)
        m.link(early + 4, "ibp92s0", True)
    elif first == "lockup":
        m.kernel(early, f"watchdog: BUG: soft lockup - CPU#18 stuck for 23s! [kworker/18:1:{m.pid + 3}]")
    elif first == "xid79_idle":
        m.xid(early, 79, "0000:db:00")
    elif first == "oom_worker":
        m.oom(early, "pt_data_worker", m.pid + 41, "/system.slice/train.service", "/system.slice/train.service")
    elif first == "ecc":
        m.kernel(early, "EDAC MC0: 1 CE memory read error on CPU_SrcID#0_Ha#0_Chan#1_DIMM#0 (channel:1 slot:0)")
    elif first == "disk_other":
        m.kernel(early, "blk_update_request: I/O error, dev sdf, sector 104 op 0x0:(READ) flags 0x0")
    elif first == "thermal":
        m.kernel(early, "mce: CPU12: Core temperature above threshold, cpu clock throttled (total events = 1)")
    else:
        log.say(early, "NCCL WARN NET/IB : Got async event : port error", "WARNING")
    right, mild, actor = goes_away(c, m, log, t, {"oom": "oom_unit"}.get(then, then))
    if first == "thermal" and then == "power":
        right = right + ["hw.thermal", "hw.power"]
    c.expect(right, f"two troubles: {v}", mild=mild, actor=actor)
    finish(c, m, log)
