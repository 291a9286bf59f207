"""What a cloud does to a machine that goes down in good order: the guest names nobody."""

from clouds import guest
from kit import PEOPLE, family
from world import Aws, Azure, Gce, rfc1123


@family("z.orderly", "gce_terminate_maint aws_system_reboot azure_sched_redeploy azure_sched_reboot azure_user_restart gce_stop_slow gce_mig_delete aws_stop_nobody azure_sched_reboot_then_own", 10)
def orderly(c):
    v = c.variant
    t, who, actor, mild = c.between(900, 1500), c.pick(*PEOPLE), None, []
    if v.startswith("gce"):
        box = Gce(c, "trainer-vm-8")
        box.call(-900, "insert", "alice@lab.example", 20)
        host = folder = asked = box.vm
    elif v.startswith("aws"):
        box = Aws(c)
        host, folder, asked = box.dns, box.id, "exp-1"
    else:
        box = Azure(c, "trainer-vm-3")
        box.machine()
        host = folder = asked = box.vm
    m, log = guest(c, host, folder)
    log.steps(1, t)
    if v == "gce_terminate_maint":
        box.system(t + c.pick(-2, 1, 30, 80), "terminateOnHostMaintenance", "Instance terminated during Compute Engine maintenance.")
        m.goes_down(t + 0.6, "poweroff")
        right = ["ops.host_maintenance"]
    elif v == "aws_system_reboot":
        due = rfc1123(c.at(t - c.pick(1, 30, 200)))
        box.bridge(t - 86400 * 5, "AWS Health Event", "aws.health", {"eventArn": f"arn:aws:health:us-east-1::event/EC2/AWS_EC2_INSTANCE_REBOOT_MAINTENANCE_SCHEDULED/{box.uuid()}", "service": "EC2",
                   "eventTypeCode": "AWS_EC2_INSTANCE_REBOOT_MAINTENANCE_SCHEDULED", "eventTypeCategory": "scheduledChange", "startTime": due, "endTime": rfc1123(c.at(t + 7200)),
                   "eventDescription": [{"language": "en_US", "latestDescription": "Your instance is scheduled for a reboot."}], "affectedEntities": [{"entityValue": box.id}]})
        m.goes_down(t + 0.6)
        m.boots(t + 90)
        box.instance(-1000)
        right = ["ops.host_maintenance"]
    elif v in ("azure_sched_redeploy", "azure_sched_reboot"):
        box.scheduled(t - c.pick(0.5, 3, 20), "Redeploy" if v.endswith("redeploy") else "Reboot")
        m.goes_down(t + 0.6)
        m.boots(t + 120)
        right = ["ops.host_maintenance"]
    elif v == "azure_user_restart":
        box.scheduled(t, "Reboot", source="User")
        box.call(t + 0.2, "restart/action", who + "@lab.example")
        m.goes_down(t + 1.5)
        m.boots(t + 70)
        right, actor = ["ops.manual_delete"], [who + "@lab.example"]
    elif v == "gce_stop_slow":
        box.call(t + 0.2, "stop", who + "@lab.example", 95)
        m.goes_down(t + 1.2, "poweroff")
        right, actor = ["ops.manual_delete"], [who + "@lab.example"]
    elif v == "gce_mig_delete":
        box.call(t + 0.2, "delete", "123456789012@cloudservices.gserviceaccount.com", 60, agent="GCE Managed Instance Group")
        m.goes_down(t + 1.2, "poweroff")
        right = ["cloud.instance_terminated", "ops.manual_delete", "ops.scale_down"]
    elif v == "aws_stop_nobody":
        box.state(t + 0.5, "stopping")
        m.goes_down(t + 1.2, "poweroff")
        box.instance(-1000, "stopped", ("Client.UserInitiatedShutdown", "Client.UserInitiatedShutdown: User initiated shutdown"), f"User initiated ({c.at(t + 1):%Y-%m-%d %H:%M:%S} GMT)")
        right = ["ops.manual_delete", "cloud.instance_terminated", "node.shutdown"]
    else:
        log.traceback(t - 30, "KeyError: 'pixel_values'", '    x = batch["pixel_values"]')
        log.lines = [one for one in log.lines if one[0] <= t - 30]
        m.exit(t - 29.5, 1)
        box.scheduled(t, "Reboot")
        from kit import down_quietly
        down_quietly(m, t + 0.6)
        m.boots(t + 120)
        right = ["code.exception"]
    m.noise(5, t)
    m.save()
    log.save()
    box.save()
    c.expect(right, v, mild=mild, actor=actor, asked=asked)
