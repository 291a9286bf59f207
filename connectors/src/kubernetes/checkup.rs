//! Active tests of GPUs that run as pods: what they found is told of the node.
//!
//! Clusters run such tests before and between jobs, mostly from a `CronJob`: NVIDIA's
//! `nccl-tests`, `dcgmi diag`, `cuda-samples` and `nvbandwidth`, `gpu-burn`, the GPU
//! operator's validator, Azure's node health checks, Google's cluster diagnostics, AMD's
//! validation suite. They are known by image, by the program they start with, by their
//! name, or by a label of one's own ([`LABEL`]).

use crate::event::{Event, EventId};
use crate::object::{ObjectBody, ObjectKey, ObjectVersion};
use crate::time::SECOND;

/// A label that calls a pod an active test of its node's GPUs; any value but `false`.
const LABEL: &str = "whathappened.dev/gpu-test";

/// Parts of an image's name without registry and tag, and what the test is.
const IMAGES: [(&str, &str); 18] = [
    ("nccl-test", "nccl-tests"),
    ("nccl_test", "nccl-tests"),
    ("nccl-healthcheck", "nccl-tests"),
    ("nccl_healthcheck", "nccl-tests"),
    ("dcgm-diag", "dcgmi diag"),
    ("dcgmi", "dcgmi diag"),
    ("gpu-burn", "gpu-burn"),
    ("gpu_burn", "gpu-burn"),
    ("cuda-sample", "cuda-samples"),
    ("nvbandwidth", "nvbandwidth"),
    ("gpu-operator-validator", "the GPU operator's validator"),
    ("gpu-healthcheck", "a GPU health check"),
    ("gpu_healthcheck", "a GPU health check"),
    ("gpu-health-check", "a GPU health check"),
    ("aznhc", "Azure's node health checks"),
    ("azurehpc-health-checks", "Azure's node health checks"),
    ("rocm-validation-suite", "ROCm's validation suite"),
    ("rccl-test", "rccl-tests"),
];

/// Programs that only test.
const PROGRAMS: [(&str, &str); 9] = [
    ("dcgmi", "dcgmi diag"),
    ("gpu_burn", "gpu-burn"),
    ("gpu-burn", "gpu-burn"),
    ("nvbandwidth", "nvbandwidth"),
    ("nvidia-validator", "the GPU operator's validator"),
    ("all_reduce_perf", "nccl-tests"),
    ("all_gather_perf", "nccl-tests"),
    ("alltoall_perf", "nccl-tests"),
    ("rvs", "ROCm's validation suite"),
];

/// Parts of names that people give to such jobs; they need a GPU as well, for names
/// alone may mean anything.
const NAMES: [&str; 12] = [
    "gpu-health",
    "gpu-test",
    "gpu-check",
    "gpu-diag",
    "gpu-burn",
    "gpu-validation",
    "nccl-test",
    "dcgm-diag",
    "dcgmi-diag",
    "node-health-check",
    "nodehealthcheck",
    "active-health-check",
];

/// What test a pod is; `None` where it is none.
fn test_of(key: &ObjectKey, body: &ObjectBody) -> Option<&'static str> {
    if let Some(value) = body.labels.get(LABEL) {
        return (value != "false").then_some("a GPU test");
    }
    let by_container = body.containers.iter().find_map(|container| {
        let image = image_name(&container.image);
        let program = container.command.first().map(|first| base_name(first));
        let by_image = IMAGES.iter().find(|(part, _)| image.contains(part));
        let by_program = PROGRAMS.iter().find(|(name, _)| program == Some(name));
        by_image.or(by_program).map(|(_, test)| *test)
    });
    if by_container.is_some() {
        return by_container;
    }
    let of_test = |name: &str| NAMES.iter().any(|part| name.contains(part));
    let owners = body.owners.iter().map(|owner| owner.name.as_str());
    let named = owners.chain([key.name.as_str()]).any(of_test);
    let has_gpu = body.containers.iter().any(|container| {
        let requested = container.limits.keys().chain(container.requests.keys());
        requested.clone().any(|resource| resource.ends_with("/gpu"))
    });
    // A gang of many may well be called so; a test is one pod of a job.
    let of_job = body.owners.iter().any(|owner| owner.kind == "Job");
    (named && has_gpu && of_job).then_some("a GPU test")
}

