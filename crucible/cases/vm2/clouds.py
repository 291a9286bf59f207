"""Clouds: one true end, look-alikes before and after it, in the cloud's records alone or beside the machine's own."""

import json

from kit import BEFORE, NOBODY, OWN, PEOPLE, bystander, family, goes_away
from world import Aws, Azure, Case, Gce, Machine, OWN_ERRORS, Train, iso, rfc1123


def guest(c, host, folder, unit=True):
    c.form = c.form if c.form != "syslog" else "rsyslog"
    m = Machine(c, host, folder)
    log = Train(c, f"{folder}/train.log")
    m.noise(-800, 0)
    if unit:
        m.start(0)
    log.begin(1, m.pid)
    return m, log


def gsys(g, t, what, message="", **more):
    g.system(t, what, message, **more)


def upcoming(g, t, status, start, end, kind="SCHEDULED", message=""):
    g.system(t, "upcomingMaintenance", message)
    last = g.entries["gcp.jsonl"][-1]["protoPayload"]
    last["metadata"] = {"maintenanceStatus": status, "type": kind, "windowStartTime": g.z(start), "windowEndTime": g.z(end), "latestWindowStartTime": g.z(start), "canReschedule": True}


G_ENDS = "own killed bare oom_unit segv stop_service reboot poweroff panic completed running stop delete reset preempted host_error terminate_maint suspend silent"


def gce_noise(c, g, t, kind, after=False):
    who = c.pick(*PEOPLE) + "@lab.example"
    near = c.pick(g.vm + "0", g.vm[:-1] + "7", g.vm + "-b", g.vm[:-1])
    other = {"vm": near, "id": "9" * 16}
    if kind == "other_stop":
        g.call(t, "stop", who, **other)
    elif kind == "other_delete":
        g.call(t, "delete", who, **other)
    elif kind == "other_preempted":
        g.system(t, "preempted", "Instance was preempted.", **other)
    elif kind == "other_host_error":
        g.system(t, "hostError", "Instance terminated by Compute Engine.", **other)
    elif kind == "migrate":
        g.system(t, "migrateOnHostMaintenance", "Instance migrated during Compute Engine maintenance.")
    elif kind == "denied":
        g.call(t, c.pick("stop", "delete", "reset"), who, 2, error={"code": 7, "message": f"Required 'compute.instances.stop' permission for 'projects/lab-train/zones/us-central1-a/instances/{g.vm}'"})
    elif kind == "stop_failed":
        g.call(t, "stop", who, 30, error={"code": 9, "message": "The resource is not ready"})
    elif kind == "labels":
        g.call(t, c.pick("setLabels", "setMetadata", "setTags", "attachDisk", "addAccessConfig", "updateShieldedInstanceConfig"), who, 4)
    elif kind == "announced":
        upcoming(g, t, "PENDING", t + 86400 * 3, t + 86400 * 3 + 14400)
    elif kind == "window_done":
        upcoming(g, t, "PENDING", t - 3600, t - 60, message="Maintenance window has completed for this instance. All maintenance notifications on the instance have been removed.")
    elif kind == "screenshot":
        g.call(t, "getSerialPortOutput", who, 1)
    elif kind == "late_stop" and after:
        g.call(t, "stop", who)
    elif kind == "late_delete" and after:
        g.call(t, "delete", who)
    elif kind == "late_preempted" and after:
        g.system(t, "preempted", "Instance was preempted.")
    elif kind == "late_host_error" and after:
        g.system(t, "hostError", "Instance terminated by Compute Engine.")
    elif kind == "simulate":
        g.call(t, "simulateMaintenanceEvent", who, 60)
        g.system(t + 20, "migrateOnHostMaintenance", "Instance migrated during Compute Engine maintenance.")


G_NOISE = "other_stop other_delete other_preempted other_host_error migrate denied stop_failed labels announced window_done screenshot simulate".split()
G_LATE = G_NOISE + "late_stop late_delete late_preempted late_host_error".split()


