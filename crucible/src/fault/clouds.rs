//! What clouds do to the machines they lend.

use serde_json::{Value, json};

use super::node_of;
use crate::cloud::{self, NOTICE};
use crate::control::{drain, machine_dies, machine_returns};
use crate::plan::{Cloud, Fault};
use crate::time::{MIN, SEC};
use crate::world::{ActId, Ask, Client, Unit, World, claims, names};

/// Lets the cloud act on a machine of a workload.
pub(super) fn strike(w: &mut World, fault: Fault, load: usize) {
    let Some(node) = node_of(w, load) else { return };
    match fault {
        Fault::HostMaintenance => maintenance(w, node),
        Fault::MaintenanceCancelled => cancelled(w, node),
        Fault::HostError => host_error(w, node),
        Fault::SpotReclaimed => spot(w, node),
        Fault::InstanceTerminated => terminated(w, node),
        _ => outage(w, node),
    }
}

fn announce_gcp(w: &mut World, node: usize, act: ActId, status: &str) {
    let window = (w.now.plus(NOTICE).secs(), w.now.plus(NOTICE * 4).secs());
    cloud::gcp_system(
        w,
        node,
        "compute.instances.upcomingMaintenance",
        "Maintenance is scheduled for this instance.",
        json!({"upcomingMaintenance": {"maintenanceStatus": status, "type": "SCHEDULED", "windowStartTime": window.0, "windowEndTime": window.1, "canReschedule": true}}),
        &claims(act),
    );
}

/// The host is taken out of service.
fn maintenance(w: &mut World, node: usize) {
    let actors: &[&str] = match w.plan.cluster.cloud {
        Cloud::Gcp => &["system@google.com"],
        Cloud::Aws => &["ec2.amazonaws.com", "aws", "AWS"],
        _ => &["azure", "Azure", "Microsoft", "aks-remediator"],
    };
    let act = w.deed(
        "the cloud takes the host out of service",
        &["ops.host_maintenance"],
        actors,
        None,
    );
    match w.plan.cluster.cloud {
        Cloud::Gcp => {
            cloud::gcp_system(
                w,
                node,
                "compute.instances.terminateOnHostMaintenance",
                "Instance terminated during Compute Engine maintenance.",
                Value::Null,
                &names(act),
            );
            die_and_return(w, node, act);
        }
        Cloud::Aws => {
            let start = w.now;
            let id = cloud::instance(w, node);
            cloud::bridge(
                w,
                node,
                "AWS Health Event",
                "aws.health",
                json!({"eventArn": format!("arn:aws:health:eu-west-1::event/EC2/AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED/{id}"),
                "service": "EC2", "eventTypeCode": "AWS_EC2_INSTANCE_RETIREMENT_SCHEDULED", "eventTypeCategory": "scheduledChange", "startTime": cloud::rfc1123(start),
                "endTime": cloud::rfc1123(start), "eventDescription": [{"language": "en_US", "latestDescription": "EC2 has detected degradation of the underlying hardware hosting your Amazon EC2 instance. Your instance will be stopped after the date below."}],
                "affectedEntities": [{"entityValue": id, "tags": {}}]}),
                &names(act),
            );
            let lag = w.rng.secs(5, 90);
            w.after(lag, move |w| {
                let id = cloud::instance(w, node);
                cloud::bridge(
                    w,
                    node,
                    "EC2 Instance State-change Notification",
                    "aws.ec2",
                    json!({"instance-id": id, "state": "stopping"}),
                    &claims(act),
                );
                let stopped = w.act(
                    "the cloud stops the machine",
                    &["cloud.instance_terminated"],
                    Some(act),
                );
                machine_dies(w, node, stopped);
                crate::control::stopped_in_cloud(w, node, stopped);
            });
        }
        _ => {
            // Announced as a scheduled event; AKS drains the node before it.
            let name = w.node_name(node);
            let before = w.now.plus(15 * MIN);
            w.set_condition(
                node,
                "VMEventScheduled",
                "True",
                "RedeployScheduled",
                &format!(
                    "Redeploy Scheduled: {}. DurationInSeconds: -1",
                    cloud::rfc1123(before)
                ),
            );
            if let Some(body) = w.nodes.get_mut(node) {
                body.standing.extend(claims(act));
            }
            w.put_node(
                node,
                Ask::new(
                    Client::account(
                        "kube-system",
                        "node-problem-detector",
                        "node-problem-detector/v0.8.21",
                    ),
                    "patch",
                    "status",
                )
                .with_tags(&names(act)),
            );
            if let Some(key) = w.nodes.get(node).map(crate::world::Node::key) {
                w.emit_event(
                    &crate::world::Source::Other(
                        "custom-scheduledevents-consolidated-condition-plugin-monitor",
                        "kube-system",
                    ),
                    key,
                    "Warning",
                    "RedeployScheduled",
                    format!(
                        "Redeploy Scheduled: {}. DurationInSeconds: -1",
                        cloud::rfc1123(before)
                    ),
                    &names(act),
                );
            }
            let lag = w.rng.secs(20, 120);
            w.after(lag, move |w| {
                let by = Client::account("kube-system", "aks-remediator", "aks-remediator/v1");
                let step = w.deed(
                    format!("AKS drains {name}"),
                    &["ops.node_drained"],
                    &[
                        "aks-remediator",
                        "system:serviceaccount:kube-system:aks-remediator",
                    ],
                    Some(act),
                );
                drain(w, node, &by, step);
            });
        }
    }
}

