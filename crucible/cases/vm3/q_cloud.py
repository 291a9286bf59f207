"""Clouds: notices and what came instead, capacity blocks, budgets, delegated and assumed identities, run commands, namesakes over projects and accounts, scale sets."""

import json

from kit import NOBODY, OWN, PEOPLE, family, goes_away
from world import Aws, Azure, Gce, Machine, OWN_ERRORS, Train, iso


def guest(c, host, folder, unit=True):
    c.form = c.form if c.form != "syslog" else "rsyslog"
    m = Machine(c, host, folder)
    log = Train(c, f"{folder}/train.log")
    m.noise(-800, 0)
    if unit:
        m.start(0)
    log.begin(1, m.pid)
    return m, log


def end(c, m, log, cloud, until):
    m.noise(5, until)
    m.save()
    log.save()
    cloud.save()


@family("n.spot2", "notice_then_own notice_then_oom notice_stop_action_then_gone notice_other_then_own rebalance_then_own rebalance_then_user_stop notice_survived_capacity_back_then_own state_terminated_only notice_then_user_terminates_after_own notice_then_gone_unit_term", 8)
def spot2(c):
    """An interruption notice, and what really ended the run."""
    a = Aws(c)
    m, log = guest(c, a.dns, a.id)
    a.instance(-900)
    t, v, mild, actor, who = c.between(900, 1500), c.variant, [], None, c.pick(*PEOPLE)
    log.steps(1, t)
    action = "stop" if v == "notice_stop_action_then_gone" else "terminate"
    n = t - c.between(20, 90)
    until = t + 400
    if v.startswith("notice") and v != "notice_other_then_own":
        a.bridge(n, "EC2 Spot Instance Interruption Warning", "aws.ec2", {"instance-id": a.id, "instance-action": action})
    if v == "notice_other_then_own":
        mine, a.id = a.id, "i-0" + a.hex(16)
        a.bridge(t - 2, "EC2 Spot Instance Interruption Warning", "aws.ec2", {"instance-id": a.id, "instance-action": "terminate"})
        a.state(t + 118, "shutting-down")
        a.evicted(t + 119)
        a.id = mine
    if v.startswith("rebalance"):
        a.bridge(n, "EC2 Instance Rebalance Recommendation", "aws.ec2", {"instance-id": a.id})
    if v in ("notice_then_own", "notice_then_oom", "notice_then_user_terminates_after_own"):
        right, mild, actor = goes_away(c, m, log, t, "oom_unit" if v.endswith("oom") else "own")
        if v == "notice_then_user_terminates_after_own":
            a.trail(t + 15, "TerminateInstances", who)
        a.state(n + 120, "shutting-down") if v != "notice_then_user_terminates_after_own" else a.state(t + 16, "shutting-down")
        if v != "notice_then_user_terminates_after_own":
            a.evicted(n + 121)
        until = n + 119
    elif v in ("notice_other_then_own", "rebalance_then_own"):
        right, mild, actor = goes_away(c, m, log, t, "own")
    elif v == "notice_survived_capacity_back_then_own":
        # The notice was withdrawn: steps go on for long.
        later = n + c.between(900, 1500)
        log.steps(t, later)
        right, mild, actor = goes_away(c, m, log, later, "own")
        until = later + 400
    elif v == "rebalance_then_user_stop":
        a.trail(t + 0.4, "StopInstances", who)
        a.state(t + 1, "stopping")
        m.goes_down(t + 1.5, "poweroff")
        a.state(t + 30, "stopped")
        right, actor, until = ["ops.manual_delete"], [who], t + 4
    elif v == "state_terminated_only":
        # Nobody's call is there, nor a notice: who did it cannot be known.
        m.dies(t + 0.2)
        a.state(t + 1, "shutting-down")
        a.state(t + 20, "terminated")
        right, mild, until = ["cloud.instance_terminated"], ["unknown", "cloud.spot_reclaimed", "ops.manual_delete"], t
    else:
        a.state(t + 1, "stopping" if action == "stop" else "shutting-down")
        a.evicted(t + 2)
        if v == "notice_then_gone_unit_term":
            m.goes_down(t + 0.5, "poweroff")
        else:
            m.dies(t + 0.5)
        right, until = ["cloud.spot_reclaimed"], t + 4
    c.expect(right, f"a notice: {v}", mild=mild, actor=actor, asked="exp-1")
    end(c, m, log, a, until)