@family("c.ggrid", G_ENDS, 16)
def ggrid(c):
    g = Gce(c, c.pick("trainer-1", "trainer-vm-8", "exp9", "w-3"))
    g.call(-900, "insert", "alice@lab.example", 20)
    inside = c.number % 4 != 3
    m, log = guest(c, g.vm, g.vm)
    t, who, actor, mild, right, v = c.between(1300, 2000), c.pick(*PEOPLE) + "@lab.example", None, [], None, c.variant
    for when in (t - c.between(300, 900), t - c.between(30, 280)):
        gce_noise(c, g, when, c.pick(*G_NOISE))
    log.steps(1, t)
    late = v not in ("running",)
    if v == "stop_service":
        right, mild, actor = goes_away(c, m, log, t, "stop")
    elif v in ("own", "killed", "bare", "oom_unit", "segv", "reboot", "poweroff", "panic", "completed"):
        right, mild, actor = goes_away(c, m, log, t, v)
        if v == "poweroff":
            m.gaps, m.down = [], t
            m.lines = [row for row in m.lines if row[0] < t + 300]
            g.system(t + 25, "guestTerminate", "Guest OS-initiated instance termination.")
            late = False
    elif v == "running":
        right, mild = ["none.running"], ["unknown"]
    elif v in ("stop", "delete", "reset", "suspend"):
        g.call(t + 0.5, v, who, 3 if v == "reset" else 40)
        if v == "reset":
            m.dies(t + 1)
            m.boots(t + 45)
        elif c.number % 2 and v != "suspend":
            m.goes_down(t + 1, "poweroff")
        else:
            m.dies(t + 1)
        right, actor, late = ["ops.manual_delete"], [who], v == "reset"
    elif v == "preempted":
        g.system(t + 1, "preempted", "Instance was preempted.")
        m.goes_down(t + 0.5, "poweroff") if c.number % 2 else m.dies(t)
        right, late = ["cloud.spot_reclaimed"], False
    elif v == "host_error":
        m.dies(t)
        g.system(t + c.between(2, 40), "hostError", "Instance terminated by Compute Engine.")
        g.system(t + 90, "automaticRestart", "Instance automatically restarted by Compute Engine.")
        m.boots(t + 120)
        right = ["cloud.host_error"]
    elif v == "terminate_maint":
        m.dies(t)
        upcoming(g, t - 3600, "PENDING", t - 5, t + 7200)
        g.system(t, "terminateOnHostMaintenance", "Instance terminated during Compute Engine maintenance.")
        right, late = ["ops.host_maintenance"], False
    else:
        # Nothing tells: the log and the journal stop.
        m.dies(t)
        right, mild, late = ["unknown", "none.running"], [], False
        gce_noise(c, g, t + 400, c.pick("other_stop", "migrate", "other_preempted", "labels"))
    if late:
        later = t + (220 if v in ("host_error", "reset", "reboot", "panic") else 0)
        gce_noise(c, g, later + c.between(60, 200), c.pick(*G_NOISE))
        gce_noise(c, g, later + c.between(210, 700), c.pick(*(G_LATE if inside or v in ("own", "completed") else G_NOISE)), after=True)
    if not inside:
        if v in ("killed", "bare", "oom_unit", "segv", "stop_service", "reboot", "poweroff", "panic"):
            right, mild, actor = (["node.shutdown", "ops.manual_delete", "unknown"] if v == "poweroff" else ["unknown", "none.running"]), list(mild) + right + ["node.reboot"], None
    m.noise(5, t)
    if inside:
        m.save()
    log.save()
    g.save()
    c.expect(right, f"{v} of a machine of Compute Engine", mild=mild, actor=actor, asked=g.vm)


A_ENDS = "own killed bare oom_unit segv stop_service reboot completed terminate stop reboot_call spot internal_error retirement_stop user_poweroff silent"