/// The machine is stopped and started again elsewhere some minutes later.
fn die_and_return(w: &mut World, node: usize, act: ActId) {
    w.soon(400, 5000, move |w| {
        machine_dies(w, node, act);
        if w.rng.chance(50) {
            let lag = w.rng.secs(150, 500);
            w.after(lag, move |w| machine_returns(w, node, act));
        }
    });
}

fn cancelled(w: &mut World, node: usize) {
    let act = w.act("a maintenance was announced and called off", &[], None);
    match w.plan.cluster.cloud {
        Cloud::Gcp => {
            announce_gcp(w, node, act, "PENDING");
            w.after(4 * MIN, move |w| announce_gcp(w, node, act, "CANCELLED"));
        }
        Cloud::Aws => {
            let start = w.now.plus(NOTICE * 30);
            let id = cloud::instance(w, node);
            cloud::bridge(
                w,
                node,
                "AWS Health Event",
                "aws.health",
                json!({"eventArn": "arn:aws:health:eu-west-1::event/EC2/AWS_EC2_INSTANCE_REBOOT_MAINTENANCE_SCHEDULED/x", "service": "EC2",
                "eventTypeCode": "AWS_EC2_INSTANCE_REBOOT_MAINTENANCE_SCHEDULED", "eventTypeCategory": "scheduledChange", "startTime": cloud::rfc1123(start), "endTime": cloud::rfc1123(start.plus(NOTICE)),
                "statusCode": "upcoming", "eventDescription": [{"language": "en_US", "latestDescription": "Your instance is scheduled for a reboot."}], "affectedEntities": [{"entityValue": id, "tags": {}}]}),
                &claims(act),
            );
        }
        _ => {}
    }
}

fn host_error(w: &mut World, node: usize) {
    let actors: &[&str] = match w.plan.cluster.cloud {
        Cloud::Gcp => &["system@google.com"],
        Cloud::Aws => &["ec2.amazonaws.com"],
        _ => &["azure", "Azure"],
    };
    let act = w.deed(
        "the host under the machine failed",
        &["cloud.host_error"],
        actors,
        None,
    );
    machine_dies(w, node, act);
    let lag = w.rng.secs(2, 60);
    w.after(lag, move |w| match w.plan.cluster.cloud {
        Cloud::Gcp => {
            cloud::gcp_system(w, node, "compute.instances.hostError", "Instance terminated by Compute Engine.", Value::Null, &names(act));
            w.soon(2000, 30_000, move |w| {
                cloud::gcp_system(w, node, "compute.instances.automaticRestart", "Instance automatically restarted by Compute Engine.", Value::Null, &claims(act));
                let lag = w.rng.secs(90, 300);
                w.after(lag, move |w| machine_returns(w, node, act));
            });
        }
        Cloud::Aws => {
            let id = cloud::instance(w, node);
            cloud::bridge(w, node, "AWS Health Event", "aws.health", json!({"eventArn": "arn:aws:health:eu-west-1::event/EC2/AWS_EC2_OPERATIONAL_ISSUE/x", "service": "EC2", "eventTypeCode": "AWS_EC2_INSTANCE_AUTO_RECOVERY_SUCCESS", "eventTypeCategory": "accountNotification",
                "startTime": cloud::rfc1123(w.now), "eventDescription": [{"language": "en_US", "latestDescription": "Your Amazon EC2 instance was impacted by a failure of the underlying hardware and was recovered on another host."}], "affectedEntities": [{"entityValue": id, "tags": {}}]}), &names(act));
            let lag = w.rng.secs(120, 400);
            w.after(lag, move |w| machine_returns(w, node, act));
        }
        Cloud::Azure => {
            cloud::azure(w, node, "ResourceHealth", "Microsoft.Resourcehealth/healthevent/Activated/action", "Active", None,
                json!({"stage": "Active", "title": "Virtual Machine health status changed to unavailable", "details": "The host server of this virtual machine had an unexpected failure.", "healthStatus": "Unavailable", "healthEventType": "Downtime", "healthEventCause": "PlatformInitiated", "healthEventCategory": "Unplanned"}), &names(act));
            let lag = w.rng.secs(120, 400);
            w.after(lag, move |w| machine_returns(w, node, act));
        }
        Cloud::OnPrem => {}
    });
}

