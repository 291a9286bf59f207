"""Families of machines in clouds: the activity beside the machine's own journal, by two clocks."""

from families import NOBODY, OWN, PEOPLE, fails, family, person_reboots, trouble
from world import Aws, Azure, Gce, Machine, OWN_ERRORS, Train, rfc1123

TERM = ["cloud.instance_terminated"]


def skew(c):
    """How far the machine's clock is from the cloud's: none, or 2 to 120 s either way."""
    return (0.0, 2.0, -3.0, 20.0, -45.0, 90.0, -120.0, 5.0)[c.number % 8]


def guest(c, host, folder, off=0.0, unit=True):
    """The machine from inside: its clock is off by `off`, and so is the program's."""
    c.form = c.form if c.form != "syslog" else "rsyslog"
    m = Machine(c, host, folder, skew=off)
    log = Train(c, f"{folder}/train.log")
    m.noise(-800, 0)
    if unit:
        m.start(0)
    return m, log


def shifted(log, off):
    """The program wrote by the machine's clock."""
    if off:
        case, real = log.case, log.case.at
        class Shifted:
            rng, write, pick = case.rng, case.write, case.pick
            @staticmethod
            def at(t):
                return real(t + off)
        log.case = Shifted


def own_failure(c, m, log, t):
    log.traceback(t - 0.4, *c.pick(*OWN_ERRORS))
    m.exit(t, 1)
    return OWN


@family("c.gce", "host_error host_error_boot reset stop delete preempted terminate_maint migrate guest_poweroff guest_reboot failed_stop delete_after reset_after preempted_after old_vm other_vm "
        "other_preempted mig_delete schedule_stop suspend", 8)
def gce(c):
    off = skew(c)
    g = Gce(c)
    g.call(-900, "insert", "alice@lab.example", 20)
    m, log = guest(c, g.vm, g.vm, off)
    shifted(log, off)
    log.begin(1)
    end, who, actor, mild = c.between(1000, 1500), c.pick(*PEOPLE) + "@lab.example", None, []
    steady = end
    if c.variant in ("host_error", "host_error_boot"):
        log.steps(1, end)
        g.system(end + c.between(5, 60), "hostError", "Instance terminated by Compute Engine.")
        g.system(end + 100, "automaticRestart", "Instance automatically restarted by Compute Engine.")
        m.dies(end)
        if c.variant == "host_error_boot":
            m.boots(end + 130)
        right = ["cloud.host_error"]
    elif c.variant in ("reset", "stop", "delete", "suspend"):
        log.steps(1, end + 0.5)
        g.call(end, c.variant, who, 3 if c.variant == "reset" else 40)
        if c.variant == "reset":
            m.dies(end + 1)
            m.boots(end + c.between(20, 60))
        elif c.variant in ("stop", "delete") and c.number % 2:
            m.goes_down(end + 0.6, "poweroff")
        right, actor = ["ops.manual_delete"], [who]
    elif c.variant == "preempted":
        log.steps(1, end)
        g.system(end - 1 + c.between(0, 25), "preempted", "Instance was preempted.")
        if c.number % 2:
            m.goes_down(end, "poweroff")
        right = ["cloud.spot_reclaimed"]
    elif c.variant == "terminate_maint":
        log.steps(1, end)
        m.dies(end)
        g.system(end, "terminateOnHostMaintenance", "Instance terminated during Compute Engine maintenance.")
        if c.number % 2:
            m.boots(end + 240)
        right = ["ops.host_maintenance"]
    elif c.variant == "guest_poweroff":
        log.steps(1, end)
        short = who.split("@")[0]
        m.sudo(end, short, "/usr/sbin/poweroff")
        m.goes_down(end + 0.5, "poweroff")
        g.system(end + 25, "guestTerminate", "Guest OS-initiated instance termination.")
        right, actor = ["node.shutdown", "ops.manual_delete"], [short]
    elif c.variant == "guest_reboot":
        log.steps(1, end)
        short = who.split("@")[0]
        m.sudo(end, short, "/usr/sbin/reboot")
        m.goes_down(end + 0.5)
        m.boots(end + 40)
        right, actor = ["node.reboot", "ops.manual_delete"], [short]
    elif c.variant == "mig_delete":
        log.steps(1, end)
        g.call(end, "delete", "123456789012@cloudservices.gserviceaccount.com", 40, agent="GCE Managed Instance Group")
        right, mild = ["cloud.instance_terminated", "ops.manual_delete", "ops.scale_down"], []
    elif c.variant == "schedule_stop":
        log.steps(1, end)
        g.call(end, "stop", "service-123456789012@compute-system.iam.gserviceaccount.com", 40, agent="GCE Instance Schedule")
        right = ["cloud.instance_terminated", "ops.manual_delete", "node.shutdown"]
    else:
        log.steps(1, end - 1)
        if c.variant == "migrate":
            g.system(end - 400, "migrateOnHostMaintenance", "Instance migrated during Compute Engine maintenance.")
        elif c.variant == "failed_stop":
            g.call(end - 3, "stop", who, 2, error={"code": 7, "message": "Required 'compute.instances.stop' permission for 'projects/lab-train/zones/us-central1-a/instances/trainer-vm-8'"})
        elif c.variant == "old_vm":
            g.call(-1800, "delete", who, 20, id="4444444444444444")
        elif c.variant == "other_vm":
            g.system(end - 2, "hostError", "Instance terminated by Compute Engine.", vm="trainer-vm-9", id="9999999999999999")
        elif c.variant == "other_preempted":
            g.system(end - 2, "preempted", "Instance was preempted.", vm="trainer-vm-9", id="9999999999999999")
        right = own_failure(c, m, log, end)
        late = end + (600 if abs(off) > 30 else c.between(200, 600))
        if c.variant == "delete_after":
            g.call(late, "delete", who)
        elif c.variant == "reset_after":
            g.call(late, "reset", who, 3)
            m.dies(late)
            m.boots(late + 30)
        elif c.variant == "preempted_after":
            g.system(late, "preempted", "Instance was preempted.")
        steady = end + 150
    m.noise(5, steady)
    m.save()
    log.save()
    g.save()
    c.expect(right, f"a machine of Compute Engine, whose clock is {off} s off", actor=actor, mild=mild, asked=g.vm)