@family("n.capblock", "ended warned_then_own warned_then_user_terminates other_block_then_own warned_completed", 8)
def capblock(c):
    """An EC2 Capacity Block ends: EventBridge warns 40 minutes before; EC2 ends the instances itself."""
    a = Aws(c)
    m, log = guest(c, a.dns, a.id)
    a.instance(-900)
    t, v, mild, actor, who = c.between(2600, 3000), c.variant, [], None, c.pick(*PEOPLE)
    log.steps(1, t)
    block = "cr-0" + a.hex(16)
    def warn(at, block, ids):
        a.put("eventbridge.jsonl", {"version": "0", "id": a.uuid(), "detail-type": "Capacity Block Reservation Expiration Warning", "source": "aws.ec2", "account": "123456789012", "time": a.z(at), "region": "us-east-1",
                                    "resources": [f"arn:aws:ec2:us-east-1:123456789012:capacity-reservation/{block}"], "detail": {"capacityReservationId": block, "endDate": a.z(at + 2400, 0), "reservationDetails": [{"instanceType": "p5.48xlarge", "availabilityZone": "us-east-1a"}], "instances": ids}})
    until = t + 500
    if v == "ended":
        warn(t - 600, block, [a.id])
        m.goes_down(t + 0.5, "poweroff") if c.number % 2 else m.dies(t + 0.5)
        a.state(t + 1, "shutting-down")
        if c.number % 2:
            a.trail(t, "TerminateInstances", service="ec2.amazonaws.com")
        a.state(t + 30, "terminated")
        right, mild, until = ["cloud.instance_terminated", "cloud.spot_reclaimed"], ["unknown"], t + 4
    elif v == "warned_then_user_terminates":
        warn(t - 600, block, [a.id])
        a.trail(t + 0.4, "TerminateInstances", who)
        m.dies(t + 1)
        a.state(t + 1, "shutting-down")
        right, actor, until = ["ops.manual_delete"], [who], t
    else:
        warn(t - 600, block if v != "other_block_then_own" else "cr-0ffffffffffffffff", [a.id if v != "other_block_then_own" else "i-0ffffffffffffffff"])
        right, mild, actor = goes_away(c, m, log, t, "completed" if v == "warned_completed" else "own")
    c.expect(right, f"a capacity block: {v}", mild=mild, actor=actor, asked="exp-1")
    end(c, m, log, a, until)