/// `registry.lab/team/nccl-tests:2.21@sha256:…` → `nccl-tests`, in lower case.
fn image_name(image: &str) -> String {
    let image = image.split('@').next().unwrap_or(image);
    let name = image.rsplit('/').next().unwrap_or(image);
    let name = name.split(':').next().unwrap_or(name);
    name.to_ascii_lowercase()
}

fn base_name(program: &str) -> &str {
    program.rsplit('/').next().unwrap_or(program)
}

/// The fact `gpu.test` about the node of a test whose container ended by itself with an
/// error code. Who was killed or never began tells nothing of the GPU.
pub(super) fn failed(ended: &Event, version: &ObjectVersion) -> Option<Event> {
    let body = &version.body;
    let node = body.node.as_ref()?;
    let code = ended
        .exit_code
        .filter(|code| !matches!(code, 0 | 137 | 143))?;
    let killed = body
        .deletion_requested
        .is_some_and(|requested| requested.lo <= ended.time.lo);
    if ended.fact != "k8s.container.terminated" || killed || ended.attribute("init").is_some() {
        return None;
    }
    // 125 to 128: the container could not be started.
    if (125..=128).contains(&code) {
        return None;
    }
    let test = test_of(&version.key, body)?;
    let second = ended.time.lo.div_euclid(SECOND).to_string();
    let identity = version.key.identity();
    let container = ended.entities.container.clone().unwrap_or_default();
    let id = EventId::of(&["gpu.test", node, &identity, &container, &second]);
    let mut event = Event::new(id, "gpu.test", ended.time, ended.source_kind);
    event.object_kind = Some("Node".to_owned());
    event.entities.node = Some(node.clone());
    event.reason = Some("Failed".to_owned());
    let message = ended.message.as_deref().unwrap_or_default().trim();
    let message = message.lines().last().unwrap_or_default();
    let message = if message.is_empty() {
        String::new()
    } else {
        format!(": {message}")
    };
    event.message = Some(format!("{test} failed with exit code {code}{message}"));
    event.raw.clone_from(&ended.raw);
    event.origin = ended.origin.clone();
    event.set_attribute("outcome_of_test", Some("failed"));
    event.set_attribute("test", Some(test));
    event.set_attribute("test_pod", Some(version.key.name.clone()));
    Some(event)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::object::{Container, Owner};

    fn test(name: &str, image: &str, command: &[&str], gpus: bool) -> Option<&'static str> {
        let key = ObjectKey {
            kind: "Pod".to_owned(),
            name: name.to_owned(),
            ..ObjectKey::default()
        };
        let mut container = Container {
            image: image.to_owned(),
            command: command.iter().map(|part| (*part).to_owned()).collect(),
            ..Container::default()
        };
        if gpus {
            container
                .limits
                .insert("nvidia.com/gpu".to_owned(), "8".to_owned());
        }
        let body = ObjectBody {
            containers: vec![container],
            owners: vec![Owner {
                kind: "Job".to_owned(),
                name: name.trim_end_matches("-x2k8f").to_owned(),
                uid: "u".to_owned(),
                controller: true,
            }],
            ..ObjectBody::default()
        };
        test_of(&key, &body)
    }

    #[test]
    fn tests_are_known_by_image_program_or_name() {
        for (name, image, command, gpus) in [
            (
                "a-x2k8f",
                "ghcr.example/coreweave/nccl-tests:12.4",
                &[][..],
                true,
            ),
            (
                "a-x2k8f",
                "registry.lab/nvidia/cuda-sample:vectoradd@sha256:0f",
                &[],
                true,
            ),
            (
                "a-x2k8f",
                "registry.lab/base:1",
                &["/usr/bin/dcgmi", "diag", "-r", "3"],
                false,
            ),
            (
                "gpu-health-28839-x2k8f",
                "registry.lab/base:1",
                &["bash", "/check.sh"],
                true,
            ),
        ] {
            assert!(test(name, image, command, gpus).is_some(), "{name} {image}");
        }
        for (name, image, command, gpus) in [
            // It tests first, and then trains.
            (
                "run-x2k8f",
                "registry.lab/train:41",
                &["bash", "-c", "dcgmi diag -r 1 && train"][..],
                true,
            ),
            (
                "dcgm-exporter-x2k8f",
                "registry.lab/nvidia/dcgm-exporter:3",
                &[],
                true,
            ),
            ("gpu-health-page-x2k8f", "registry.lab/web:1", &[], false),
            ("run-x2k8f", "registry.lab/nccl-tests/train:41", &[], true),
        ] {
            assert_eq!(test(name, image, command, gpus), None, "{name} {image}");
        }
    }
}