@family("c.aws", "terminate stop reboot dry_run denied spot rebalance terminate_after spot_after internal_error guest_poweroff guest_reboot retire_next_week system_reboot other_instance role_terminate", 8)
def aws(c):
    off = skew(c)
    a = Aws(c)
    # The folder bears the instance's id, or the name that the machine has for itself.
    folder = a.id if c.number % 2 else a.dns
    m, log = guest(c, a.dns, folder, off)
    shifted(log, off)
    log.begin(1)
    end, who, actor, state = c.between(1000, 1500), c.pick(*PEOPLE), None, "running"
    reason, transition, steady = None, "", end
    stamp = c.at(end).strftime("%Y-%m-%d %H:%M:%S GMT")
    if c.variant in ("terminate", "stop", "role_terminate"):
        log.steps(1, end + 1)
        call = "StopInstances" if c.variant == "stop" else "TerminateInstances"
        if c.variant == "role_terminate":
            a.trail(end, call, role="ResearchAdmin")
        else:
            a.trail(end, call, who)
            actor = [who]
        if c.number % 3:
            a.state(end + 1, "stopping" if c.variant == "stop" else "shutting-down")
        if c.number % 2:
            m.goes_down(end + 1, "poweroff")
        state = "stopped" if c.variant == "stop" else "terminated"
        reason, transition = ("Client.UserInitiatedShutdown", "Client.UserInitiatedShutdown: User initiated shutdown"), f"User initiated ({stamp})"
        right = ["ops.manual_delete"]
    elif c.variant == "reboot":
        log.steps(1, end + 1)
        a.trail(end, "RebootInstances", who, more={"instancesSet": {"items": [{"instanceId": a.id}]}})
        m.goes_down(end + 1) if c.number % 2 else m.dies(end + 1)
        m.boots(end + 45)
        right, actor = ["ops.manual_delete", "node.reboot"], [who]
    elif c.variant == "spot":
        log.steps(1, end)
        if c.number % 3 != 1:
            a.bridge(end - 119, "EC2 Spot Instance Interruption Warning", "aws.ec2", {"instance-id": a.id, "instance-action": "terminate"})
        a.evicted(end + 1)
        if c.number % 2:
            m.goes_down(end, "poweroff")
        state, reason, transition = "terminated", ("Server.SpotInstanceTermination", "Server.SpotInstanceTermination: Spot instance termination"), f"Server.SpotInstanceTermination ({stamp})"
        right = ["cloud.spot_reclaimed"]
    elif c.variant == "internal_error":
        log.steps(1, end)
        state, reason, transition = "stopped", ("Server.InternalError", "Server.InternalError: Internal error"), f"Server.InternalError ({stamp})"
        right = ["cloud.host_error"]
    elif c.variant == "guest_poweroff":
        log.steps(1, end)
        m.sudo(end, who, "/usr/sbin/poweroff")
        m.goes_down(end + 0.5, "poweroff")
        state, reason, transition = "stopped", ("Client.InstanceInitiatedShutdown", "Client.InstanceInitiatedShutdown: Instance initiated shutdown"), ""
        right, actor = ["node.shutdown", "ops.manual_delete"], [who]
    elif c.variant == "guest_reboot":
        log.steps(1, end)
        m.sudo(end, who, "/usr/sbin/reboot")
        m.goes_down(end + 0.5)
        m.boots(end + 40)
        right, actor = ["node.reboot", "ops.manual_delete"], [who]
    elif c.variant == "system_reboot":
        log.steps(1, end)
        due = a.z(end - 60)
        a.bridge(end - 86400 * 5, "AWS Health Event", "aws.health", {"eventArn": f"arn:aws:health:us-east-1::event/EC2/AWS_EC2_INSTANCE_REBOOT_MAINTENANCE_SCHEDULED/{a.uuid()}", "service": "EC2",
                 "eventTypeCode": "AWS_EC2_INSTANCE_REBOOT_MAINTENANCE_SCHEDULED", "eventTypeCategory": "scheduledChange", "startTime": rfc(c, end - 60 + a.skew), "endTime": rfc(c, end + 7200 + a.skew),
                 "eventDescription": [{"language": "en_US", "latestDescription": f"Your instance is scheduled for a reboot at {due}."}], "affectedEntities": [{"entityValue": a.id}]})
        m.dies(end)
        m.boots(end + 200)
        right = ["ops.host_maintenance", "node.reboot"]
    else:
        log.steps(1, end - 1)
        if c.variant == "dry_run":
            a.trail(end - 4, "TerminateInstances", who, error=("Client.DryRunOperation", "Request would have succeeded, but DryRun flag is set."))
        elif c.variant == "denied":
            a.trail(end - 4, "TerminateInstances", who, error=("Client.UnauthorizedOperation", "You are not authorized to perform this operation."))
        elif c.variant == "rebalance":
            a.bridge(end - 60, "EC2 Instance Rebalance Recommendation", "aws.ec2", {"instance-id": a.id})
        elif c.variant == "other_instance":
            a.trail(end - 4, "TerminateInstances", who, ids=["i-0feedfacecafe0001"])
        elif c.variant == "retire_next_week":
            a.bridge(end - 3600, "AWS Health Event", "aws.health", {"eventArn": f"arn:aws:health:us-east-1::event/EC2/AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED/{a.uuid()}", "service": "EC2",
                     "eventTypeCode": "AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED", "eventTypeCategory": "scheduledChange", "startTime": rfc(c, end + 86400 * 7), "endTime": rfc(c, end + 86400 * 7),
                     "eventDescription": [{"language": "en_US", "latestDescription": "EC2 has detected degradation of the underlying hardware."}], "affectedEntities": [{"entityValue": a.id}]})
        right = own_failure(c, m, log, end)
        late = end + (600 if abs(off) > 30 else c.between(200, 600))
        if c.variant == "terminate_after":
            a.trail(late, "TerminateInstances", who)
            state, reason, transition = "terminated", ("Client.UserInitiatedShutdown", "Client.UserInitiatedShutdown: User initiated shutdown"), f"User initiated ({c.at(late):%Y-%m-%d %H:%M:%S GMT})"
        elif c.variant == "spot_after":
            a.evicted(late)
            state, reason, transition = "terminated", ("Server.SpotInstanceTermination", "Server.SpotInstanceTermination: Spot instance termination"), f"Server.SpotInstanceTermination ({c.at(late):%Y-%m-%d %H:%M:%S GMT})"
        steady = end + 150
    a.instance(-900, state, reason, transition)
    m.noise(5, steady)
    m.save()
    log.save()
    a.save()
    c.expect(right, f"an instance of EC2 whose clock is {off} s off", actor=actor, asked="exp-1")


def rfc(c, t):
    return rfc1123(c.at(t))