@family("n.identity", "gce_budget gce_delegated gce_impersonated_own_after gce_terraform aws_budget_action aws_sso_role aws_role_chain aws_lambda_own_before azure_runbook azure_guid_claims azure_budget_after_end gce_third_party", 8)
def identity(c):
    """Who it was: a budget's function, a delegated service account, a person's session of a role, an automation."""
    v, who, mild = c.variant, c.pick(*PEOPLE), []
    kind = v.split("_")[0]
    cloud = {"gce": Gce, "aws": Aws, "azure": Azure}[kind](c)
    name = cloud.vm if kind != "aws" else cloud.id
    m, log = guest(c, name if kind != "aws" else cloud.dns, name)
    t = c.between(900, 1500)
    log.steps(1, t)
    actor, right, until = None, ["ops.manual_delete"], t
    if kind == "gce":
        cloud.call(-900, "insert", "alice@lab.example", 20)
        if v == "gce_impersonated_own_after":
            right, mild, _ = goes_away(c, m, log, t, "own")
            cloud.call(t + 60, "delete", "cleanup@lab-train.iam.gserviceaccount.com", 40, agent="google-api-go-client/0.5")
            until = t + 60
        else:
            sa = {"gce_budget": "budget-guard@lab-train.iam.gserviceaccount.com", "gce_delegated": "deployer@lab-train.iam.gserviceaccount.com", "gce_terraform": "terraform@lab-train.iam.gserviceaccount.com", "gce_third_party": "vendor@other-org.iam.gserviceaccount.com"}[v]
            cloud.call(t + 0.4, "stop" if v == "gce_budget" else "delete", sa, 40, agent={"gce_terraform": "google-api-go-client/0.5,Terraform/1.9.5"}.get(v, "google-api-python-client/2.1"))
            if v == "gce_delegated":
                for one in cloud.entries["gcp.jsonl"][-2:]:
                    one["protoPayload"]["authenticationInfo"]["serviceAccountDelegationInfo"] = [{"firstPartyPrincipal": {"principalEmail": f"{who}@lab.example"}}]
            m.dies(t + 0.8)
            actor = [sa, f"{who}@lab.example"] if v == "gce_delegated" else [sa]
            right = ["ops.manual_delete", "cloud.instance_terminated", "ops.config_change"]
    elif kind == "aws":
        cloud.instance(-900)
        if v == "aws_lambda_own_before":
            right, mild, _ = goes_away(c, m, log, t, "own")
            cloud.trail(t + 30, "TerminateInstances", role="idle-reaper")
            cloud.state(t + 31, "shutting-down")
            until = t + 30
        else:
            role = {"aws_budget_action": "AWSBudgetsActionsWithAWSResourceControlAccess", "aws_sso_role": "AWSReservedSSO_AdministratorAccess_0123456789abcdef", "aws_role_chain": "ci-deployer"}[v]
            cloud.trail(t + 0.4, "StopInstances" if v == "aws_budget_action" else "TerminateInstances", role=role)
            last = cloud.entries["cloudtrail.json"][-1]["userIdentity"]
            session = {"aws_sso_role": f"{who}@lab.example", "aws_budget_action": "AWSBudgets", "aws_role_chain": "github-run-412"}[v]
            last["arn"] = last["arn"].replace("/session", f"/{session}")
            last["principalId"] = f"AROA0123456789ABCDEFG:{session}"
            cloud.state(t + 1, "stopping" if v == "aws_budget_action" else "shutting-down")
            m.dies(t + 0.8)
            actor = [role, session, f"{role}/{session}", last["arn"]] + ([who] if v == "aws_sso_role" else [])
            right = ["ops.manual_delete", "cloud.instance_terminated"]
    else:
        cloud.machine()
        if v == "azure_budget_after_end":
            right, mild, _ = goes_away(c, m, log, t, c.pick("own", "oom_unit"))
            cloud.call(t + 200, "deallocate/action", "0c0ffee0-1111-4222-8333-444455556666")
            until = t + 200
        else:
            guid = "0c0ffee0-1111-4222-8333-444455556666"
            cloud.call(t + 0.4, "deallocate/action", guid)
            for one in cloud.entries[cloud.where][-3:]:
                one["claims"] = {"appid": "9a8b7c6d-0000-4000-8000-00000000aaaa", "http://schemas.microsoft.com/identity/claims/objectidentifier": guid}
                if v == "azure_guid_claims":
                    one["claims"]["name"] = "idle-shutdown-runbook"
            m.dies(t + 1)
            actor = [guid, "9a8b7c6d-0000-4000-8000-00000000aaaa", "idle-shutdown-runbook"]
            right = ["ops.manual_delete", "cloud.instance_terminated"]
    c.expect(right, f"who it was: {v}", mild=mild, actor=actor, asked="exp-1" if kind == "aws" else name)
    end(c, m, log, cloud, until)


