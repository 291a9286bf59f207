#!/usr/bin/env python3
"""Generates Kubernetes Events as the API writes them: events.py BYTES FILE [list|ndjson]

Deterministic: the same size gives the same file. Every Event is another fact.
"""
import datetime, json, random, sys

size, path, form = int(float(sys.argv[1])), sys.argv[2], (sys.argv[3:] or ["list"])[0]
rng = random.Random(7)
start = datetime.datetime(2026, 11, 1, tzinfo=datetime.timezone.utc)
REASONS = [
    ("Normal", "Scheduled", "Successfully assigned research/{pod} to {node}", "default-scheduler"),
    ("Normal", "Pulled", 'Container image "registry.example/train:1.4.2" already present on machine', "kubelet"),
    ("Normal", "Created", "Container created", "kubelet"),
    ("Normal", "Started", "Container started", "kubelet"),
    ("Warning", "FailedScheduling", "0/900 nodes are available: 900 Insufficient nvidia.com/gpu.", "default-scheduler"),
    ("Warning", "BackOff", "Back-off restarting failed container trainer in pod {pod}", "kubelet"),
    ("Normal", "Killing", "Stopping container trainer", "kubelet"),
]


def uid(number):
    return f"{number:08x}-0000-4000-8000-{number % 0xFFFFFFFFFFFF:012x}"


def event(number):
    pod_number = number // 7
    run = pod_number // 64
    pod, node = f"run-{run:05d}-{pod_number % 64}-abcde", f"node-{pod_number % 900:04d}"
    kind, reason, message, component = REASONS[number % 7]
    at = (start + datetime.timedelta(milliseconds=number * 37)).strftime("%Y-%m-%dT%H:%M:%SZ")
    return {
        "apiVersion": "v1", "kind": "Event", "count": 1, "eventTime": None,
        "firstTimestamp": at, "lastTimestamp": at,
        "involvedObject": {"apiVersion": "v1", "fieldPath": "spec.containers{trainer}", "kind": "Pod", "name": pod,
                           "namespace": "research", "resourceVersion": str(number), "uid": uid(pod_number)},
        "message": message.format(pod=pod, node=node),
        "metadata": {"creationTimestamp": at, "name": f"{pod}.{0x18ea1891a41c0000 + number:016x}", "namespace": "research",
                     "resourceVersion": str(number + 1), "uid": uid(number + 1 << 33),
                     "managedFields": [{"apiVersion": "v1", "fieldsType": "FieldsV1", "manager": component, "operation": "Update",
                                        "time": at, "fieldsV1": {"f:count": {}, "f:firstTimestamp": {}, "f:involvedObject": {},
                                                                 "f:lastTimestamp": {}, "f:message": {}, "f:reason": {},
                                                                 "f:source": {"f:component": {}, "f:host": {}}, "f:type": {}}}]},
        "reason": reason, "reportingComponent": component, "reportingInstance": node,
        "source": {"component": component, "host": node}, "type": kind,
    }


with open(path, "w", encoding="utf-8") as out:
    written, number = 0, 0
    if form == "list":
        out.write('{"apiVersion":"v1","items":[\n')
    while written < size:
        line = json.dumps(event(number), separators=(",", ":"))
        if form == "list" and number:
            line = "," + line
        written += out.write(line + "\n")
        number += 1
    if form == "list":
        out.write('],"kind":"List","metadata":{"resourceVersion":""}}\n')
print(f"{number} events, {written} bytes")