@family("c.asg", "ec2_health elb_health user_health policy desired az_rebalance refresh lifetime health_after_stop health_after_spot user_terminate health_other scale_in_other health_after_failure", 6)
def asg(c):
    """(e) Why a group ends an instance is in its own sentence."""
    a = Aws(c, skew=0.0)
    folder = a.id if c.number % 2 else a.dns
    m, log = guest(c, a.dns, folder)
    log.begin(1)
    end, who, actor, mild = c.between(1000, 1500), c.pick(*PEOPLE), None, []
    z = a.z
    steady = end
    shrink = "an instance was taken out of service in response to a difference between desired and actual capacity, shrinking the capacity from 4 to 3."
    state = "terminated"
    if c.variant in ("ec2_health", "elb_health", "user_health"):
        log.steps(1, end)
        seen = end + c.between(40, 100)
        words = {"ec2_health": "an instance was taken out of service in response to an EC2 instance status checks failure." if c.number % 2 else
                 "an instance was taken out of service in response to an EC2 health check indicating it has been terminated or stopped.",
                 "elb_health": "an instance was taken out of service in response to an ELB system health check failure.",
                 "user_health": "an instance was taken out of service in response to a user health-check."}[c.variant]
        if c.variant == "user_health":
            a.trail(end - 30, "SetInstanceHealth", who, more={"instanceId": a.id, "healthStatus": "Unhealthy", "shouldRespectGracePeriod": True})
            seen = end
        a.activity(seen, f"At {z(seen)} {words}")
        a.activity(seen + 5, f"At {z(seen + 4)} an instance was launched in response to an unhealthy instance needing to be replaced.", launch="i-0feedfacecafe0002")
        right = TERM + ["cloud.host_error", "node.not_ready"] + (["ops.manual_delete"] if c.variant == "user_health" else [])
    elif c.variant in ("policy", "desired"):
        log.steps(1, end)
        why = f"At {z(end - 8)} a monitor alarm TargetTracking-train-asg-AlarmLow-0a1b in state ALARM triggered policy cpu50 changing the desired capacity from 4 to 3." if c.variant == "policy" else \
              f"At {z(end - 8)} a user request explicitly set group desired capacity changing the desired capacity from 4 to 3."
        if c.variant == "desired":
            a.trail(end - 9, "SetDesiredCapacity", who, more={"autoScalingGroupName": "train-asg", "desiredCapacity": 3, "honorCooldown": False})
        a.activity(end, f"{why} At {z(end - 1)} {shrink} At {z(end)} instance {a.id} was selected for termination.")
        right = ["ops.scale_down"] + (["ops.manual_delete", "ops.config_change"] if c.variant == "desired" else [])
    elif c.variant == "az_rebalance":
        log.steps(1, end)
        a.activity(end - 70, f"At {z(end - 71)} instances were launched to balance instances in zones us-east-1b with other zones resulting in more than desired number of instances in the group. At {z(end - 70)} an instance was started in response to a difference between desired and actual capacity, increasing the capacity from 4 to 5.", launch="i-0feedfacecafe0003")
        a.activity(end, f"At {z(end)} an instance was taken out of service in response to a difference between desired and actual capacity, shrinking the capacity from 5 to 4. At {z(end)} instance {a.id} was selected for termination.")
        right = TERM + ["ops.scale_down"]
    elif c.variant in ("refresh", "lifetime"):
        log.steps(1, end)
        words = "an instance was taken out of service in response to an instance refresh." if c.variant == "refresh" else "an instance was taken out of service due to max instance lifetime."
        a.activity(end, f"At {z(end)} {words}")
        right = TERM + ["ops.config_change", "ops.node_upgrade", "ops.manual_delete"]
    elif c.variant in ("health_after_stop", "health_after_spot"):
        log.steps(1, end)
        if c.variant == "health_after_stop":
            a.trail(end - 1, "StopInstances", who)
            right, actor = ["ops.manual_delete"], [who]
        else:
            a.evicted(end + 1)
            right = ["cloud.spot_reclaimed"]
        a.activity(end + 60, f"At {z(end + 60)} an instance was taken out of service in response to an EC2 health check indicating it has been terminated or stopped.")
    elif c.variant == "user_terminate":
        log.steps(1, end)
        a.trail(end - 1, "TerminateInstanceInAutoScalingGroup", who, more={"instanceId": a.id, "shouldDecrementDesiredCapacity": True})
        a.activity(end, f"At {z(end - 1)} instance {a.id} was taken out of service in response to a user request, shrinking the capacity from 4 to 3.")
        right, actor = ["ops.manual_delete"], [who]
    else:
        log.steps(1, end - 1)
        mine, a.id = a.id, "i-0feedfacecafe0009"
        if c.variant == "health_other":
            a.activity(end - 3, f"At {z(end - 3)} an instance was taken out of service in response to an EC2 instance status checks failure.")
        elif c.variant == "scale_in_other":
            a.activity(end - 3, f"At {z(end - 4)} {shrink} At {z(end - 3)} instance {a.id} was selected for termination.")
        a.id, state = mine, "running"
        right = own_failure(c, m, log, end)
        if c.variant == "health_after_failure":
            late = end + c.between(120, 400)
            a.activity(late, f"At {z(late)} an instance was taken out of service in response to an ELB system health check failure.")
            state = "terminated"
        steady = end + 100
    a.instance(-900, state, None, "", group="train-asg")
    m.noise(5, steady)
    m.save()
    log.save()
    a.save()
    c.expect(right, "a group of EC2 ends an instance", actor=actor, mild=mild, asked="exp-1")