@family("n.runcmd", "ssm_reboot ssm_inventory_then_own ssm_other_instance_then_own ssm_session_then_sudo azure_runcommand_reboot azure_runcommand_then_own gce_oslogin_reboot gce_ssh_metadata_then_own ssm_command_before_bare", 8)
def runcmd(c):
    """Run Command, sessions, OS Login: what was run is not in the record; the guest tells what happened."""
    v, who, mild, actor = c.variant, c.pick(*PEOPLE), [], None
    kind = v.split("_")[0]
    cloud = {"gce": Gce, "ssm": Aws, "azure": Azure}[kind](c)
    name = cloud.vm if kind != "ssm" else cloud.id
    m, log = guest(c, name if kind != "ssm" else cloud.dns, name)
    t = c.between(900, 1500)
    log.steps(1, t)
    if kind == "ssm":
        cloud.instance(-900)
        def send(at, document="AWS-RunShellScript", event="SendCommand", ids=None):
            cloud.trail(at, event, who, more={"documentName": document, "instanceIds": ids or [cloud.id], "parameters": "HIDDEN_DUE_TO_SECURITY_REASONS"} if event == "SendCommand" else {"target": cloud.id})
            cloud.entries["cloudtrail.json"][-1]["eventSource"] = "ssm.amazonaws.com"
    elif kind == "azure":
        cloud.machine()
    else:
        cloud.call(-900, "insert", "alice@lab.example", 20)
    if v == "ssm_reboot":
        send(t - 1.5)
        m.log(t, "amazon-ssm-agent", "[ssm-document-worker] processing document")
        m.goes_down(t + 0.8)
        m.boots(t + 100)
        right, actor = ["node.reboot"], None
        mild = ["ops.manual_delete"]
    elif v == "ssm_session_then_sudo":
        send(t - 60, event="StartSession")
        m.sudo(t + 0.2, "ssm-user", "/usr/sbin/reboot")
        m.goes_down(t + 0.8)
        m.boots(t + 100)
        right, actor = ["node.reboot"], ["ssm-user", who]
    elif v == "azure_runcommand_reboot":
        cloud.call(t - 2, "runCommand/action", who + "@lab.example")
        m.goes_down(t + 0.8)
        m.boots(t + 100)
        right, actor = ["node.reboot"], None
    elif v == "gce_oslogin_reboot":
        m.log(t - 30, "sshd", f"Accepted publickey for {who}_lab_example from 35.235.240.1 port 40112 ssh2: RSA SHA256:abc")
        m.sudo(t + 0.2, f"{who}_lab_example", "/usr/sbin/reboot")
        m.goes_down(t + 0.8)
        m.boots(t + 100)
        right, actor = ["node.reboot"], [f"{who}_lab_example", who]
    else:
        if v == "ssm_inventory_then_own":
            send(t - c.between(1, 30), "AWS-GatherSoftwareInventory")
        elif v == "ssm_other_instance_then_own":
            send(t - 2, ids=["i-0ffffffffffffffff"])
        elif v == "azure_runcommand_then_own":
            cloud.call(t - c.between(1, 40), "runCommand/action", who + "@lab.example")
        elif v == "gce_ssh_metadata_then_own":
            cloud.call(t - c.between(1, 40), "setMetadata", who + "@lab.example", 3)
        elif v == "ssm_command_before_bare":
            send(t - c.between(1, 10))
        right, mild, actor = goes_away(c, m, log, t, "bare" if v.endswith("bare") else "own")
    c.expect(right, f"a command from outside: {v}", mild=mild, actor=actor, asked="exp-1" if kind == "ssm" else name)
    end(c, m, log, cloud, t + 300)


@family("n.namesake2", "gce_other_project_delete gce_other_zone_stop gce_other_project_preempted gce_both_own_deleted aws_other_account azure_other_subscription", 8)
def namesake2(c):
    """A machine of that very name in another project, zone or subscription, with a deed of its own; the run's machine has another end or none."""
    v, who = c.variant, c.pick(*PEOPLE) + "@lab.example"
    kind, mild, actor = v.split("_")[0], [], None
    t = c.between(900, 1500)
    if kind == "gce":
        g = Gce(c)
        m, log = guest(c, g.vm, g.vm)
        log.steps(1, t)
        g.call(-900, "insert", "alice@lab.example", 20)
        def elsewhere(count, project="lab-batch", zone="us-central1-a"):
            for one in g.entries["gcp.jsonl"][-count:]:
                one["protoPayload"]["resourceName"] = f"projects/{project}/zones/{zone}/instances/{g.vm}"
                one["resource"]["labels"].update(zone=zone, project_id=project, instance_id="9" * 16)
                one["logName"] = one["logName"].replace("lab-train", project)
        where = {"gce_other_zone_stop": ("lab-train", "europe-west4-b")}.get(v, ("lab-batch", "us-central1-a"))
        g.call(-2000, "insert", "bob@lab.example", 20)
        elsewhere(2, *where)
        if v in ("gce_other_project_delete", "gce_other_zone_stop"):
            g.call(t - 0.5, "delete" if "delete" in v else "stop", who)
            elsewhere(2, *where)
        elif v == "gce_other_project_preempted":
            g.system(t - 0.5, "preempted", "Instance was preempted.")
            elsewhere(1, *where)
        if v == "gce_both_own_deleted":
            g.call(t + 0.5, "delete", who)
            m.dies(t + 1)
            right, actor, until = ["ops.manual_delete", "unknown"], None, t
        else:
            right, mild, actor = goes_away(c, m, log, t, c.pick("own", "oom_unit", "segv"))
            until = t + 300
        # What a name alone cannot tell apart may be left unknown, not told of the namesake.
        right = right + (["unknown"] if "unknown" not in right else [])
        cloud, asked = g, g.vm
    elif kind == "aws":
        a = Aws(c)
        m, log = guest(c, a.dns, a.id)
        log.steps(1, t)
        a.instance(-900)
        a.trail(t - 1, "TerminateInstances", who, ids=["i-0" + a.hex(16)])
        a.entries["cloudtrail.json"][-1]["recipientAccountId"] = "999999999999"
        right, mild, actor = goes_away(c, m, log, t, c.pick("own", "oom_unit", "segv"))
        cloud, asked, until = a, "exp-1", t + 300
    else:
        a = Azure(c)
        m, log = guest(c, a.vm, a.vm)
        log.steps(1, t)
        a.machine()
        mine = a.res
        a.call(t - 1, c.pick("deallocate/action", "delete"), who, res=mine.replace("1f2e3d4c-0000-4000-8000-aabbccddeeff", "77777777-0000-4000-8000-aabbccddeeff"))
        right, mild, actor = goes_away(c, m, log, t, c.pick("own", "oom_unit", "segv"))
        right = right + ["unknown"]
        cloud, asked, until = a, a.vm, t + 300
    c.expect(right, f"a namesake: {v}", mild=mild, actor=actor, asked=asked)
    end(c, m, log, cloud, until)