def aws_noise(c, a, t, kind, after=False):
    who, other = c.pick(*PEOPLE), [a.id[:-1] + ("0" if a.id[-1] != "0" else "1")]
    if kind == "other_terminate":
        a.trail(t, "TerminateInstances", who, ids=other)
    elif kind == "other_stop":
        a.trail(t, "StopInstances", who, ids=other)
    elif kind == "dry_run":
        a.trail(t, "TerminateInstances", who, error=("Client.DryRunOperation", "Request would have succeeded, but DryRun flag is set."))
    elif kind == "denied":
        a.trail(t, c.pick("TerminateInstances", "StopInstances", "RebootInstances"), who, error=("Client.UnauthorizedOperation", "You are not authorized to perform this operation."))
    elif kind == "protected":
        a.trail(t, "TerminateInstances", who, error=("Client.OperationNotPermitted", f"The instance '{a.id}' may not be terminated. Modify its 'disableApiTermination' instance attribute and try again."))
    elif kind == "tags":
        a.trail(t, c.pick("CreateTags", "ModifyInstanceAttribute", "CreateSnapshot", "AssociateAddress", "MonitorInstances"), who, more={"instanceId": a.id, "resourcesSet": {"items": [{"resourceId": a.id}]}})
    elif kind == "rebalance":
        a.bridge(t, "EC2 Instance Rebalance Recommendation", "aws.ec2", {"instance-id": a.id})
    elif kind == "retire_later":
        a.bridge(t, "AWS Health Event", "aws.health", {"eventArn": f"arn:aws:health:us-east-1::event/EC2/AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED/{a.uuid()}", "service": "EC2", "eventTypeCode": "AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED",
                 "eventTypeCategory": "scheduledChange", "startTime": gmt(c, t + 86400 * 9), "endTime": gmt(c, t + 86400 * 9 + 7200), "eventDescription": [{"language": "en_US", "latestDescription": "EC2 has detected degradation of the underlying hardware."}], "affectedEntities": [{"entityValue": a.id}]})
    elif kind == "asg_other":
        a.put("asg-activities.json", {"ActivityId": a.uuid(), "AutoScalingGroupName": "web-asg", "Cause": f"At {a.z(t)} an instance was taken out of service in response to an EC2 health check indicating it has been terminated or stopped.", "StatusCode": "Successful",
                                      "Progress": 100, "Description": f"Terminating EC2 instance: {other[0]}", "StartTime": a.z(t, 3), "EndTime": a.z(t + 50), "Details": "{}"})
    elif kind == "late_terminate" and after:
        a.trail(t, "TerminateInstances", who)
        a.state(t + 1, "shutting-down")
    elif kind == "late_stop" and after:
        a.trail(t, "StopInstances", who)
    elif kind == "late_spot" and after:
        a.evicted(t)


def gmt(c, t):
    from world import rfc1123
    return rfc1123(c.at(t))


A_NOISE = "other_terminate other_stop dry_run denied protected tags rebalance retire_later asg_other".split()
A_LATE = A_NOISE + "late_terminate late_stop late_spot".split()