@family("c.azure", "restart redeploy deallocate powerOff delete reimage failed after_end platform planned platform_after other_vm health_echo guest_reboot freeze preempt sched_redeploy sched_reboot sched_user sched_other", 8)
def azure(c):
    """(h)"""
    off = skew(c)
    a = Azure(c)
    a.machine()
    m, log = guest(c, a.vm, a.vm, off)
    shifted(log, off)
    log.begin(1)
    end, who, actor, steady = c.between(1000, 1500), c.pick(*PEOPLE) + "@lab.example", None, None
    if c.variant in ("restart", "redeploy", "deallocate", "powerOff", "delete", "reimage", "health_echo"):
        action = "deallocate" if c.variant == "health_echo" else c.variant
        log.steps(1, end + 1)
        a.call(end, "delete" if action == "delete" else f"{action}/action", who)
        if c.variant == "health_echo" or c.number % 3 == 0:
            a.health(end + 50, "CustomerInitiated", "NotApplicable", {"restart": "Rebooted by user", "redeploy": "Redeployed by user"}.get(action, "Stopped and deallocated by user or process"))
        if action == "powerOff" or c.number % 2:
            m.goes_down(end + 1, "reboot" if action == "restart" else "poweroff")
        if m.down is None:
            m.dies(end + 1)
        if action in ("restart", "redeploy", "reimage"):
            m.boots(end + c.between(40, 200))
        right, actor = ["ops.manual_delete"] + (["node.reboot"] if action == "restart" else []), [who]
    elif c.variant in ("platform", "planned"):
        log.steps(1, end)
        m.dies(end)
        if c.variant == "platform":
            a.health(end + c.between(20, 80), "PlatformInitiated", "Unplanned", "Virtual machine has been rebooted by the Azure platform due to a hardware failure", "We're sorry, your virtual machine isn't available because of an unexpected failure on the host node.")
            right = ["cloud.host_error"]
        else:
            a.health(end + c.between(0, 30), "PlatformInitiated", "Planned", "Virtual machine is being updated by planned maintenance", "Your virtual machine was rebooted by planned maintenance on the host.")
            right = ["ops.host_maintenance"]
        if c.number % 2:
            m.boots(end + 200)
    elif c.variant == "guest_reboot":
        log.steps(1, end)
        short = who.split("@")[0]
        m.sudo(end, short, "/usr/sbin/reboot")
        m.goes_down(end + 0.5)
        m.boots(end + 40)
        right, actor = ["node.reboot", "ops.manual_delete"], [short]
    elif c.variant in ("preempt", "sched_redeploy", "sched_reboot", "sched_user"):
        log.steps(1, end)
        kind = {"preempt": "Preempt", "sched_redeploy": "Redeploy", "sched_reboot": "Reboot", "sched_user": "Reboot"}[c.variant]
        a.scheduled(end, kind, "Scheduled" if c.number % 2 else "Started", "User" if c.variant == "sched_user" else "Platform")
        if c.variant == "sched_user":
            a.call(end, "restart/action", who)
            actor = [who]
        m.dies(end)
        # Somebody's records go on.
        a.call(end + 900, "start/action", who, res=a.res.replace(a.vm, "other-1"))
        if c.variant != "preempt":
            m.boots(end + 150)
        right = {"preempt": ["cloud.spot_reclaimed"], "sched_user": ["ops.manual_delete", "node.reboot"]}.get(c.variant, ["ops.host_maintenance", "cloud.host_error"])
        if c.variant.startswith("sched_re"):
            right.append("node.reboot")
    else:
        log.steps(1, end - 1)
        if c.variant == "failed":
            a.call(end - 5, "deallocate/action", who, 3, failed=True)
        elif c.variant == "other_vm":
            a.call(end - 3, "deallocate/action", who, res=a.res.replace(a.vm, "trainer-vm-33"))
        elif c.variant == "freeze":
            a.scheduled(end - 300, "Freeze", "Started", lasts=5)
        elif c.variant == "sched_other":
            a.vm = "trainer-vm-33"
            a.scheduled(end - 3, "Redeploy")
            a.vm = "trainer-vm-3"
        right = own_failure(c, m, log, end)
        late = end + (600 if abs(off) > 30 else c.between(200, 600))
        if c.variant == "after_end":
            a.call(late, "deallocate/action", who)
        elif c.variant == "platform_after":
            a.health(late, "PlatformInitiated", "Unplanned", "Virtual machine has been rebooted by the Azure platform", "An unexpected failure on the host node.")
        steady = end + 150
    m.noise(5, steady or end)
    m.save()
    log.save()
    a.save()
    c.expect(right, f"a machine of Azure whose clock is {off} s off", actor=actor, asked=a.vm)


@family("c.gang", "preempted host_error delete own_failure nobody", 6)
def gang(c):
    """Three machines of one experiment: one goes, the others give up waiting for it."""
    end, who, actor = c.between(1000, 1500), c.pick(*PEOPLE) + "@lab.example", None
    first, right = c.number % 3, None
    cloud = Gce(c)
    for rank in range(3):
        g = Gce(c, f"ppo-17-w{rank}")
        g.entries = cloud.entries
        g.call(-900 + rank, "insert", "alice@lab.example", 20)
        cloud.entries["gcp.jsonl"][-1]["protoPayload"]["request"]["labels"] = [{"key": "experiment", "value": "ppo-17"}]
        cloud.entries["gcp.jsonl"][-2]["protoPayload"]["request"]["labels"] = [{"key": "experiment", "value": "ppo-17"}]
        log = Train(c, f"{g.vm}/train.log", form="logging", step=5)
        log.say(1, f"starting rank={rank} world_size=3")
        log.steps(1, end - 0.2 if rank == first else end)
        if rank != first and c.variant != "nobody":
            log.say(end + 600, f"[rank{rank}]: Watchdog caught collective operation timeout: WorkNCCL(SeqNum=4711, OpType=ALLREDUCE, NumelIn=1048576, NumelOut=1048576, Timeout(ms)=600000) ran for 600012 milliseconds before timing out.", "ERROR")
        elif c.variant == "own_failure":
            log.traceback(end, *c.pick(*OWN_ERRORS))
            right = OWN
        elif c.variant == "preempted":
            g.system(end + 1, "preempted", "Instance was preempted.")
            right = ["cloud.spot_reclaimed"]
        elif c.variant == "host_error":
            g.system(end + 20, "hostError", "Instance terminated by Compute Engine.")
            right = ["cloud.host_error"]
        elif c.variant == "delete":
            g.call(end, "delete", who)
            right, actor = ["ops.manual_delete"], [who]
        if c.variant == "nobody":
            # All go on; a machine that is none of theirs is preempted.
            log.steps(end, end + 300)
            if rank == first:
                g.system(end, "preempted", "Instance was preempted.", vm="other-1", id="1")
            right = ["none.running"]
        log.save()
    cloud.save()
    c.expect(right, "a gang of three machines", actor=actor, mild=["unknown"] if c.variant == "nobody" else (), asked="ppo-17")


@family("c.silent", "gce aws azure gce_completed aws_completed azure_completed gce_stop_after_completed", 6)
def silent(c):
    """The machine runs, its program has not written for an hour; or is done."""
    who = "carol@lab.example"
    cloud = {"gce": Gce, "aws": Aws, "azure": Azure}[c.variant.split("_")[0]](c)
    name = getattr(cloud, "vm", cloud.id if hasattr(cloud, "id") else "")
    m, log = guest(c, name if not name.startswith("i-") else cloud.dns, name)
    log.begin(1)
    end = c.between(1000, 1500)
    log.steps(1, end)
    over = c.variant.endswith("completed")
    if over:
        log.say(end + 2, "training completed, saved final checkpoint")
        m.log(end + 3, "systemd", "train.service: Deactivated successfully." if m.system not in ("el7", "el8") else "train.service: Succeeded.")
    if isinstance(cloud, Gce):
        cloud.call(-900, "insert", "alice@lab.example", 20)
    elif isinstance(cloud, Aws):
        cloud.instance(-900)
    else:
        cloud.machine()
        cloud.call(-900, "write", "alice@lab.example")
    if "stop_after" in c.variant:
        cloud.call(end + 400, "stop", who)
    m.noise(5, end + (300 if "stop" in c.variant else 3600))
    m.save()
    log.save()
    cloud.save()
    asked = name if not isinstance(cloud, Aws) else "exp-1"
    if over:
        c.expect(["none.completed"], "the program is done, the machine runs on", asked=asked)
    else:
        c.expect(["unknown", "hang.no_progress"], "the program is silent for an hour on a machine that runs", asked=asked, mild=["none.running"])