@family("n.retire2", "retired_now announced_then_own announced_then_user_stop_start announced_then_completed announced_other_then_own retired_and_guest_panic maintenance_reboot_now_unit_term maintenance_reboot_then_own_before", 8)
def retire2(c):
    """AWS Health announces: retirement, system reboot; for now, for later, for another."""
    a = Aws(c)
    m, log = guest(c, a.dns, a.id)
    a.instance(-900)
    t, v, mild, actor, who = c.between(1500, 2000), c.variant, [], None, c.pick(*PEOPLE)
    log.steps(1, t)
    def health(at, code, start, ids):
        when = c.at(start)
        a.put("eventbridge.jsonl", {"version": "0", "id": a.uuid(), "detail-type": "AWS Health Event", "source": "aws.health", "account": "123456789012", "time": a.z(at), "region": "us-east-1", "resources": ids,
                                    "detail": {"eventArn": f"arn:aws:health:us-east-1::event/EC2/{code}/{code}_{a.hex(8)}", "service": "EC2", "eventTypeCode": code, "eventTypeCategory": "scheduledChange", "startTime": f"{when:%a, %d %b %Y %H:%M:%S} GMT", "endTime": f"{c.at(start + 3600):%a, %d %b %Y %H:%M:%S} GMT",
                                               "eventDescription": [{"language": "en_US", "latestDescription": "EC2 has detected degradation of the underlying hardware hosting your instance."}], "affectedEntities": [{"entityValue": one} for one in ids]}})
    until = t + 400
    retire, reboot = "AWS_EC2_PERSISTENT_INSTANCE_RETIREMENT_SCHEDULED", "AWS_EC2_SYSTEM_REBOOT_MAINTENANCE_SCHEDULED"
    if v == "retired_now":
        health(-5000, retire, t, [a.id])
        m.dies(t + 0.5)
        a.state(t + 1, "stopping")
        a.state(t + 60, "stopped")
        right, mild, until = ["ops.host_maintenance"], ["cloud.host_error", "cloud.instance_terminated"], t
    elif v == "maintenance_reboot_now_unit_term":
        health(-5000, reboot, t, [a.id])
        m.goes_down(t + 0.5)
        m.boots(t + 200)
        right, mild = ["ops.host_maintenance"], ["node.reboot"]
    elif v == "announced_then_user_stop_start":
        health(-5000, retire, t + 86400 * 5, [a.id])
        a.trail(t + 0.4, "StopInstances", who)
        m.goes_down(t + 0.8, "poweroff")
        a.state(t + 1, "stopping")
        a.state(t + 40, "stopped")
        a.trail(t + 90, "StartInstances", who)
        a.state(t + 91, "pending")
        m.boots(t + 120)
        right, actor = ["ops.manual_delete"], [who]
    elif v == "retired_and_guest_panic":
        # The retirement is due next week; the guest's own kernel fails now.
        health(-5000, retire, t + 86400 * 6, [a.id])
        right, mild, actor = goes_away(c, m, log, t, "panic")
        mild = mild + ["cloud.host_error"]
    else:
        health(-5000, retire if "reboot" not in v else reboot, t + (86400 * 4 if "reboot" not in v else 900), [a.id if "other" not in v else "i-0ffffffffffffffff"])
        right, mild, actor = goes_away(c, m, log, t, "completed" if v.endswith("completed") else "own")
    c.expect(right, f"AWS Health: {v}", mild=mild, actor=actor, asked="exp-1")
    end(c, m, log, a, until)
