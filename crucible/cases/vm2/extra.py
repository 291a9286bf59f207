"""Long runs, logs that several runs wrote, GPUs' sequences, consoles, acts of clouds on behalf of somebody, jobs on cloud machines, folders that are nobody's."""

import json

from clouds import guest
from kit import NOBODY, OWN, PEOPLE, bystander, down_quietly, family, finish, goes_away, vm
from world import Aws, Azure, Case, Gce, Machine, OWN_ERRORS, Slurm, Train, iso, rfc1123

DAY = 86400


@family("d.days", "own bare killed oom_unit reboot poweroff panic stop segv completed", 10)
def days(c):
    """A run of two days; the machine's yearless or dated journal in three files; the days before had the same hours."""
    c.form = ("syslog", "rsyslog", "short-iso", "syslog", "json")[c.number % 5]
    m = Machine(c)
    log = Train(c, f"{m.folder}/train.log", form=c.pick("logging", "iso", "iter"), step=600)
    end = 2 * DAY + c.between(1000, 9000)
    m.noise(-1 * DAY, end + 2000, every=3000)
    # The same minute on the days before: somebody stopped another run of it, or the machine went down before this one.
    who = c.pick(*PEOPLE)
    old = end - 3 * DAY
    kind = c.pick("reboot", "stop", "panic")
    if kind == "stop":
        m.start(old - 5000)
        m.sudo(old, who, "/usr/bin/systemctl stop train")
        m.stop(old + 0.3)
    elif kind == "reboot":
        m.sudo(old, who, "/usr/sbin/reboot")
        down_quietly(m, old + 1)
        m.boots(old + 100)
    else:
        m.kernel(old, "Kernel panic - not syncing: Fatal exception in interrupt")
        m.boots(old + 200)
    m.start(0)
    log.begin(1, m.pid)
    log.steps(1, end - 620)
    log.every = 20
    log.steps(end - 600, end)
    right, mild, actor = goes_away(c, m, log, end, c.variant)
    bystander(c, m, end - DAY, c.pick("xid31", "link", "oom_other", "kill_other", "refused"))
    log.save()
    m.save()
    if c.number % 2:
        path = next(one for one in c.files if "train.log" not in one)
        if m.form != "json":
            lines = c.files.pop(path).splitlines(True)
            cuts = [len(lines) // 3, 2 * len(lines) // 3]
            c.write(f"{path}.2", "".join(lines[:cuts[0]]))
            c.write(f"{path}.1", "".join(lines[cuts[0]:cuts[1]]))
            c.write(path, "".join(lines[cuts[1]:]))
    c.expect(right, f"a run of two days, then {c.variant}", mild=mild, actor=actor)


@family("d.appended", "own_then_completed reboot_then_own stop_then_oom completed_then_reboot own_then_running oom_then_stop panic_then_own completed_then_own", 10)
def appended(c):
    """One log that two runs of a service wrote, half a day apart: the newest is asked about."""
    c.form = ("rsyslog", "syslog", "short-iso", "json", "short-iso-precise")[c.number % 5]
    m, log = vm(c, step=5)
    first, _, then = c.variant.partition("_then_")
    kind = {"oom": "oom_unit"}
    t = c.between(500, 900)
    log.steps(1, t)
    goes_away(c, m, log, t, kind.get(first, first))
    start = t + 40000
    m.start(start)
    m.pid += 900
    log.begin(start + 1.2, m.pid)
    log.number = 0
    end = start + c.between(500, 900)
    log.steps(start + 2, end)
    if then == "running":
        right, mild, actor = ["none.running"], ["unknown"], None
        m.log(end + 1, "sshd", "Accepted publickey for alice from 10.0.0.4 port 50122 ssh2", 41002)
    else:
        right, mild, actor = goes_away(c, m, log, end, kind.get(then, then))
    c.expect(right, f"two runs in one log: {c.variant}", mild=mild, actor=actor)
    m.noise(5, end if then == "running" else end + 500, every=900)
    m.save()
    log.save()


@family("x.gpu", "killed_then_45 stop_then_45 own_13 own_31_43 x63_before_own x92_before_own x79_idle_gpu_long x79_then_silent_then_reboot survived79_then_reboot x79_then_panic sxid_survived ib_flap_then_nccl ecc_row_remap_then_own "
        "thermal_then_own power_brake_then_own x119_then_silent_then_stop x48_other_pid_then_own fallen_after_reboot x154_after", 8)
def gpu(c):
    """What the driver says before, at and after the end."""
    m, log = vm(c, step=5)
    t, v, mild, actor, who = c.between(1300, 1800), c.variant, [], None, c.pick(*PEOPLE)
    def xid(t, code, words, pid=None, name="python3", pci="0000:3b:00"):
        who = f"pid={pid}, name={name}" if pid else "pid='<unknown>', name=<unknown>"
        m.kernel(t, f"NVRM: Xid (PCI:{pci}): {code}, {who}, {words}")
    PRE = "Ch 00000008" 
    if v in ("killed_then_45", "stop_then_45"):
        # The driver tears down the channels of a process that is gone: an effect.
        log.steps(1, t)
        if v == "stop_then_45":
            m.sudo(t + 0.2, who, "/usr/bin/systemctl stop train")
            m.log(t + 0.3, "systemd", f"Stopping {m.named('train', 'LLM training')}...")
            right, actor = ["ops.manual_delete"], [who]
        else:
            right, mild = ["unknown"], ["code.host_oom", "node.system_oom", "ops.manual_delete", "code.exception", "hw.gpu"]
        for n in range(3):
            xid(t + 0.5 + n / 50, 45, f"Ch 0000000{n}", m.pid)
        m.exit(t + 1, -15 if v == "stop_then_45" else -9)
    elif v in ("own_13", "own_31_43"):
        log.steps(1, t)
        if v == "own_13":
            xid(t + 0.1, 13, "Graphics SM Warp Exception on (GPC 0, TPC 1, SM 0): Out Of Range Address", m.pid)
        else:
            xid(t + 0.1, 31, "Ch 00000008, intr 00000000. MMU Fault: ENGINE GRAPHICS GPCCLIENT_T1_0 faulted @ 0x7f2a_00000000. Fault is of type FAULT_PDE ACCESS_TYPE_VIRT_READ", m.pid)
            xid(t + 0.2, 43, "Ch 00000008", m.pid)
        log.traceback(t + 1, "torch.AcceleratorError: CUDA error: an illegal memory access was encountered", "    loss.backward()")
        m.exit(t + 1.5, 1)
        right, mild = ["code.exception"], ["hw.gpu"]
    elif v in ("x63_before_own", "x92_before_own", "ecc_row_remap_then_own"):
        code, words = {"x63_before_own": (63, "Row Remapper: New row marked for remapping, reset gpu to activate."), "x92_before_own": (92, "High single-bit ECC error rate"), "ecc_row_remap_then_own": (94, "Contained: SM (0x1). RST: No, D-RST: No")}[v]
        xid(t - 600, code, words, m.pid + 4000, "old_job.py")
        log.steps(1, t)
        log.traceback(t + 0.2, *c.pick(*OWN_ERRORS))
        m.exit(t + 0.7, 1)
        right = OWN
    elif v == "x79_idle_gpu_long":
        m.xid(t - 1000, 79, "0000:9b:00")
        log.steps(1, t)
        m.exit(t + 0.5, -9)
        right, mild = ["unknown"], ["hw.gpu", "code.host_oom", "ops.manual_delete", "node.system_oom", "code.exception"]
    elif v in ("x79_then_silent_then_reboot", "x119_then_silent_then_stop"):
        # Steps stop in the moment of the fault; somebody acts half an hour later.
        log.steps(1, t)
        m.xid(t + 1, 79 if v.startswith("x79") else 119)
        later = t + c.between(900, 1700)
        if v.endswith("reboot"):
            m.sudo(later, who, "/usr/sbin/reboot")
            m.goes_down(later + 0.8)
            m.boots(later + 200)
        else:
            m.sudo(later, who, "/usr/bin/systemctl stop train")
            m.stop(later + 0.3)
        right, mild = ["hw.gpu"], ["node.reboot", "ops.manual_delete"]
    elif v == "survived79_then_reboot":
        m.xid(t - 400, 79, "0000:9b:00")
        log.steps(1, t)
        right, mild, actor = goes_away(c, m, log, t, "reboot")
    elif v == "x79_then_panic":
        log.steps(1, t)
        m.xid(t + 0.2, 79)
        m.kernel(t + 0.9, "Kernel panic - not syncing: Fatal hardware error!")
        m.boots(t + 200)
        right = ["hw.gpu", "node.kernel_panic"]
    elif v == "sxid_survived":
        m.kernel(t - 300, "nvidia-nvswitch3: SXid (PCI:0000:a9:00.0): 12028, Non-fatal, Link 32 egress non-posted PRIV error (First)")
        log.steps(1, t)
        log.traceback(t + 0.2, *c.pick(*OWN_ERRORS))
        m.exit(t + 0.7, 1)
        right = OWN
    elif v == "ib_flap_then_nccl":
        log.steps(1, t)
        m.link(t + 0.5, "ibp92s0", False)
        m.link(t + 4.5, "ibp92s0", True)
        log.traceback(t + 12, "torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2355, unhandled system error\nNET/IB : Got completion from peer 10.0.0.8<51514> with status=12 opcode=0 len=0 vendor err 129", "    dist.all_reduce(x)")
        m.exit(t + 13, 1)
        right = ["hw.nic"]
    elif v in ("thermal_then_own", "power_brake_then_own"):
        m.log(t - 20, "nvidia-dcgm", "GPU 3 clocks event reason: SW thermal slowdown" if v.startswith("thermal") else "GPU 3 clocks event reason: HW power brake slowdown")
        m.kernel(t - 10, "mce: CPU14: Package temperature above threshold, cpu clock throttled (total events = 412)")
        log.steps(1, t)
        log.traceback(t + 0.2, *c.pick(*OWN_ERRORS))
        m.exit(t + 0.7, 1)
        right = OWN
    elif v == "x48_other_pid_then_own":
        log.steps(1, t)
        xid(t - 4, 48, "DBE (double bit error) detected at 0x0", m.pid + 4444, "jupyter-lab", "0000:9b:00")
        log.traceback(t + 0.2, *c.pick(*OWN_ERRORS))
        m.exit(t + 0.7, 1)
        right = OWN
    elif v == "fallen_after_reboot":
        # The GPU does not come back after somebody's reboot.
        log.steps(1, t)
        right, mild, actor = goes_away(c, m, log, t, "reboot")
        m.xid(t + 230, 79)
        m.kernel(t + 231, "NVRM: RmInitAdapter failed! (0x22:0x40:699)")
    else:
        log.steps(1, t)
        log.traceback(t + 0.2, *c.pick(*OWN_ERRORS))
        m.exit(t + 0.7, 1)
        xid(t + 3, 154, "GPU recovery action changed from 0x0 (None) to 0x1 (GPU Reset Required)")
        right = OWN
    c.expect(right, "the driver's records", mild=mild, actor=actor)
    finish(c, m, log, t + 2500 if "silent" in v else t + 500)


@family("x.hang", "steps_stop_then_reboot steps_stop_then_stop nfs_then_stop nfs_ok_then_stop nccl_watchdog_then_stop steps_stop_limit steps_go_then_stop nfs_then_panic lustre_evicted_then_own", 8)
def hang(c):
    """Steps stop, with or without a reason; somebody acts later."""
    m, log = vm(c, step=5)
    t, v, mild, actor, who = c.between(1300, 1800), c.variant, [], None, c.pick(*PEOPLE)
    log.steps(1, t)
    later = t + c.between(900, 1700)
    if v == "steps_stop_then_reboot":
        m.sudo(later, who, "/usr/sbin/reboot")
        m.goes_down(later + 0.8)
        m.boots(later + 200)
        right, mild = ["hang.no_progress", "unknown", "hang.watchdog", "hang.collective_timeout"], ["node.reboot"]
        right += ["node.reboot"]
        actor = None
    elif v == "steps_stop_then_stop":
        m.sudo(later, who, "/usr/bin/systemctl stop train")
        m.stop(later + 0.3)
        right = ["hang.no_progress", "unknown", "hang.watchdog", "ops.manual_delete"]
    elif v in ("nfs_then_stop", "nfs_ok_then_stop"):
        m.kernel(t + 1, "nfs: server 10.0.0.9 not responding, still trying")
        if v == "nfs_ok_then_stop":
            m.kernel(t + 60, "nfs: server 10.0.0.9 OK")
            log.steps(t + 61, later)
            right, actor = ["ops.manual_delete"], [who]
        else:
            right = ["dep.storage"]
        m.sudo(later, who, "/usr/bin/systemctl stop train")
        m.stop(later + 0.3)
    elif v == "nccl_watchdog_then_stop":
        log.say(t + 600, "[rank0]: Watchdog caught collective operation timeout: WorkNCCL(SeqNum=4711, OpType=ALLREDUCE, NumelIn=1048576, NumelOut=1048576, Timeout(ms)=600000) ran for 600012 milliseconds before timing out.", "ERROR")
        m.sudo(t + 700, who, "/usr/bin/systemctl stop train")
        m.stop(t + 700.3)
        right = ["hang.collective_timeout"]
    elif v == "steps_stop_limit":
        m.log(later, "systemd", "train.service: Service reached runtime time limit. Stopping.")
        m.exit(later + 1, -15)
        right = ["hang.no_progress", "code.deadline", "unknown"]
    elif v == "steps_go_then_stop":
        log.steps(t, later)
        m.sudo(later, who, "/usr/bin/systemctl stop train")
        m.stop(later + 0.3)
        right, actor = ["ops.manual_delete"], [who]
    elif v == "nfs_then_panic":
        m.kernel(t + 1, "nfs: server 10.0.0.9 not responding, still trying")
        m.kernel(t + 130, f"INFO: task python3:{m.pid} blocked for more than 120 seconds.")
        m.kernel(later, "Kernel panic - not syncing: hung_task: blocked tasks")
        m.boots(later + 200)
        right = ["dep.storage", "node.kernel_panic"]
    else:
        m.kernel(t - 500, "LustreError: 167-0: lab-MDT0000-mdc: This client was evicted by lab-MDT0000; in progress operations using this service will fail.")
        log.traceback(t + 0.2, *c.pick(*OWN_ERRORS))
        m.exit(t + 0.7, 1)
        right = OWN
    c.expect(right, "steps that stop", mild=mild, actor=actor)
    finish(c, m, log, later + 300)


@family("x.console", "panic_serial panic_serial_other oom_serial panic_serial_before panic_serial_after", 6)
def console(c):
    """A kernel's last words only on the serial console, in Cloud Logging."""
    g = Gce(c, "trainer-vm-8")
    g.call(-900, "insert", "alice@lab.example", 20)
    log = Train(c, f"{g.vm}/train.log")
    log.begin(1)
    t, v, mild = c.between(1000, 1600), c.variant, []
    def serial(t, text, vm=None, id=None):
        g.put("gcp.jsonl", {"textPayload": f"[ {t + 900:.6f}] {text}\r", "insertId": g.hex(12), "resource": {"type": "gce_instance", "labels": {"zone": "us-central1-a", "instance_id": id or g.id, "project_id": "lab-train"}},
                            "timestamp": g.z(t, 6), "labels": {"compute.googleapis.com/resource_name": vm or g.vm}, "logName": "projects/lab-train/logs/serialconsole.googleapis.com%2Fserial_port_1_output", "receiveTimestamp": g.z(t + 1, 6)})
    log.steps(1, t)
    if v == "panic_serial":
        serial(t + 0.3, "BUG: unable to handle page fault for address: ffffb0c3c1a5f000")
        serial(t + 0.6, "Kernel panic - not syncing: Fatal exception")
        right = ["node.kernel_panic"]
    elif v == "oom_serial":
        serial(t + 0.3, "Out of memory: Killed process 4711 (python3) total-vm:57140802kB, anon-rss:28570401kB, file-rss:12kB, shmem-rss:0kB, UID:1000 pgtables:2144kB oom_score_adj:0")
        right, mild = ["node.system_oom", "code.host_oom"], ["unknown", "none.running"]
    else:
        if v == "panic_serial_other":
            serial(t - 1, "Kernel panic - not syncing: Fatal exception", "trainer-vm-80", "7" * 16)
        elif v == "panic_serial_before":
            serial(-800, "Kernel panic - not syncing: Fatal exception")
        else:
            serial(t + 120, "Kernel panic - not syncing: Fatal exception")
        log.traceback(t + 0.2, *c.pick(*OWN_ERRORS))
        right = OWN
    log.save()
    g.save()
    c.expect(right, "a serial console", mild=mild, asked=g.vm)


@family("x.aws2", "create_image_reboots create_image_noreboot ssm_reboot ssm_other lambda_stop cfn_delete hibernate status_impaired_recovered spot_warning_then_user_terminates spot_warning_survived asg_refresh asg_desired_other_instance "
        "stop_failed_state terminate_protection_then_own two_accounts detach_volume", 8)
def aws2(c):
    a = Aws(c)
    m, log = guest(c, a.dns, a.id if c.number % 2 else a.dns)
    t, v, mild, actor, who = c.between(1100, 1700), c.variant, [], None, c.pick(*PEOPLE)
    state, reason, transition = "running", None, ""
    stamp = c.at(t + 1).strftime("%Y-%m-%d %H:%M:%S GMT")
    user = ("Client.UserInitiatedShutdown", "Client.UserInitiatedShutdown: User initiated shutdown")
    log.steps(1, t)
    if v.startswith("create_image"):
        a.trail(t + 0.5, "CreateImage", who, more={"instanceId": a.id, "name": "golden", "noReboot": v.endswith("noreboot")})
        if v.endswith("noreboot"):
            right, mild, actor = goes_away(c, m, log, t + 2, "own")
        else:
            m.goes_down(t + 4)
            m.boots(t + 60)
            right, mild = ["ops.manual_delete", "node.reboot"], ["unknown"]
    elif v in ("ssm_reboot", "ssm_other"):
        a.trail(t + 0.2, "SendCommand", who, more={"documentName": "AWS-RunShellScript", "instanceIds": [a.id if v == "ssm_reboot" else "i-0aaaaaaaaaaaaaaaa"], "parameters": "HIDDEN_DUE_TO_SECURITY_REASONS"})
        a.entries["cloudtrail.json"][-1]["eventSource"] = "ssm.amazonaws.com"
        if v == "ssm_reboot":
            m.goes_down(t + 3)
            m.boots(t + 60)
            right = ["node.reboot", "ops.manual_delete"]
        else:
            right, mild, actor = goes_away(c, m, log, t, "own")
    elif v == "lambda_stop":
        a.trail(t + 0.5, "StopInstances", role="nightly-stopper")
        m.goes_down(t + 1.5, "poweroff")
        state, reason, transition = "stopped", user, f"User initiated ({stamp})"
        right, actor = ["ops.manual_delete", "cloud.instance_terminated"], ["nightly-stopper"]
    elif v == "cfn_delete":
        a.trail(t + 0.5, "TerminateInstances", who)
        a.entries["cloudtrail.json"][-1]["userIdentity"]["invokedBy"] = "cloudformation.amazonaws.com"
        a.entries["cloudtrail.json"][-1]["sourceIPAddress"] = "cloudformation.amazonaws.com"
        m.dies(t + 1)
        state, reason, transition = "terminated", user, f"User initiated ({stamp})"
        right, actor = ["ops.manual_delete"], [who]
    elif v == "hibernate":
        a.trail(t + 0.5, "StopInstances", who, more={"instancesSet": {"items": [{"instanceId": a.id}]}, "hibernate": True})
        m.dies(t + 2)
        state, reason, transition = "stopped", ("Client.UserInitiatedHibernate", "Client.UserInitiatedHibernate: User initiated hibernate"), f"User initiated ({stamp})"
        right, actor = ["ops.manual_delete"], [who]
    elif v == "status_impaired_recovered":
        a.bridge(t - 400, "AWS Health Event", "aws.health", {"eventArn": f"arn:aws:health:us-east-1::event/EC2/AWS_EC2_OPERATIONAL_ISSUE/{a.uuid()}", "service": "EC2", "eventTypeCode": "AWS_EC2_OPERATIONAL_ISSUE", "eventTypeCategory": "issue",
                 "startTime": rfc1123(c.at(t - 400)), "endTime": rfc1123(c.at(t - 100)), "eventDescription": [{"language": "en_US", "latestDescription": "Increased API error rates."}], "affectedEntities": []})
        right, mild, actor = goes_away(c, m, log, t, "own")
    elif v in ("spot_warning_then_user_terminates", "spot_warning_survived"):
        if v.endswith("terminates"):
            a.trail(t + 0.5, "TerminateInstances", who)
            m.dies(t + 1)
            a.bridge(t + 30, "EC2 Spot Instance Interruption Warning", "aws.ec2", {"instance-id": "i-0bbbbbbbbbbbbbbbb", "instance-action": "terminate"})
            state, reason, transition = "terminated", user, f"User initiated ({stamp})"
            right, actor = ["ops.manual_delete"], [who]
        else:
            a.bridge(t - 500, "EC2 Instance Rebalance Recommendation", "aws.ec2", {"instance-id": a.id})
            right, mild, actor = goes_away(c, m, log, t, c.pick("own", "oom_unit", "stop"))
    elif v == "asg_refresh":
        a.activity(t + 1, f"At {a.z(t)} an instance was taken out of service in response to an instance refresh.")
        m.goes_down(t + 2, "poweroff")
        state, reason, transition = "terminated", user, f"User initiated ({stamp})"
        right = ["ops.node_upgrade", "cloud.instance_terminated", "ops.scale_down", "ops.config_change"]
    elif v == "asg_desired_other_instance":
        a.trail(t - 60, "SetDesiredCapacity", who, more={"autoScalingGroupName": "train-asg", "desiredCapacity": 3})
        a.put("asg-activities.json", {"ActivityId": a.uuid(), "AutoScalingGroupName": "train-asg", "Cause": f"At {a.z(t - 60)} a user request explicitly set group desired capacity changing the desired capacity from 4 to 3. At {a.z(t - 50)} instance i-0bbbbbbbbbbbbbbbb was selected for termination.", "StatusCode": "Successful",
                                      "Progress": 100, "Description": "Terminating EC2 instance: i-0bbbbbbbbbbbbbbbb", "StartTime": a.z(t - 50, 3), "EndTime": a.z(t + 10), "Details": "{}"})
        right, mild, actor = goes_away(c, m, log, t, c.pick("own", "oom_unit"))
    elif v == "stop_failed_state":
        a.trail(t - 3, "StopInstances", who, error=("Client.IncorrectInstanceState", "The instance is not in a state from which it can be stopped."))
        right, mild, actor = goes_away(c, m, log, t, c.pick("own", "oom_unit", "killed"))
    elif v == "terminate_protection_then_own":
        a.trail(t - 3, "ModifyInstanceAttribute", who, more={"instanceId": a.id, "disableApiTermination": {"value": True}})
        right, mild, actor = goes_away(c, m, log, t, "own")
    elif v == "two_accounts":
        a.trail(t - 2, "TerminateInstances", who, ids=[a.id[:-2]])
        right, mild, actor = goes_away(c, m, log, t, c.pick("own", "killed"))
    else:
        a.trail(t, "DetachVolume", who, more={"volumeId": "vol-0123456789abcdef0", "instanceId": a.id, "device": "/dev/sdf", "force": True})
        m.kernel(t + 1, "blk_update_request: I/O error, dev nvme1n1, sector 204800 op 0x0:(READ) flags 0x80700")
        log.traceback(t + 2, "OSError: [Errno 5] Input/output error: '/scratch/shard-000412.tar'", "    with open(path, 'rb') as f:")
        m.exit(t + 2.6, 1)
        right, mild = ["ops.manual_delete", "dep.storage", "dep.volume", "hw.disk", "ops.config_change"], []
    a.instance(-1000, state, reason, transition)
    m.noise(5, t)
    m.save()
    log.save()
    a.save()
    c.expect(right, f"{v} of an instance", mild=mild, actor=actor, asked="exp-1")


@family("x.az2", "autoshutdown automation_guid resize_write update_extension_then_own vmss_delete spot_health guest_user_stop_in_portal health_user_initiated restart_failed_then_done deallocate_twice terminate_sched_user policy_denied namesake_rg case_differs", 8)
def az2(c):
    z = Azure(c, "trainer-vm-3")
    m, log = guest(c, z.vm, z.vm)
    t, v, mild, actor, who = c.between(1100, 1700), c.variant, [], None, c.pick(*PEOPLE) + "@lab.example"
    log.steps(1, t)
    if v == "autoshutdown":
        sub = z.res.split("/providers")[0]
        z.entry(t - 2, "Administrative", "Microsoft.DevTestLab/schedules/execute/action", "Started", "lab-dtl", {}, z.uuid(), res=f"{sub}/providers/Microsoft.DevTestLab/schedules/shutdown-computevm-{z.vm}")
        z.call(t + 0.5, "deallocate/action", "12345678-9abc-4def-8123-456789abcdef")
        m.goes_down(t + 1, "poweroff")
        right = ["ops.manual_delete", "cloud.instance_terminated", "node.shutdown", "ops.scale_down"]
    elif v == "automation_guid":
        z.call(t + 0.5, "deallocate/action", "12345678-9abc-4def-8123-456789abcdef")
        m.dies(t + 1)
        right = ["ops.manual_delete", "cloud.instance_terminated"]
    elif v == "resize_write":
        z.call(t + 0.5, "write", who)
        m.goes_down(t + 2)
        m.boots(t + 90)
        right, mild = ["node.reboot", "ops.manual_delete", "ops.config_change"], []
    elif v == "update_extension_then_own":
        z.call(t - 10, "extensions/write", who)
        right, mild, actor = goes_away(c, m, log, t, c.pick("own", "killed", "oom_unit"))
    elif v == "vmss_delete":
        sub = z.res.split("/virtualMachines")[0]
        z.entry(t - 1, "Administrative", "Microsoft.Compute/virtualMachineScaleSets/delete/action", "Started", who, {"requestbody": '{"instanceIds":["7"]}'}, z.uuid(), res=f"{sub}/virtualMachineScaleSets/other-set")
        right, mild, actor = goes_away(c, m, log, t, c.pick("own", "killed"))
    elif v == "spot_health":
        m.dies(t)
        z.health(t + 20, "PlatformInitiated", "Unplanned", "Evicted", "This Spot virtual machine was evicted.")
        right = ["cloud.spot_reclaimed", "cloud.host_error", "cloud.instance_terminated"]
    elif v in ("guest_user_stop_in_portal", "health_user_initiated"):
        z.call(t + 0.5, "powerOff/action", who)
        m.goes_down(t + 1.2, "poweroff")
        z.health(t + 40, "UserInitiated", "Unplanned", "Stopped by user or process", "This virtual machine is stopped as requested by an authorized user or process running inside the virtual machine.")
        right, actor = ["ops.manual_delete"], [who]
        if v == "health_user_initiated":
            # Without the activity: health alone, and the guest's person.
            z.entries["azure.json"] = z.entries["azure.json"][3:]
            short = who.split("@")[0]
            m.sudo(t + 0.3, short, "/usr/sbin/poweroff")
            right, actor = ["node.shutdown", "ops.manual_delete"], [short]
    elif v == "restart_failed_then_done":
        z.call(t - 60, "restart/action", "erin@lab.example", 5, failed=True)
        z.call(t + 0.5, "restart/action", who)
        m.dies(t + 1)
        m.boots(t + 70)
        right, actor = ["ops.manual_delete"], [who]
    elif v == "deallocate_twice":
        z.call(t + 0.5, "deallocate/action", who)
        z.call(t + 30, "deallocate/action", "zoe@lab.example")
        m.dies(t + 1.2)
        right, actor = ["ops.manual_delete"], [who]
    elif v == "terminate_sched_user":
        z.scheduled(t - 20, "Terminate", "Started", source="User")
        z.call(t + 0.5, "delete", who)
        m.dies(t + 1)
        right, actor = ["ops.manual_delete"], [who]
    elif v == "policy_denied":
        z.entry(t - 2, "Policy", "Microsoft.Authorization/policies/deny/action", "Failed", who, {"policies": "[]"}, z.uuid(), "Error")
        right, mild, actor = goes_away(c, m, log, t, c.pick("own", "killed"))
    elif v == "namesake_rg":
        z.call(t - 2, "deallocate/action", who, res=z.res.replace("rg-train", "rg-other"))
        right, mild, actor = goes_away(c, m, log, t, c.pick("own", "oom_unit"))
    else:
        z.res = z.res.upper().replace("/SUBSCRIPTIONS/", "/subscriptions/")
        z.call(t + 0.5, "deallocate/action", who)
        z.res = z.res.lower().replace("virtualmachines", "virtualMachines").replace("resourcegroups", "resourceGroups").replace("microsoft.compute", "Microsoft.Compute")
        m.dies(t + 1)
        right, actor = ["ops.manual_delete"], [who]
    z.machine()
    m.noise(5, t)
    m.save()
    log.save()
    z.save()
    c.expect(right, f"{v} of a machine of Azure", mild=mild, actor=actor, asked=z.vm)


@family("x.gce2", "mig_autoheal mig_resize_person mig_resize_other set_machine_type_off resume_then_own schedule_stop_other perform_maintenance migrate_then_host_error preempt_then_restart_own host_error_then_running guest_terminate_unknown delete_by_terraform stop_denied_then_stop old_id_host_error recommender", 8)
def gce2(c):
    g = Gce(c, "trainer-vm-8")
    g.call(-900, "insert", "alice@lab.example", 20)
    m, log = guest(c, g.vm, g.vm)
    t, v, mild, actor, who = c.between(1100, 1700), c.variant, [], None, c.pick(*PEOPLE) + "@lab.example"
    if v not in ("resume_then_own", "preempt_then_restart_own", "host_error_then_running"):
        log.steps(1, t)
    if v == "mig_autoheal":
        g.entry(t + 1, "compute.instances.repair.recreateInstance", "system_event", {"principalEmail": "system@google.com"}, {"payload": {"status": {"message": "Instance Group Manager 'train-mig' initiated recreateInstance on instance 'trainer-vm-8'. Reason: instance's health status UNHEALTHY"}}, "operation": {"id": f"repair-{g.hex(20)}", "producer": "compute.instances.repair.recreateInstance", "first": True, "last": True}}, "INFO")
        g.call(t + 2, "delete", "123456789012@cloudservices.gserviceaccount.com", 30, agent="GCE Managed Instance Group")
        m.dies(t + 5)
        right = ["cloud.instance_terminated", "ops.manual_delete", "ops.node_upgrade", "cloud.host_error", "ops.scale_down"]
    elif v in ("mig_resize_person", "mig_resize_other"):
        mig = "train-mig" if v.endswith("person") else "web-mig"
        g.entry(t - 4, "v1.compute.instanceGroupManagers.resize", "activity", {"principalEmail": who}, {"payload": {"request": {"@type": "type.googleapis.com/compute.instanceGroupManagers.resize", "size": "2"}}, "operation": {"id": "operation-1", "producer": "compute.googleapis.com", "first": True}})
        g.entries["gcp.jsonl"][-1]["protoPayload"]["resourceName"] = f"projects/lab-train/zones/us-central1-a/instanceGroupManagers/{mig}"
        g.entries["gcp.jsonl"][-1]["resource"] = {"type": "gce_instance_group_manager", "labels": {"zone": "us-central1-a", "instance_group_manager_name": mig, "project_id": "lab-train"}}
        if v.endswith("person"):
            g.call(t + 1, "delete", "123456789012@cloudservices.gserviceaccount.com", 30, agent="GCE Managed Instance Group")
            m.dies(t + 5)
            right = ["ops.scale_down", "cloud.instance_terminated", "ops.manual_delete"]
        else:
            right, mild, actor = goes_away(c, m, log, t, c.pick("own", "killed"))
    elif v == "set_machine_type_off":
        g.call(t - 5, "setMachineType", who, 2, error={"code": 9, "message": "The instance is running"})
        right, mild, actor = goes_away(c, m, log, t, c.pick("own", "killed", "oom_unit"))
    elif v == "resume_then_own":
        s = t - 600
        log.steps(1, s)
        g.call(s + 1, "suspend", who, 60)
        g.call(s + 200, "resume", who, 40)
        log.steps(s + 245, t)
        right, mild, actor = goes_away(c, m, log, t, "own")
    elif v == "schedule_stop_other":
        g.call(t - 3, "stop", "service-123456789012@compute-system.iam.gserviceaccount.com", 40, agent="GCE Instance Schedule", vm="trainer-vm-80", id="8" * 16)
        right, mild, actor = goes_away(c, m, log, t, c.pick("own", "killed"))
    elif v == "perform_maintenance":
        g.call(t - 1, "performMaintenance", who, 300)
        g.system(t + 1, "terminateOnHostMaintenance", "Instance terminated during Compute Engine maintenance.")
        m.dies(t)
        right, mild = ["ops.host_maintenance", "ops.manual_delete"], []
    elif v == "migrate_then_host_error":
        g.system(t - 30, "migrateOnHostMaintenance", "Instance migrated during Compute Engine maintenance.")
        m.dies(t)
        g.system(t + 20, "hostError", "Instance terminated by Compute Engine.")
        right = ["cloud.host_error"]
    elif v in ("preempt_then_restart_own", "host_error_then_running"):
        s = t - 700
        log.steps(1, s)
        g.system(s + 1, "preempted" if v.startswith("pre") else "hostError", "Instance was preempted." if v.startswith("pre") else "Instance terminated by Compute Engine.")
        m.dies(s)
        g.call(s + 100, "start", who, 20) if v.startswith("pre") else g.system(s + 90, "automaticRestart", "Instance automatically restarted by Compute Engine.")
        m.boots(s + 130)
        m.start(s + 140)
        log.say(s + 142, "resuming from checkpoint step=300")
        log.steps(s + 143, t)
        if v.startswith("pre"):
            right, mild, actor = goes_away(c, m, log, t, "own")
        else:
            right, mild = ["none.running"], ["unknown"]
            m.log(t + 1, "sshd", "Accepted publickey for alice from 10.0.0.4 port 50122 ssh2", 41002)
    elif v == "guest_terminate_unknown":
        m.goes_down(t + 0.3, "poweroff")
        g.system(t + 25, "guestTerminate", "Guest OS-initiated instance termination.")
        right, mild = ["node.shutdown"], []
    elif v == "delete_by_terraform":
        g.call(t + 0.5, "delete", who, 40, agent="Terraform/1.9.8 (+https://www.terraform.io) terraform-provider-google/6.8.0")
        m.dies(t + 1.5)
        right = ["ops.manual_delete", "ops.config_change", "cloud.instance_terminated", "ops.node_upgrade"]
    elif v == "stop_denied_then_stop":
        g.call(t - 30, "stop", "erin@lab.example", 2, error={"code": 7, "message": "Required 'compute.instances.stop' permission"})
        g.call(t + 0.5, "stop", "zoe@lab.example", 40)
        m.goes_down(t + 1, "poweroff")
        right, actor = ["ops.manual_delete"], ["zoe@lab.example"]
    elif v == "old_id_host_error":
        g.system(-1200, "hostError", "Instance terminated by Compute Engine.", id="5" * 16)
        right, mild, actor = goes_away(c, m, log, t, c.pick("own", "stop", "segv"))
    else:
        g.system(t - 20, "upcomingInfraMaintenance", "")
        right, mild, actor = goes_away(c, m, log, t, c.pick("own", "stop", "segv"))
    m.noise(5, t)
    m.save()
    log.save()
    g.save()
    c.expect(right, f"{v} of a machine of Compute Engine", mild=mild, actor=actor, asked=g.vm)


@family("x.shared", "named_host_reboot named_host_other_reboot named_host_oom hostname_line_other unnamed_two_own fqdn_in_log ip_in_log", 8)
def shared(c):
    """The log lies on a file server (`/nfs/runs/exp1/train.log`), and names its machine in a line; two machines' journals beside it."""
    m = Machine(c, "gpu-07", "hosts/gpu-07")
    far = Machine(c, "gpu-08", "hosts/gpu-08", form=c.pick("rsyslog", "json"))
    log = Train(c, "nfs/runs/exp1/train.log")
    m.noise(-900, 0)
    t, v, mild, actor = c.between(900, 1500), c.variant, [], None
    word = {"fqdn_in_log": "host=gpu-07.lab.example", "ip_in_log": "node_ip=10.0.0.7", "unnamed_two_own": ""}.get(v, "host=gpu-07")
    log.say(1, f"starting rank=0 world_size=8 {word} pid={m.pid}")
    log.steps(1, t)
    if v in ("named_host_reboot", "fqdn_in_log"):
        right, mild, actor = goes_away(c, m, log, t, "reboot", unit=False)
        m.lines = [row for row in m.lines if not (row[0] > t and ("train.service" in row[4] or "LLM" in row[4]))]
        mild = ["unknown", "none.running"]
    elif v == "named_host_oom":
        m.oom(t + 0.3, "python3", m.pid, "/user.slice/user-1000.slice/session-3.scope")
        right, mild = ["node.system_oom", "code.host_oom"], ["unknown", "none.running"]
    elif v in ("named_host_other_reboot", "hostname_line_other"):
        goes_away(c, far, log, t - 2, "reboot", unit=False)
        far.lines = [row for row in far.lines if not ("train.service" in row[4] or "LLM" in row[4])]
        log.traceback(t + 0.3, *c.pick(*OWN_ERRORS))
        right = OWN
    else:
        far.kernel(t - 2, "Kernel panic - not syncing: Fatal exception")
        log.traceback(t + 0.3, *c.pick(*OWN_ERRORS))
        right = OWN
    m.noise(5, t + 400)
    far.noise(-900, t - 5)
    m.save()
    far.save()
    log.save()
    c.expect(right, "a log on a file server", mild=mild, actor=actor)


@family("x.slurm_gang", "node_panic_nccl node_reboot_nccl own_rank_node2_nccl xid_node3_nccl oom_node2_nccl two_nodes_down cancel_during_hang limit_during_hang preempt_nodes", 8)
def slurm_gang(c):
    """Four nodes; one is first, the others' NCCL follows."""
    s = Slurm(c, nodes="gpu[07-10]")
    c.asked = str(s.job)
    log = Train(c, f"slurm-{s.job}.out", step=5)
    log.begin(2)
    t, v, mild, actor, who = c.between(900, 1500), c.variant, [], None, c.pick(*PEOPLE)
    boxes = {h: Machine(c, h, system=c.pick("el8", "u22"), form=c.pick("rsyslog", "json", "short-iso", "syslog")) for h in ("gpu07", "gpu08", "gpu09", "gpu10", "gpu1")}
    for m in boxes.values():
        m.unit = "slurmd"
        m.noise(-500, 0)
    log.steps(2, t)
    def nccl(t, rank):
        log.raw(t, f"[rank{rank}]: torch.distributed.DistBackendError: NCCL error in: ProcessGroupNCCL.cpp:2355, remote process exited or there was a network error, NCCL version 2.21.5")
    victim = boxes["gpu09"]
    boxes["gpu1"].kernel(t - 3, "Kernel panic - not syncing: Fatal exception")
    if v in ("node_panic_nccl", "node_reboot_nccl"):
        if v == "node_panic_nccl":
            victim.kernel(t + 0.2, "Kernel panic - not syncing: Fatal exception in interrupt")
            victim.boots(t + 300)
            right = ["node.kernel_panic"]
        else:
            victim.sudo(t + 0.2, who, "/usr/sbin/reboot")
            victim.goes_down(t + 1)
            victim.boots(t + 250)
            right, actor = ["node.reboot"], [who]
        for rank in (0, 8, 24):
            nccl(t + 20 + rank / 10, rank)
        log.raw(t + 24, "srun: error: gpu07: task 0: Exited with exit code 1")
        s.ctld(t + 100, "error: Nodes gpu09 not responding")
        s.ctld(t + 60, f"_job_complete: JobId={s.job} WEXITSTATUS 1") if c.number % 2 else s.ctld(t + 305, f"Killing JobId={s.job} on failed node gpu09")
        s.ended("FAILED" if c.number % 2 else "NODE_FAIL", "1:0" if c.number % 2 else "0:0", t + (60 if c.number % 2 else 305))
        mild = ["node.not_ready", "unknown", "hang.collective_timeout", "code.exception"]
    elif v == "own_rank_node2_nccl":
        log.raw(t + 0.2, "[rank16]: Traceback (most recent call last):\n[rank16]:   File \"/home/alice/train.py\", line 118, in main\n[rank16]:     x = batch[\"pixel_values\"]\n[rank16]: KeyError: 'pixel_values'")
        for rank in (0, 8, 24):
            nccl(t + 3 + rank / 10, rank)
        log.raw(t + 6, "srun: error: gpu09: task 16: Exited with exit code 1")
        s.complete(t + 7, 1)
        s.ended("FAILED", "1:0", t + 7)
        right = OWN
    elif v == "xid_node3_nccl":
        victim.xid(t + 0.2, 79)
        log.raw(t + 2, "[rank16]: torch.AcceleratorError: CUDA error: unspecified launch failure")
        for rank in (0, 8, 24):
            nccl(t + 5 + rank / 10, rank)
        log.raw(t + 9, "srun: error: gpu09: task 16: Exited with exit code 1")
        s.complete(t + 10, 1)
        s.ended("FAILED", "1:0", t + 10)
        right = ["hw.gpu"]
    elif v == "oom_node2_nccl":
        g = f"/system.slice/slurmstepd.scope/job_{s.job}/step_0/user/task_16"
        victim.oom(t + 0.2, "python3", victim.pid, g, g.rsplit("/", 3)[0])
        for rank in (0, 8, 24):
            nccl(t + 3 + rank / 10, rank)
        log.raw(t + 4, f"slurmstepd: error: Detected 1 oom_kill event in StepId={s.job}.0. Some of the step tasks have been OOM Killed.")
        log.raw(t + 5, "srun: error: gpu09: task 16: Out Of Memory")
        s.complete(t + 7, 1)
        s.ended("OUT_OF_MEMORY", "0:125", t + 7)
        right = ["code.host_oom"]
    elif v == "two_nodes_down":
        victim.kernel(t + 0.2, "Kernel panic - not syncing: Fatal exception in interrupt")
        s.ctld(t + 305, "error: Nodes gpu[08-09] not responding, setting DOWN")
        s.ctld(t + 305, f"Killing JobId={s.job} on failed node gpu08")
        s.ended("NODE_FAIL", "0:0", t + 305)
        right, mild = ["node.kernel_panic", "node.not_ready"], []
    elif v in ("cancel_during_hang", "limit_during_hang"):
        victim.xid(t + 0.3, 79)
        later = t + 1200
        if v == "cancel_during_hang":
            s.kill(later, 1000)
            log.raw(later + 0.4, f"slurmstepd: error: *** JOB {s.job} ON gpu07 CANCELLED AT {iso(c.at(later))} ***")
            s.ended("CANCELLED by 1000", "0:0", later + 1)
        else:
            s.ctld(later, f"Time limit exhausted for JobId={s.job}")
            log.raw(later + 0.4, f"slurmstepd: error: *** JOB {s.job} ON gpu07 CANCELLED AT {iso(c.at(later))} DUE TO TIME LIMIT ***")
            s.ended("TIMEOUT", "0:0", later + 1)
        right, mild = ["hw.gpu"], ["ops.manual_delete", "code.deadline", "hang.no_progress"]
    else:
        s.ctld(t, f"preempted JobId={s.job} has been requeued to reclaim resources for JobId={s.job + 9}")
        log.raw(t + 0.4, f"slurmstepd: error: *** JOB {s.job} ON gpu07 CANCELLED AT {iso(c.at(t))} DUE TO PREEMPTION ***")
        for rank in (8, 24):
            nccl(t + 1 + rank / 10, rank)
        victim.xid(t + 2, 45, pid=None) if False else None
        s.ended("PREEMPTED", "0:0", t + 2)
        right = ["sched.preempted"]
    for m in boxes.values():
        m.noise(0, t + 900 if m is not victim else t)
        m.save()
    s.save()
    log.save()
    c.expect(right, "a job of four nodes", mild=mild, actor=actor)


@family("x.slurm_vm", "gce_delete_by_slurm_after gce_preempt_node gce_host_error_node gce_other_node_deleted slurm_resume_then_own cancel_then_delete", 8)
def slurm_vm(c):
    """Slurm whose nodes are machines of Compute Engine: it deletes idle ones itself."""
    s = Slurm(c, nodes="lab-gpu-1")
    c.asked = str(s.job)
    log = Train(c, f"slurm-{s.job}.out", step=5)
    log.begin(2)
    g = Gce(c, "lab-gpu-1")
    sa = "slurm-controller@lab-train.iam.gserviceaccount.com"
    g.call(-200, "insert", sa, 20)
    t, v, mild, actor = c.between(900, 1500), c.variant, [], None
    log.steps(2, t)
    if v in ("gce_delete_by_slurm_after", "slurm_resume_then_own"):
        log.traceback(t + 0.2, *c.pick(*OWN_ERRORS))
        s.complete(t + 1, 1)
        s.ended("FAILED", "1:0", t + 1)
        g.call(t + c.pick(30, 300), "delete", sa)
        right = OWN
    elif v in ("gce_preempt_node", "gce_host_error_node"):
        g.system(t + 1, "preempted" if v == "gce_preempt_node" else "hostError", "Instance was preempted." if v == "gce_preempt_node" else "Instance terminated by Compute Engine.")
        s.ctld(t + 305, "error: Nodes lab-gpu-1 not responding, setting DOWN")
        s.ctld(t + 305.1, f"Killing JobId={s.job} on failed node lab-gpu-1")
        s.ended("NODE_FAIL", "0:0", t + 305)
        right = ["cloud.spot_reclaimed"] if v == "gce_preempt_node" else ["cloud.host_error"]
    elif v == "gce_other_node_deleted":
        g.call(t - 3, "delete", sa, vm="lab-gpu-10", id="6" * 16)
        log.traceback(t + 0.2, *c.pick(*OWN_ERRORS))
        s.complete(t + 1, 1)
        s.ended("FAILED", "1:0", t + 1)
        right = OWN
    else:
        s.kill(t, 1000)
        log.raw(t + 0.4, f"slurmstepd: error: *** JOB {s.job} ON lab-gpu-1 CANCELLED AT {iso(c.at(t))} ***")
        s.ended("CANCELLED by 1000", "0:0", t + 1)
        g.call(t + c.pick(5, 60), "delete", sa)
        right, actor = ["ops.manual_delete"], ["alice", "1000", "uid 1000"]
    s.save()
    log.save()
    g.save()
    c.expect(right, "a job on machines of a cloud", mild=mild, actor=actor)