@family("c.killed_then", "gce_delete gce_stop gce_preempted gce_host_error aws_terminate aws_spot azure_deallocate azure_platform", 8)
def killed_then(c):
    """A signal from nobody ends the service; minutes later the cloud, or somebody, takes the machine."""
    who = "carol@lab.example"
    kind, act = c.variant.split("_", 1)
    cloud = {"gce": Gce, "aws": Aws, "azure": Azure}[kind](c)
    name = cloud.dns if kind == "aws" else cloud.vm
    m, log = guest(c, name, cloud.id if kind == "aws" else name)
    log.begin(1)
    end = c.between(1000, 1500)
    log.steps(1, end)
    m.exit(end, (-9, 137, -15, 143)[c.number % 4])
    later = end + (45, 90, 150, 240, 360, 500, 650, 850)[c.number]
    if kind == "gce":
        cloud.call(-900, "insert", "alice@lab.example", 20)
        if act in ("delete", "stop"):
            cloud.call(later, act, who)
        else:
            cloud.system(later, "preempted" if act == "preempted" else "hostError", "Instance was preempted.")
    elif kind == "aws":
        stamp = f"{c.at(later):%Y-%m-%d %H:%M:%S} GMT"
        if act == "terminate":
            cloud.trail(later, "TerminateInstances", "carol")
            cloud.instance(-900, "terminated", ("Client.UserInitiatedShutdown", "Client.UserInitiatedShutdown: User initiated shutdown"), f"User initiated ({stamp})")
        else:
            cloud.evicted(later)
            cloud.instance(-900, "terminated", ("Server.SpotInstanceTermination", "Server.SpotInstanceTermination: Spot instance termination"), f"Server.SpotInstanceTermination ({stamp})")
    else:
        cloud.machine()
        if act == "deallocate":
            cloud.call(later, "deallocate/action", who)
        else:
            cloud.health(later, "PlatformInitiated", "Unplanned", "Virtual machine has been rebooted by the Azure platform", "An unexpected failure on the host node.")
    m.dies(later)
    m.noise(5, later)
    m.save()
    log.save()
    cloud.save()
    c.expect(["unknown"], f"killed by nobody that is known {later - end:.0f} s before the machine goes", asked="exp-1" if kind == "aws" else name,
             mild=["ops.manual_delete", "code.host_oom", "node.system_oom", "code.exception", "cloud.spot_reclaimed", "cloud.host_error", "cloud.instance_terminated"])


@family("c.survived", "gce_migrate azure_health azure_freeze aws_impaired gce_stop_start azure_redeploy", 6)
def survived(c):
    """What the cloud did to the machine the run outlived by hundreds of steps; or it was started again and trained on."""
    kind = c.variant.split("_", 1)[0]
    cloud = {"gce": Gce, "aws": Aws, "azure": Azure}[kind](c)
    name = cloud.dns if kind == "aws" else cloud.vm
    m, log = guest(c, name, cloud.id if kind == "aws" else name)
    log.begin(1)
    t = c.between(400, 600)
    log.steps(1, t)
    again = t + 3
    if kind == "gce":
        cloud.call(-900, "insert", "alice@lab.example", 20)
    if c.variant == "gce_migrate":
        cloud.system(t, "migrateOnHostMaintenance", "Instance migrated during Compute Engine maintenance.")
    elif c.variant == "gce_stop_start":
        cloud.call(t, "stop", "carol@lab.example")
        cloud.call(t + 200, "start", "carol@lab.example")
        m.goes_down(t + 1, "poweroff")
        m.boots(t + 230)
        m.start(t + 240)
        again = t + 245
        log.say(again, "resuming from checkpoint step=100")
    elif kind == "azure":
        cloud.machine()
        if c.variant == "azure_health":
            cloud.health(t, "PlatformInitiated", "Unplanned", "Virtual machine health status changed to degraded", "A network device on the host is recovering.", "Degraded")
            cloud.health(t + 120, "PlatformInitiated", "Unplanned", "Virtual machine health status changed to available", "", "Available", stage="Resolved")
        elif c.variant == "azure_freeze":
            cloud.scheduled(t, "Freeze", "Started", lasts=5)
        else:
            cloud.call(t, "redeploy/action", "carol@lab.example")
            m.dies(t + 1)
            m.boots(t + 200)
            m.start(t + 210)
            again = t + 215
            log.say(again, "resuming from checkpoint step=100")
    elif kind == "aws":
        cloud.instance(-900)
        cloud.bridge(t, "AWS Health Event", "aws.health", {"eventArn": f"arn:aws:health:us-east-1::event/EC2/AWS_EC2_INSTANCE_NETWORK_CONNECTIVITY_ISSUE/{cloud.uuid()}", "service": "EC2",
                     "eventTypeCode": "AWS_EC2_NETWORK_CONNECTIVITY_ISSUE", "eventTypeCategory": "issue", "startTime": rfc(c, t), "endTime": rfc(c, t + 120), "statusCode": "closed",
                     "eventDescription": [{"language": "en_US", "latestDescription": "Network connectivity was impaired."}], "affectedEntities": [{"entityValue": cloud.id}]})
    end = again + c.between(900, 1300)
    log.steps(again + 1, end - 1)
    right = own_failure(c, m, log, end)
    m.noise(5, end + 100)
    m.save()
    log.save()
    cloud.save()
    c.expect(right, "the run outlived what the cloud did", asked="exp-1" if kind == "aws" else name)


@family("c.guest", "stop oom kill bare own runtime reboot segv oom_other stop_other", 6)
def inside(c):
    """What happens inside a cloud's machine, which itself runs on."""
    who = c.pick(*PEOPLE)
    kind = ("gce", "aws", "azure")[c.number % 3]
    cloud = {"gce": Gce, "aws": Aws, "azure": Azure}[kind](c)
    name = cloud.dns if kind == "aws" else cloud.vm
    m, log = guest(c, name, cloud.id if kind == "aws" else name)
    log.begin(1)
    log.say(1.2, f"pid={m.pid}")
    t, actor, mild = c.between(1000, 1500), None, []
    log.steps(1, t)
    if kind == "gce":
        cloud.call(-900, "insert", "alice@lab.example", 20)
    elif kind == "aws":
        cloud.instance(-900)
    else:
        cloud.machine()
    if c.variant == "stop":
        m.sudo(t, who, "/usr/bin/systemctl stop train")
        m.stop(t + 0.3)
        right, actor = ["ops.manual_delete"], [who]
    elif c.variant == "oom":
        m.oom_own(t, True)
        right = ["code.host_oom"]
    elif c.variant == "kill":
        m.sudo(t, who, f"/usr/bin/kill -9 {m.pid}")
        m.exit(t + 0.2, -9)
        right, actor = ["ops.manual_delete"], [who]
    elif c.variant == "bare":
        m.exit(t, -9)
        right, mild = ["unknown"], ["ops.manual_delete", "code.host_oom", "node.system_oom", "code.exception"]
    elif c.variant == "own":
        right = own_failure(c, m, log, t)
    elif c.variant == "runtime":
        m.log(t, "systemd", "train.service: Service reached runtime time limit. Stopping.")
        m.exit(t + 0.5, -15)
        right = ["code.deadline"]
    elif c.variant == "segv":
        m.segfault(t, "python3", m.pid)
        m.exit(t + 0.5, -11)
        right = ["code.segfault"]
    elif c.variant == "reboot":
        m.sudo(t, who, "/usr/sbin/reboot")
        m.goes_down(t + 0.5)
        m.boots(t + 60)
        right, actor = ["node.reboot"], [who]
    else:
        if c.variant == "oom_other":
            trouble(c, m, t - 3, "oom_host")
        else:
            m.sudo(t - 3, who, "/usr/bin/systemctl stop jupyter")
            m.exit(t - 2.5, -15, "jupyter")
        right, mild = fails(c, m, log, t), NOBODY
    m.noise(5, t + 700)
    m.save()
    log.save()
    cloud.save()
    c.expect(right, "something happens inside a cloud's machine", actor=actor, mild=mild, asked="exp-1" if kind == "aws" else name)