fn spot(w: &mut World, node: usize) {
    let actors: &[&str] = match w.plan.cluster.cloud {
        Cloud::Gcp => &["system@google.com"],
        Cloud::Aws => &["ec2.amazonaws.com"],
        _ => &["azure", "Azure"],
    };
    let act = w.deed(
        "the cloud takes a spot machine back",
        &["cloud.spot_reclaimed"],
        actors,
        None,
    );
    match w.plan.cluster.cloud {
        Cloud::Gcp => {
            cloud::gcp_system(
                w,
                node,
                "compute.instances.preempted",
                "Instance was preempted.",
                Value::Null,
                &names(act),
            );
            // That it is shut down is all that is seen of it at first.
            let gone = w.act(
                "the machine is taken away",
                &["cloud.instance_terminated", "node.shutdown"],
                Some(act),
            );
            graceful(w, node, gone);
            w.after(28 * SEC, move |w| {
                cloud::forget(w, node);
                machine_dies(w, node, gone);
            });
        }
        Cloud::Aws => {
            let id = cloud::instance(w, node);
            let warned = w.rng.chance(70);
            if warned {
                cloud::bridge(
                    w,
                    node,
                    "EC2 Spot Instance Interruption Warning",
                    "aws.ec2",
                    json!({"instance-id": id, "instance-action": "terminate"}),
                    &names(act),
                );
                if w.rng.chance(60) {
                    let step = w.deed(
                        "the termination handler drains the node",
                        &["ops.node_drained"],
                        &["system:serviceaccount:kube-system:aws-node-termination-handler"],
                        Some(act),
                    );
                    w.soon(1000, 6000, move |w| {
                        drain(
                            w,
                            node,
                            &Client::account(
                                "kube-system",
                                "aws-node-termination-handler",
                                "aws-node-termination-handler/v1.25",
                            ),
                            step,
                        );
                    });
                }
            }
            w.after(if warned { 120 * SEC } else { 2 * SEC }, move |w| {
                let id = cloud::instance(w, node);
                cloud::trail(
                    w,
                    "BidEvictedEvent",
                    cloud::amazon(),
                    &[
                        ("eventType", json!("AwsServiceEvent")),
                        ("sourceIPAddress", json!("ec2.amazonaws.com")),
                        ("userAgent", json!("ec2.amazonaws.com")),
                        ("serviceEventDetails", json!({"instanceIdSet": [id]})),
                    ],
                    &names(act),
                );
                let gone = taken(w, act);
                cloud::forget(w, node);
                machine_dies(w, node, gone);
            });
        }
        _ => {
            let name = w.node_name(node);
            if let Some(key) = w.nodes.get(node).map(crate::world::Node::key) {
                w.emit_event(
                    &crate::world::Source::Other(
                        "custom-scheduledevents-preempt-plugin-monitor",
                        "kube-system",
                    ),
                    key,
                    "Warning",
                    "PreemptScheduled",
                    format!(
                        "Preempt Scheduled: {}. DurationInSeconds: -1",
                        cloud::rfc1123(w.now.plus(30 * SEC))
                    ),
                    &names(act),
                );
            }
            cloud::azure(
                w,
                node,
                "ResourceHealth",
                "Microsoft.Resourcehealth/healthevent/Activated/action",
                "Active",
                None,
                json!({"stage": "Active", "title": "Virtual machine preempted", "details": format!("The spot virtual machine {name} was preempted: evicted to give the capacity back."), "healthStatus": "Unavailable", "healthEventType": "Downtime", "healthEventCause": "PlatformInitiated", "healthEventCategory": "Planned", "type": "VirtualMachinePreempted"}),
                &names(act),
            );
            w.after(30 * SEC, move |w| {
                let gone = taken(w, act);
                cloud::forget(w, node);
                machine_dies(w, node, gone);
            });
        }
    }
}

