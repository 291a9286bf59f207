use std::collections::HashSet;

use super::{NameFinder, ProtectedNames};

fn words() -> ProtectedNames {
    let words = ["zebrateam", "data", "pod-of-zebra-0"].map(str::to_owned);
    ProtectedNames {
        foreign: NameFinder::new([&words[0], &words[2]].into_iter()),
        namespaces: HashSet::from([words[0].clone(), words[1].clone()]),
        permitted: HashSet::from(["team-a".to_owned()]),
        own: HashSet::from(["mine-0".to_owned()]),
        ..ProtectedNames::default()
    }
}

#[test]
fn no_text_of_ones_own_names_a_namespace_of_others() {
    let words = words();
    for (text, hidden) in [
        (
            "preempted by pod pod-of-zebra-0 in namespace zebrateam",
            "preempted by pod [hidden] in namespace [hidden]",
        ),
        (
            "evicted for namespace zebrateam's quota",
            "evicted for namespace [hidden]'s quota",
        ),
        (
            "could not reach pod-of-zebra-0.zebrateam.svc.cluster.local:80",
            "could not reach [hidden].svc.cluster.local:80",
        ),
        (
            "could not reach [hidden].zebrateam.svc",
            "could not reach [hidden].[hidden].svc",
        ),
        (
            "http://[hidden].secretsvc.ghostns.svc",
            "http://[hidden].[hidden].svc",
        ),
        (
            "/var/log/pods/zebrateam_[hidden]_41b7/t/0.log full",
            "/var/log/pods/[hidden]_[hidden]_41b7/t/0.log full",
        ),
        (
            "/var/log/pods/ghostns_ghost-0_41b7/t/0.log",
            "/var/log/pods/[hidden]_41b7/t/0.log",
        ),
        (
            "/var/log/containers/ghost-0_ghostns_main-1a.log",
            "/var/log/containers/[hidden]_main-1a.log",
        ),
        (
            "MountVolume failed: object-\"ghostns\"/\"ca-certs\" not registered",
            "MountVolume failed: object-\"[hidden]\"/\"[hidden]\" not registered",
        ),
        (
            "violates PodDisruptionBudget ghostns/keep-two",
            "violates PodDisruptionBudget [hidden]/[hidden]",
        ),
        (
            "ZEBRATEAM and Zebrateam hold it",
            "[hidden] and [hidden] hold it",
        ),
        (
            "ClusterQueue zebrateam-queue",
            "ClusterQueue [hidden]-queue",
        ),
        (
            "system:serviceaccount:ghostns:robot",
            "system:serviceaccount:[hidden]:[hidden]",
        ),
        (
            "system:serviceaccounts:ghostns",
            "system:serviceaccounts:[hidden]",
        ),
        (r#"in namespace "ghostns""#, r#"in namespace "[hidden]""#),
        (
            r#"namespaces "ghostns" not found"#,
            r#"namespaces "[hidden]" not found"#,
        ),
        (
            "/api/v1/namespaces/ghostns/pods/ghostpod-7?x",
            "/api/v1/namespaces/[hidden]/pods/[hidden]?x",
        ),
        (
            "ns=ghostns ns/ghostns/x",
            "ns=[hidden] ns/[hidden]/[hidden]",
        ),
        (
            r#""namespace":"data","data":1"#,
            r#""namespace":"[hidden]","data":1"#,
        ),
        (
            r#"\"namespace\":\"ghostns\""#,
            r#"\"namespace\":\"[hidden]\""#,
        ),
        ("k8s.namespace.name=ghostns", "k8s.namespace.name=[hidden]"),
        ("POD_NAMESPACE=ghostns", "POD_NAMESPACE=[hidden]"),
        (
            "kubectl --namespace ghostns",
            "kubectl --namespace [hidden]",
        ),
        (
            "the namespace data holds data",
            "the namespace [hidden] holds data",
        ),
        (
            "pod mine-0 lost to pod ghost-7 in namespace ghostns",
            "pod mine-0 lost to pod [hidden] in namespace [hidden]",
        ),
        (
            r#"{"kind":"Pod","name":"ghost","namespace":"ghostns"}"#,
            r#"{"kind":"Pod","name":"[hidden]","namespace":"[hidden]"}"#,
        ),
        (
            "namespaces: ghostns, other",
            "namespaces: [hidden], [hidden]",
        ),
        ("é namespace=ghostns é", "é namespace=[hidden] é"),
        (
            "Preempted by ghostns/ghost-0 on node n-1",
            "Preempted by [hidden]/[hidden] on node n-1",
        ),
        (
            "evict for pod ghostns/ghost.x-0, evicted by ghostns/robot",
            "evict for pod [hidden]/[hidden], evicted by [hidden]/[hidden]",
        ),
        (
            r#"pod="ghostns/ghost-0" pods="[ghostns/ghost-1]""#,
            r#"pod="[hidden]/[hidden]" pods="[[hidden]/[hidden]]""#,
        ),
        (
            "restarting main in pod ghost-0_ghostns(41b7c0de-1111-4222-8333-444455556666)",
            "restarting main in pod [hidden](41b7c0de-1111-4222-8333-444455556666)",
        ),
        (
            "bound to claim ghostns/ghost-pvc",
            "bound to claim [hidden]/[hidden]",
        ),
        (
            "kubectl -n ghostns get pods",
            "kubectl -n [hidden] get pods",
        ),
        (
            r#"matchLabels: {"kubernetes.io/metadata.name":"ghostns"}"#,
            r#"matchLabels: {"kubernetes.io/metadata.name":"[hidden]"}"#,
        ),
        (
            "spiffe://cluster.local/ns/ghostns/sa/robot",
            "spiffe://cluster.local/ns/[hidden]/sa/[hidden]",
        ),
    ] {
        let reported = words.hide_foreign(text);
        assert_eq!(reported.as_deref(), Some(hidden), "{text}");
        let again = words.hide_foreign(hidden);
        assert_eq!(again, None, "hidden twice: {hidden}");
    }
}

/// No record is of the namespace: only how it is written tells that it is one.
#[test]
fn a_namespace_that_nothing_is_known_of_is_hidden_where_grammar_tells_of_it() {
    let words = words();
    for text in [
        r#"secret ghost-ns/db-pass not found"#,
        r#"configmap "ghost-ns/x" not found"#,
        r#"serviceaccount ghost-ns/robot is not allowed"#,
        r#"networkpolicy ghost-ns/deny dropped it"#,
        r#"PodDisruptionBudget ghost-ns/pdb blocks"#,
        r#"Cannot evict pod as it would violate the pod's disruption budget ghost-ns/pdb"#,
        r#"ResourceQuota ghost-ns/gpus is exceeded"#,
        r#"service ghost-ns/web has no endpoints, ingress ghost-ns/front"#,
        r#"Volume is already used by pod(s) ghost-ns/ghost-pod-0"#,
        r#"Volume is already used by pod(s) ghost-ns/ghost-pod-0, ghost-ns/ghost-pod-1 and ghost-ns/ghost-pod-2"#,
        r#"claim ghost-ns/disk-0 is bound by ghost-ns/ghost-pod-0"#,
        r#"0/3 nodes: preemption victims: ghost-ns/ghost-pod-0, ghost-ns/ghost-pod-1"#,
        r#"victim ghost-ns/ghost-pod-0 of priority 10"#,
        r#"scheduled for eviction by ghost-ns/policy"#,
        r#"queue ghost-ns/default is over its quota, LocalQueue ghost-ns/lq"#,
        r#"workload ghost-ns/job-ghost-pod-0 preempted"#,
        r#"pod "ghost-ns/ghost-pod-0" holds claim"#,
        r#"kubectl delete ns ghost-ns"#,
        r#"kubectl --namespace=ghost-ns delete pod ghost-pod-0"#,
        r#"helm upgrade x --namespace ghost-ns"#,
        r#"Normal Killing pod/ghost-pod-0 -n ghost-ns"#,
        r#"--watch-namespace=ghost-ns"#,
        r#"the ghost-ns namespace is full"#,
        r#"ghost-ns namespace is full"#,
        r#"Namespace ghost-ns is terminating"#,
        r#"unable to create new content in namespace ghost-ns because it is being terminated"#,
        r#"in namespaces ghost-ns, default"#,
        r#"namespaces: [ghost-ns, default]"#,
        r#"<namespace>ghost-ns</namespace>"#,
        r#"[1] namespace=ghost-ns pod=ghost-pod-0"#,
        r#"Preempted by ghost-pod-0 (namespace: ghost-ns)"#,
        r#"preempted by pod ghost-pod-0 in namespace ghost-ns"#,
        r#"pods "ghost-pod-0" is forbidden: User "system:serviceaccount:ghost-ns:robot" cannot get resource"#,
        r#"cannot list resource "pods" in API group "" in the namespace "ghost-ns""#,
        r#"involvedObject.namespace=ghost-ns,involvedObject.name=ghost-pod-0"#,
        r#"{"involvedObject":{"kind":"Pod","namespace":"ghost-ns","name":"ghost-pod-0"}}"#,
        r#"metadata.namespace=ghost-ns, fieldSelector=metadata.namespace%3Dghost-ns"#,
        r#"container_memory{namespace="ghost-ns",pod="ghost-pod-0"} 5"#,
        r#"{"kubernetes":{"namespace_name":"ghost-ns","pod_name":"ghost-pod-0"}}"#,
        r#"exported_namespace="ghost-ns" kube_namespace:ghost-ns k8s_ns=ghost-ns ns:ghost-ns"#,
        r#"namespace%3Dghost-ns%26pod%3Dghost-pod-0 %2Fapi%2Fv1%2Fnamespaces%2Fghost-ns%2Fpods"#,
        r#"lookup svc.ghost-ns.svc: no such host, ghost-pod-0.workers.ghost-ns.svc.cluster.local"#,
        r#"10-0-0-1.ghost-ns.pod.cluster.local refused"#,
        r#"object-"ghost-ns"/"kube-root-ca.crt": Failed to watch"#,
        r#"pod ghost-pod-0_ghost-ns(41b7c0de-1111-4222-8333-444455556666)"#,
    ] {
        let hidden = words.hide_foreign(text).unwrap_or_else(|| text.to_owned());
        assert!(!hidden.contains("ghost-ns"), "{text}: {hidden}");
        assert!(!hidden.contains("ghost-pod-0"), "{text}: {hidden}");
    }
}

#[test]
fn a_name_in_a_long_text_is_hidden_wherever_it_is_cut() {
    let words = words();
    let border = 256 << 10;
    for at in [
        0,
        border - 12,
        border - 1,
        border,
        border + 2_040,
        3 * border,
    ] {
        let text = format!(
            "{} %2Fzebrateam%2F {}",
            "é".repeat(at / 2),
            "x".repeat(border)
        );
        let hidden = words.hide_foreign(&text).unwrap();
        assert_eq!(hidden, text.replace("zebrateam", "[hidden]"), "{at}");
    }
}

#[test]
fn what_tells_of_no_other_namespace_stays_as_it_is() {
    let words = words();
    for text in [
        "namespace team-a of pod mine-0",
        "namespace is terminating",
        "the namespace quota is exceeded for nodes",
        "in namespace kube-system and namespace monitoring",
        "system:serviceaccount:kube-system:job-controller",
        "web.team-a.svc.cluster.local",
        "/var/log/pods/team-a_mine-0_41b7/t/0.log",
        "/api/v1/namespaces/team-a/pods/mine-0",
        "took 120 ns/op, 5 ns: fast; ns=12",
        r#"{"namespace":"team-a","name":"x","data":{}}"#,
        r#"{"namespace":"","name":"x"}"#,
        r#"{"kind":"Namespace","verb":"get"}"#,
        "training of zebrateams on data",
        "namespaces are many",
        "Preempted by team-a/mine-0 on node n-1",
        r#"pod="team-a/mine-0" job 3/4 pods and/or nodes"#,
        "pod mine-0_team-a(41b7c0de-1111-4222-8333-444455556666) restarts",
        "image registry/pod/python:3 of service http/80, deployment apps/v1",
        "pod /data/pod/main.py and pod data/pod/main.py",
        "job mine-0/worker-1 has pods 1/2 ready",
        "mpirun -n eight pod; head -n lines",
        "the user namespace and the same namespace of a cross mount namespace",
        "replicas used by 3/4 workers, blocked by mine-0/x",
        "service is -> pod, secret of a/b testing",
        "kubectl -n team-a get pods; kubectl -n 3",
        r#""name":"nvidia/gpu","limits":{"pods":"1"}"#,
        "pod nvidia.com/gpu taint, pod topology.kubernetes.io/zone",
        "",
    ] {
        assert_eq!(words.hide_foreign(text), None, "{text}");
    }
}