@family("c.order", "aws_two_users aws_stop_then_terminate aws_warned_then_own gce_error_then_stop gce_stop_then_preempted gce_teardown azure_failed_then_done azure_teardown aws_teardown", 6)
def order(c):
    """Several acts on one machine: the first that worked ended it; and a program that is stopped says so."""
    one, other = c.rng.sample(PEOPLE, 2)
    kind = c.variant.split("_", 1)[0]
    cloud = {"gce": Gce, "aws": Aws, "azure": Azure}[kind](c)
    name = cloud.dns if kind == "aws" else cloud.vm
    m, log = guest(c, name, cloud.id if kind == "aws" else name)
    log.begin(1)
    t, actor = c.between(1000, 1500), None
    log.steps(1, t)
    if kind == "gce":
        cloud.call(-900, "insert", "alice@lab.example", 20)
    elif kind == "azure":
        cloud.machine()
    def cleanup():
        m.goes_down(t + 2, "poweroff")
        if c.number % 2:
            log.say(t + 2.5, "received SIGTERM, saving a checkpoint before exit", "WARNING")
        else:
            log.raw(t + 2.5, "Traceback (most recent call last):\n  File \"/home/alice/train.py\", line 231, in <module>\n    main()\nRuntimeError: DataLoader worker (pid(s) 4720) exited unexpectedly")
    stamp = f"{c.at(t):%Y-%m-%d %H:%M:%S} GMT"
    ended = ("Client.UserInitiatedShutdown", "Client.UserInitiatedShutdown: User initiated shutdown")
    if c.variant == "aws_two_users":
        cloud.trail(t - 8, "TerminateInstances", one, error=("Client.UnauthorizedOperation", "You are not authorized to perform this operation."))
        cloud.trail(t, "TerminateInstances", other)
        cloud.instance(-900, "terminated", ended, f"User initiated ({stamp})")
        right, actor = ["ops.manual_delete"], [other]
    elif c.variant == "aws_stop_then_terminate":
        cloud.trail(t, "StopInstances", one)
        cloud.trail(t + 300, "TerminateInstances", other)
        cloud.instance(-900, "terminated", ended, f"User initiated ({c.at(t + 300):%Y-%m-%d %H:%M:%S} GMT)")
        right, actor = ["ops.manual_delete"], [one]
    elif c.variant == "aws_warned_then_own":
        cloud.bridge(t - 50, "EC2 Spot Instance Interruption Warning", "aws.ec2", {"instance-id": cloud.id, "instance-action": "terminate"})
        right = own_failure(c, m, log, t + 1)
        cloud.evicted(t + 70)
        cloud.instance(-900, "terminated", ("Server.SpotInstanceTermination", "Server.SpotInstanceTermination: Spot instance termination"), f"Server.SpotInstanceTermination ({c.at(t + 70):%Y-%m-%d %H:%M:%S} GMT)")
    elif c.variant == "aws_teardown":
        cloud.trail(t, "TerminateInstances", one)
        cloud.instance(-900, "terminated", ended, f"User initiated ({stamp})")
        cleanup()
        right, actor = ["ops.manual_delete"], [one]
    elif c.variant == "gce_error_then_stop":
        cloud.system(t + 10, "hostError", "Instance terminated by Compute Engine.")
        cloud.call(t + 400, "stop", f"{one}@lab.example")
        right = ["cloud.host_error"]
    elif c.variant == "gce_stop_then_preempted":
        cloud.call(t, "stop", f"{one}@lab.example")
        cloud.system(t + 30, "preempted", "Instance was preempted.")
        right, actor = ["ops.manual_delete"], [f"{one}@lab.example"]
    elif c.variant == "gce_teardown":
        cloud.call(t, "stop", f"{one}@lab.example")
        cleanup()
        right, actor = ["ops.manual_delete"], [f"{one}@lab.example"]
    elif c.variant == "azure_failed_then_done":
        cloud.call(t - 60, "deallocate/action", f"{one}@lab.example", 5, failed=True)
        cloud.call(t, "deallocate/action", f"{other}@lab.example")
        right, actor = ["ops.manual_delete"], [f"{other}@lab.example"]
    else:
        cloud.call(t, "deallocate/action", f"{one}@lab.example")
        cleanup()
        right, actor = ["ops.manual_delete"], [f"{one}@lab.example"]
    if m.down is None and kind != "aws":
        m.dies(t + 5)
    m.noise(5, t)
    m.save()
    log.save()
    cloud.save()
    c.expect(right, "several acts on one machine", actor=actor, asked="exp-1" if kind == "aws" else name)


@family("c.two_logs", "eval_failed_then_preempted eval_failed_then_deleted eval_done_then_train_fails train_fails_eval_goes_on", 6)
def two_logs(c):
    """Two programs on one machine; the run is train.log's experiment, eval is a helper beside it."""
    who = "carol@lab.example"
    g = Gce(c)
    g.call(-900, "insert", "alice@lab.example", 20)
    m, log = guest(c, g.vm, g.vm)
    log.begin(1)
    beside = Train(c, f"{g.vm}/eval.log")
    beside.say(2, "evaluating checkpoints as they come")
    t, actor = c.between(1000, 1500), None
    early = t - 500
    if c.variant.startswith("eval_failed"):
        beside.traceback(early, *c.pick(*OWN_ERRORS))
        log.steps(1, t)
        if c.variant.endswith("preempted"):
            g.system(t + 1, "preempted", "Instance was preempted.")
            right = ["cloud.spot_reclaimed"]
        else:
            g.call(t, "delete", who)
            right, actor = ["ops.manual_delete"], [who]
    elif c.variant == "eval_done_then_train_fails":
        beside.say(early, "evaluation completed")
        log.steps(1, t - 1)
        right = own_failure(c, m, log, t)
    else:
        log.steps(1, t - 1)
        right = own_failure(c, m, log, t)
        beside.steps(2, t + 300)
    m.noise(5, t)
    m.save()
    log.save()
    beside.save()
    g.save()
    c.expect(right, "two programs on one machine", actor=actor, asked=g.vm)