/// The machine is taken away: all that the cluster sees of it where the cloud tells nothing.
fn taken(w: &mut World, act: ActId) -> ActId {
    w.act(
        "the machine is gone from the cloud",
        &["cloud.instance_terminated"],
        Some(act),
    )
}

/// The kubelet ends pods in the seconds that a preemption leaves.
fn graceful(w: &mut World, node: usize, act: ActId) {
    let step = w.act(
        "the machine is shut down in the seconds that are left",
        &["node.shutdown"],
        Some(act),
    );
    super::machines::shutdown_pods(w, node, step);
}

/// A person, or a tool, deletes the machine in the cloud.
fn terminated(w: &mut World, node: usize) {
    let who = w.rng.word(&["carol@lab.example", "terraform@lab.example"]);
    let short = who.split('@').next().unwrap_or(who);
    let act = w.deed(
        "somebody terminates the machine in the cloud",
        &["cloud.instance_terminated", "ops.manual_delete"],
        &[
            who,
            short,
            "arn:aws:iam::123456789012:user/carol",
            "arn:aws:iam::123456789012:user/terraform",
        ],
        None,
    );
    cloud::delete_instance(w, node, who, act);
    w.soon(1500, 9000, move |w| {
        w.host_line(
            node,
            Unit::Systemd,
            "Received power key press short, shutting down",
            &claims(act),
        );
        machine_dies(w, node, act);
    });
}

/// A zone has trouble: several machines at once.
fn outage(w: &mut World, node: usize) {
    let act = w.deed(
        "the cloud's zone fails",
        &["cloud.outage"],
        &[
            "Azure",
            "azure",
            "AWS",
            "aws",
            "Google",
            "system@google.com",
        ],
        None,
    );
    let second = (node + 1) % w.nodes.len().max(1);
    for at in [node, second] {
        w.soon(100, 4000, move |w| {
            machine_dies(w, at, act);
        });
    }
    match w.plan.cluster.cloud {
        Cloud::Aws => cloud::bridge(
            w,
            node,
            "AWS Health Event",
            "aws.health",
            json!({"eventArn": "arn:aws:health:eu-west-1::event/EC2/AWS_EC2_OPERATIONAL_ISSUE/y", "service": "EC2", "eventTypeCode": "AWS_EC2_OPERATIONAL_ISSUE", "eventTypeCategory": "issue", "statusCode": "open", "eventRegion": "eu-west-1", "eventScopeCode": "PUBLIC",
            "startTime": cloud::rfc1123(w.now), "eventDescription": [{"language": "en_US", "latestDescription": "We are investigating a loss of power in a single Availability Zone (euw1-az1) in the EU-WEST-1 Region."}], "affectedEntities": []}),
            &names(act),
        ),
        _ => cloud::azure(
            w,
            node,
            "ServiceHealth",
            "Microsoft.ServiceHealth/incident/action",
            "Active",
            None,
            json!({"title": "Virtual Machines - West Europe - Investigating", "service": "Virtual Machines", "region": "West Europe", "communication": "A power event affects a subset of machines.", "incidentType": "Incident", "trackingId": "VLBP-1S8", "impactStartTime": w.now.secs(), "impactedServices": "[{\"ImpactedRegions\":[{\"RegionName\":\"West Europe\"}],\"ServiceName\":\"Virtual Machines\"}]", "stage": "Active"}),
            &names(act),
        ),
    }
}