@family("c.agrid", A_ENDS, 16)
def agrid(c):
    a = Aws(c)
    folder = (a.id, a.dns, f"{a.dns}.ec2.internal")[c.number % 3]
    m, log = guest(c, a.dns, folder)
    t, who, actor, mild, v = c.between(1300, 2000), c.pick(*PEOPLE), None, [], c.variant
    for when in (t - c.between(300, 900), t - c.between(30, 280)):
        aws_noise(c, a, when, c.pick(*A_NOISE))
    log.steps(1, t)
    state, reason, transition, late = "running", None, "", True
    stamp = c.at(t + 1).strftime("%Y-%m-%d %H:%M:%S GMT")
    if v == "stop_service":
        right, mild, actor = goes_away(c, m, log, t, "stop")
    elif v in ("own", "killed", "bare", "oom_unit", "segv", "reboot", "completed"):
        right, mild, actor = goes_away(c, m, log, t, v)
    elif v in ("terminate", "stop"):
        a.trail(t + 0.6, "TerminateInstances" if v == "terminate" else "StopInstances", who)
        m.goes_down(t + 1.5, "poweroff") if c.number % 2 else m.dies(t + 1)
        state, reason, transition = ("terminated" if v == "terminate" else "stopped"), ("Client.UserInitiatedShutdown", "Client.UserInitiatedShutdown: User initiated shutdown"), f"User initiated ({stamp})"
        right, actor, late = ["ops.manual_delete"], [who], False
    elif v == "reboot_call":
        a.trail(t + 0.6, "RebootInstances", who, more={"instancesSet": {"items": [{"instanceId": a.id}]}})
        m.goes_down(t + 1.5)
        m.boots(t + 50)
        right, actor = ["ops.manual_delete", "node.reboot"], [who]
    elif v == "spot":
        if c.number % 3:
            a.bridge(t - 119, "EC2 Spot Instance Interruption Warning", "aws.ec2", {"instance-id": a.id, "instance-action": "terminate"})
        a.evicted(t + 1)
        m.dies(t)
        state, reason, transition, late = "terminated", ("Server.SpotInstanceTermination", "Server.SpotInstanceTermination: Spot instance termination"), f"Server.SpotInstanceTermination ({stamp})", False
        right = ["cloud.spot_reclaimed"]
    elif v == "internal_error":
        m.dies(t)
        state, reason, transition, late = "stopped", ("Server.InternalError", "Server.InternalError: Internal error on launch"), f"Server.InternalError ({stamp})", False
        right = ["cloud.host_error"]
    elif v == "retirement_stop":
        a.bridge(t - 86400 * 5, "AWS Health Event", "aws.health", {"eventArn": f"arn:aws:health:us-east-1::event/EC2/AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED/{a.uuid()}", "service": "EC2", "eventTypeCode": "AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED",
                 "eventTypeCategory": "scheduledChange", "startTime": gmt(c, t), "endTime": gmt(c, t + 7200), "eventDescription": [{"language": "en_US", "latestDescription": "EC2 has detected degradation of the underlying hardware."}], "affectedEntities": [{"entityValue": a.id}]})
        m.goes_down(t + 1, "poweroff")
        state, reason, transition, late = "stopped", ("Server.ScheduledStop", "Server.ScheduledStop: Stopped due to scheduled retirement"), f"Server.ScheduledStop ({stamp})", False
        right = ["ops.host_maintenance", "cloud.instance_terminated", "cloud.host_error"]
    elif v == "user_poweroff":
        right, mild, actor = goes_away(c, m, log, t, "poweroff")
        m.gaps, m.down = [], t
        m.lines = [row for row in m.lines if row[0] < t + 300]
        state, reason, transition, late = "stopped", ("Client.InstanceInitiatedShutdown", "Client.InstanceInitiatedShutdown: Instance initiated shutdown"), "", False
    else:
        m.dies(t)
        right, mild, late = ["unknown", "none.running"], [], False
    if late:
        later = t + (220 if v in ("reboot", "reboot_call") else 0)
        aws_noise(c, a, later + c.between(60, 200), c.pick(*A_NOISE))
        kind = c.pick(*A_LATE)
        aws_noise(c, a, later + c.between(310, 700), kind, after=True)
        if kind.startswith("late"):
            state = "stopped" if kind == "late_stop" else "terminated"
    if c.number % 4 == 1 and v not in ("terminate", "stop", "spot", "reboot_call"):
        a.trail(-1000, "RunInstances", "alice", more={"instanceType": "p5.48xlarge"})
        a.entries["cloudtrail.json"][-1]["responseElements"] = {"instancesSet": {"items": [{"instanceId": a.id, "privateDnsName": f"{a.dns}.ec2.internal", "instanceState": {"code": 0, "name": "pending"}}]}}
    if c.number % 4 != 1:
        a.instance(-1000, state, reason, transition)
        c.asked = a.id
        asked = "exp-1"
    else:
        asked = a.id
        if v in ("internal_error", "retirement_stop"):
            a.instance(-1000, state, reason, transition)
    m.noise(5, t)
    m.save()
    log.save()
    a.save()
    if asked != "exp-1" and v not in ("terminate", "stop", "spot"):
        asked = a.id
    c.expect(right, f"{v} of an instance", mild=mild, actor=actor, asked=asked)


Z_ENDS = "own killed oom_unit segv stop_service reboot completed restart deallocate powerOff delete redeploy platform preempt planned_reboot silent"