@family("c.behind", "gce_stop gce_preempted gce_delete aws_terminate aws_spot azure_deallocate gce_maint", 6)
def behind(c):
    """The guest goes down in good order for what its cloud does, by a clock that is behind the cloud's."""
    off = (-3.0, -20.0, -45.0, -60.0, -90.0, -120.0)[c.number]
    who = "carol@lab.example"
    kind, act = c.variant.split("_", 1)
    cloud = {"gce": Gce, "aws": Aws, "azure": Azure}[kind](c)
    name = cloud.dns if kind == "aws" else cloud.vm
    m, log = guest(c, name, cloud.id if kind == "aws" else name, off)
    shifted(log, off)
    log.begin(1)
    t, actor = c.between(1000, 1500), None
    log.steps(1, t + 0.5)
    m.goes_down(t + 1.5, "poweroff")
    if kind == "gce":
        cloud.call(-900, "insert", "alice@lab.example", 20)
    stamp = f"{c.at(t):%Y-%m-%d %H:%M:%S} GMT"
    if act in ("stop", "delete") and kind == "gce":
        cloud.call(t, act, who)
        right, actor = ["ops.manual_delete"], [who]
    elif act == "preempted":
        cloud.system(t + 20, "preempted", "Instance was preempted.")
        right = ["cloud.spot_reclaimed"]
    elif act == "maint":
        cloud.system(t + 10, "terminateOnHostMaintenance", "Instance terminated during Compute Engine maintenance.")
        right = ["ops.host_maintenance"]
    elif act == "terminate":
        cloud.trail(t, "TerminateInstances", "carol")
        cloud.instance(-900, "terminated", ("Client.UserInitiatedShutdown", "Client.UserInitiatedShutdown: User initiated shutdown"), f"User initiated ({stamp})")
        right, actor = ["ops.manual_delete"], ["carol"]
    elif act == "spot":
        cloud.evicted(t + 5)
        cloud.instance(-900, "terminated", ("Server.SpotInstanceTermination", "Server.SpotInstanceTermination: Spot instance termination"), f"Server.SpotInstanceTermination ({stamp})")
        right = ["cloud.spot_reclaimed"]
    else:
        cloud.machine()
        cloud.call(t, "deallocate/action", who)
        right, actor = ["ops.manual_delete"], [who]
    m.noise(5, t)
    m.save()
    log.save()
    cloud.save()
    c.expect(right, f"the guest's clock is {off} s off", actor=actor, asked="exp-1" if kind == "aws" else name)


@family("c.second_life", "reset_then_panic reset_then_own error_then_preempted reboot_then_error error_then_stop stop_then_oom", 6)
def second_life(c):
    """The machine was started again, the run went on from its checkpoint, and its second life ends."""
    first, then = c.variant.split("_then_")
    who = c.pick(*PEOPLE)
    g = Gce(c)
    g.call(-900, "insert", "alice@lab.example", 20)
    m, log = guest(c, g.vm, g.vm)
    log.begin(1)
    t, actor = c.between(500, 800), None
    log.steps(1, t)
    if first == "reset":
        g.call(t, "reset", f"{who}@lab.example", 3)
        m.dies(t + 1)
    elif first == "error":
        g.system(t + 10, "hostError", "Instance terminated by Compute Engine.")
        g.system(t + 60, "automaticRestart", "Instance automatically restarted by Compute Engine.")
        m.dies(t)
    elif first == "stop":
        g.call(t, "stop", f"{who}@lab.example")
        m.goes_down(t + 1.5, "poweroff")
        g.call(t + 80, "start", f"{who}@lab.example")
    else:
        person_reboots(c, m, t)
    up = t + 140
    m.boots(up)
    m.start(up + 8)
    log.say(up + 10, "resuming from checkpoint step=100")
    end = up + 12 + c.between(300, 1200)
    log.steps(up + 12, end)
    if then == "panic":
        m.kernel(end + 0.2, "Kernel panic - not syncing: Fatal exception")
        m.boots(end + 120)
        right = ["node.kernel_panic"]
    elif then == "own":
        right = own_failure(c, m, log, end + 1)
    elif then == "preempted":
        g.system(end + 1, "preempted", "Instance was preempted.")
        m.dies(end)
        right = ["cloud.spot_reclaimed"]
    elif then == "error":
        g.system(end + 15, "hostError", "Instance terminated by Compute Engine.")
        m.dies(end)
        right = ["cloud.host_error"]
    elif then == "stop":
        g.call(end, "stop", f"{who}@lab.example")
        m.dies(end + 1)
        right, actor = ["ops.manual_delete"], [f"{who}@lab.example"]
    else:
        m.oom_own(end, True)
        right = ["code.host_oom"]
    m.noise(5, end)
    m.save()
    log.save()
    g.save()
    c.expect(right, "the second life ends", actor=actor, asked=g.vm)


@family("c.running", "gce aws azure gce_after_reset aws_reboot_before azure_failed_call", 6)
def runs(c):
    """The program writes to the end of what is known."""
    who = "carol@lab.example"
    kind = c.variant.split("_")[0]
    cloud = {"gce": Gce, "aws": Aws, "azure": Azure}[kind](c)
    name = cloud.dns if kind == "aws" else cloud.vm
    m, log = guest(c, name, cloud.id if kind == "aws" else name)
    log.begin(1)
    end = 2000
    if kind == "gce":
        cloud.call(-900, "insert", "alice@lab.example", 20)
    elif kind == "aws":
        cloud.instance(-900)
    else:
        cloud.machine()
    if c.variant == "gce_after_reset":
        log.steps(1, 600)
        cloud.call(601, "reset", who, 3)
        m.dies(602)
        m.boots(650)
        m.start(660)
        log.say(662, "resuming from checkpoint step=100")
        log.steps(663, end)
    else:
        log.steps(1, end)
    if c.variant == "aws_reboot_before":
        cloud.trail(-300, "RebootInstances", "carol", more={"instancesSet": {"items": [{"instanceId": cloud.id}]}})
        m.dies(-299)
        m.boots(-250)
    elif c.variant == "azure_failed_call":
        cloud.call(end - 100, "deallocate/action", who, 3, failed=True)
    m.noise(5, end)
    m.save()
    log.save()
    cloud.save()
    c.expect(["none.running"], "the program writes on", asked="exp-1" if kind == "aws" else name)


