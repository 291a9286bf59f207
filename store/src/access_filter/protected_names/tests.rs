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
        "kubectl -n team-a get pods; kubectl -n 3",
        r#""name":"nvidia/gpu","limits":{"pods":"1"}"#,
        "pod nvidia.com/gpu taint, pod topology.kubernetes.io/zone",
        "",
    ] {
        assert_eq!(words.hide_foreign(text), None, "{text}");
    }
}