def azure_noise(c, z, t, kind, after=False):
    who = c.pick(*PEOPLE) + "@lab.example"
    near = z.res + c.pick("0", "-b", "1")
    if kind == "other":
        z.call(t, c.pick("deallocate/action", "powerOff/action", "delete", "restart/action"), who, res=near)
    elif kind == "failed":
        z.call(t, c.pick("deallocate/action", "restart/action", "delete"), who, 5, failed=True)
    elif kind == "extension":
        z.call(t, c.pick("extensions/write", "write", "start/action", "runCommand/action", "assessPatches/action"), c.pick(who, "11111111-2222-4333-8444-555555555555"), 30)
    elif kind == "freeze":
        z.scheduled(t, "Freeze", c.pick("Scheduled", "Started", "Completed"), lasts=9)
        z.health(t, "PlatformInitiated", "Planned", "Live Migration in progress", "the virtual machine is paused due to a memory-preserving Live Migration operation.", status="Degraded", kind="Informational")
    elif kind == "degraded":
        z.health(t, "PlatformInitiated", "Unplanned", "Degraded performance", "Your virtual machine is running on hardware that is predicted to fail.", status="Degraded", kind="Informational")
    elif kind == "blip":
        z.health(t, "Unknown", "Unplanned", "Unavailable", "We are unable to determine the health.", status="Unknown", kind="Informational")
        z.health(t + 60, "Unknown", "Unplanned", "Available", "", status="Available", stage="Resolved")
    elif kind == "canceled":
        z.scheduled(t, c.pick("Reboot", "Redeploy"), "Canceled")
    elif kind == "later":
        z.scheduled(t + 90000, c.pick("Reboot", "Redeploy"), "Scheduled")
    elif kind == "late_deallocate" and after:
        z.call(t, "deallocate/action", who)
    elif kind == "late_platform" and after:
        z.health(t, "PlatformInitiated", "Unplanned", "Unplanned Downtime: VM Redeployed", "This virtual machine is unavailable because of an unexpected failure on the host server.")
    elif kind == "late_restart" and after:
        z.call(t, "restart/action", who)


Z_NOISE = "other failed extension freeze degraded blip canceled later".split()
Z_LATE = Z_NOISE + "late_deallocate late_platform late_restart".split()


@family("c.zgrid", Z_ENDS, 16)
def zgrid(c):
    z = Azure(c, c.pick("trainer-vm-3", "exp9", "w-1"))
    m, log = guest(c, z.vm, z.vm)
    t, who, actor, mild, v = c.between(1300, 2000), c.pick(*PEOPLE) + "@lab.example", None, [], c.variant
    for when in (t - c.between(300, 900), t - c.between(40, 280)):
        azure_noise(c, z, when, c.pick(*Z_NOISE))
    log.steps(1, t)
    late = True
    if v == "stop_service":
        right, mild, actor = goes_away(c, m, log, t, "stop")
    elif v in ("own", "killed", "oom_unit", "segv", "reboot", "completed"):
        right, mild, actor = goes_away(c, m, log, t, v)
    elif v in ("restart", "deallocate", "powerOff", "delete", "redeploy"):
        z.call(t + 0.5, v if v == "delete" else f"{v}/action", who)
        if v in ("restart", "redeploy"):
            m.dies(t + 1)
            m.boots(t + 80)
        else:
            m.goes_down(t + 1, "poweroff") if c.number % 2 else m.dies(t + 1)
            late = False
        right, actor = ["ops.manual_delete"], [who]
    elif v == "platform":
        m.dies(t)
        z.health(t + c.between(3, 60), "PlatformInitiated", "Unplanned", "Unplanned Downtime: VM Redeployed", "This virtual machine is unavailable because of an unexpected failure on the host server.")
        m.boots(t + 300)
        right = ["cloud.host_error"]
    elif v == "preempt":
        z.scheduled(t - 1, "Preempt")
        z.call(t, "deallocate/action", "Azure Spot") if False else None
        m.dies(t)
        right, late = ["cloud.spot_reclaimed"], False
    elif v == "planned_reboot":
        z.scheduled(t - 2, "Reboot")
        m.goes_down(t + 0.5)
        m.boots(t + 120)
        right = ["ops.host_maintenance"]
    else:
        m.dies(t)
        right, mild, late = ["unknown", "none.running"], [], False
        azure_noise(c, z, t + 500, c.pick("other", "extension", "later"))
    if late:
        later = t + (320 if v in ("reboot", "restart", "redeploy", "platform", "planned_reboot") else 0)
        azure_noise(c, z, later + c.between(60, 200), c.pick(*Z_NOISE))
        azure_noise(c, z, later + c.between(310, 700), c.pick(*Z_LATE), after=True)
    if c.number % 4 != 1:
        z.machine()
    m.noise(5, t)
    m.save()
    log.save()
    z.save()
    c.expect(right, f"{v} of a machine of Azure", mild=mild, actor=actor, asked=z.vm)