@family("c.gang_aws", "spot_then_cleanup terminate_one own_then_scale_in internal_error stop_all reboot_one", 6)
def gang_aws(c):
    """Three instances of one experiment; the others give up waiting, and somebody tidies up."""
    t, who, actor, first = c.between(1000, 1500), c.pick(*PEOPLE), None, c.number % 3
    machines = [Aws(c) for _ in range(3)]
    for rank, a in enumerate(machines):
        a.entries = machines[0].entries
        is_first = rank == first
        m, log = guest(c, a.dns, a.id)
        log.form = "logging"
        log.say(1, f"starting rank={rank} world_size=3")
        log.steps(1, t - 0.2 if is_first else t)
        state, reason, transition = "running", None, ""
        user = ("Client.UserInitiatedShutdown", "Client.UserInitiatedShutdown: User initiated shutdown")
        late = t + 1300
        if c.variant == "stop_all":
            a.trail(t, "StopInstances", who)
            state, reason, transition = "stopped", user, f"User initiated ({c.at(t):%Y-%m-%d %H:%M:%S} GMT)"
            right, actor = ["ops.manual_delete"], [who]
        elif not is_first:
            log.say(t + 600, f"[rank{rank}]: Watchdog caught collective operation timeout: WorkNCCL(SeqNum=4711, OpType=ALLREDUCE, NumelIn=1048576, NumelOut=1048576, Timeout(ms)=600000) ran for 600012 milliseconds before timing out.", "ERROR")
            m.exit(t + 601, 1)
            if c.variant == "own_then_scale_in":
                a.activity(late, f"At {a.z(late)} an instance was taken out of service in response to a difference between desired and actual capacity, shrinking the capacity from 3 to 2. At {a.z(late)} instance {a.id} was selected for termination.")
                state = "terminated"
            elif c.variant == "spot_then_cleanup":
                a.trail(late, "TerminateInstances", who)
                state, reason, transition = "terminated", user, f"User initiated ({c.at(late):%Y-%m-%d %H:%M:%S} GMT)"
        elif c.variant == "spot_then_cleanup":
            a.evicted(t + 1)
            state, reason, transition = "terminated", ("Server.SpotInstanceTermination", "Server.SpotInstanceTermination: Spot instance termination"), f"Server.SpotInstanceTermination ({c.at(t):%Y-%m-%d %H:%M:%S} GMT)"
            right = ["cloud.spot_reclaimed"]
        elif c.variant == "terminate_one":
            a.trail(t, "TerminateInstances", who)
            state, reason, transition = "terminated", user, f"User initiated ({c.at(t):%Y-%m-%d %H:%M:%S} GMT)"
            right, actor = ["ops.manual_delete"], [who]
        elif c.variant == "own_then_scale_in":
            right = own_failure(c, m, log, t)
        elif c.variant == "internal_error":
            state, reason, transition = "stopped", ("Server.InternalError", "Server.InternalError: Internal error"), f"Server.InternalError ({c.at(t):%Y-%m-%d %H:%M:%S} GMT)"
            right = ["cloud.host_error"]
        else:
            m.sudo(t, who, "/usr/sbin/reboot")
            m.goes_down(t + 0.5)
            m.boots(t + 60)
            right, actor = ["node.reboot"], [who]
        a.instance(-900 + rank, state, reason, transition)
        m.noise(5, t)
        m.save()
        log.save()
    machines[0].save()
    c.expect(right, "a gang of three instances", actor=actor, asked="exp-1")


@family("c.fault_then", "preempted host_error stop reset terminate_maint aws_spot aws_terminate azure_deallocate", 9)
def fault_then(c):
    """The guest's kernel tells of a fault, the run makes a hundred steps and more, and the cloud or somebody takes the machine."""
    kind, act = c.variant.split("_", 1) if c.variant.startswith(("aws", "azure")) else ("gce", c.variant)
    cloud = {"gce": Gce, "aws": Aws, "azure": Azure}[kind](c)
    name = cloud.dns if kind == "aws" else cloud.vm
    m, log = guest(c, name, cloud.id if kind == "aws" else name)
    log.every = 2
    log.begin(1)
    fault, actor, who = c.between(300, 500), None, "carol@lab.example"
    trouble(c, m, fault, ("xid79", "nvlink", "link", "mem", "disk", "xid119", "pcie", "lockup", "xid48")[c.number])
    t = fault + c.pick(250, 400, 600, 850) + c.between(0, 20)
    log.steps(1, t)
    if kind == "gce":
        cloud.call(-900, "insert", "alice@lab.example", 20)
    if act == "preempted":
        cloud.system(t + 1, "preempted", "Instance was preempted.")
        right = ["cloud.spot_reclaimed"]
    elif act == "host_error":
        cloud.system(t + 10, "hostError", "Instance terminated by Compute Engine.")
        right = ["cloud.host_error"]
    elif act == "terminate_maint":
        cloud.system(t + 1, "terminateOnHostMaintenance", "Instance terminated during Compute Engine maintenance.")
        right = ["ops.host_maintenance"]
    elif act in ("stop", "reset"):
        cloud.call(t + 0.5, act, who, 3)
        right, actor = ["ops.manual_delete"], [who]
    elif act == "spot":
        cloud.evicted(t + 1)
        cloud.instance(-900, "terminated", ("Server.SpotInstanceTermination", "Server.SpotInstanceTermination: Spot instance termination"), f"Server.SpotInstanceTermination ({c.at(t):%Y-%m-%d %H:%M:%S} GMT)")
        right = ["cloud.spot_reclaimed"]
    elif act == "terminate":
        cloud.trail(t + 0.5, "TerminateInstances", "carol")
        cloud.instance(-900, "terminated", ("Client.UserInitiatedShutdown", "Client.UserInitiatedShutdown: User initiated shutdown"), f"User initiated ({c.at(t):%Y-%m-%d %H:%M:%S} GMT)")
        right, actor = ["ops.manual_delete"], ["carol"]
    else:
        cloud.machine()
        cloud.call(t + 0.5, "deallocate/action", who)
        right, actor = ["ops.manual_delete"], [who]
    m.dies(t + 1)
    if act == "reset":
        m.boots(t + 40)
    m.noise(5, t)
    m.save()
    log.save()
    cloud.save()
    c.expect(right, "a fault long before the cloud's act", actor=actor, asked="exp-1" if kind == "aws" else name)


@family("c.aws_names", "id dns_short dns_full ip tag upper_host fqdn_host", 6)
def aws_names(c):
    """What people call the folder of an EC2 instance, and what the instance calls itself."""
    a = Aws(c)
    host, folder = {"id": (a.dns, a.id), "dns_short": (a.dns, a.dns), "dns_full": (a.dns, f"{a.dns}.ec2.internal"), "ip": (a.dns, a.dns[3:].replace("-", ".")), "tag": (a.dns, "trainer-3"),
                    "upper_host": (a.dns.upper(), a.id), "fqdn_host": (f"{a.dns}.ec2.internal", a.dns)}[c.variant]
    m, log = guest(c, host, folder)
    log.begin(1)
    t, actor, who = c.between(1000, 1500), None, c.pick(*PEOPLE)
    if c.number % 2:
        log.steps(1, t)
        m.sudo(t, who, "/usr/sbin/reboot")
        m.goes_down(t + 0.5)
        m.boots(t + 60)
        right, actor = ["node.reboot"], [who]
    else:
        log.steps(1, t - 1)
        right = own_failure(c, m, log, t)
    a.instance(-900)
    a.entries["instances.json"][0]["Tags"].append({"Key": "Name", "Value": "trainer-3"})
    m.noise(5, t + 300)
    m.save()
    log.save()
    a.save()
    c.expect(right, f"folder {c.variant}", actor=actor, asked="exp-1")
