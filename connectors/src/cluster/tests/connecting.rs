//! From contexts to clusters.

use std::net::TcpListener;

use super::fake::{self, Reply};
use super::*;
use crate::cluster::{Reason, connect, contexts};
use crate::coverage::Status;

/// An address where nothing listens.
fn nowhere() -> String {
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    format!("http://127.0.0.1:{port}")
}

#[tokio::test]
async fn a_cluster_is_known_by_its_uid() {
    let (_fake, cluster) = cluster(|_| None).await;
    assert_eq!(cluster.id(), fake::UID);
    assert_eq!(cluster.contexts(), ["lab"]);
    assert!(cluster.version().is_some());
}

#[tokio::test]
async fn two_contexts_of_one_cluster_are_one() {
    let fake = fake::start(|_| None);
    let other = fake::start(|request| {
        (request.path == "/api/v1/namespaces/kube-system").then(|| fake::namespace("other"))
    });
    let (_dir, mut options) = kubeconfig(&[
        ("a", &fake.url()),
        ("b", &other.url()),
        ("alias", &fake.url()),
    ]);
    options.contexts = Contexts::All;
    let connected = connect(&options).await.unwrap();
    let names: Vec<&[String]> = connected.clusters.iter().map(Cluster::contexts).collect();
    assert_eq!(
        names,
        [&["a".to_owned(), "alias".to_owned()][..], &["b".to_owned()]]
    );
    assert!(connected.failed.is_empty());
}

#[tokio::test]
async fn an_unreachable_second_cluster_does_not_cost_the_first() {
    let fake = fake::start(|_| None);
    let (_dir, mut options) = kubeconfig(&[("a", &fake.url()), ("dead", &nowhere())]);
    options.contexts = Contexts::Named(vec!["a".to_owned(), "dead".to_owned()]);
    let connected = connect(&options).await.unwrap();
    assert_eq!(connected.clusters.len(), 1);
    let error = &connected.failed[0];
    assert_eq!(
        (error.reason, error.context.as_deref()),
        (Reason::Unreachable, Some("dead"))
    );
    let row = error.coverage("kubernetes", now());
    assert_eq!(
        (row.status, row.cluster.as_deref()),
        (Status::Failed, Some("dead"))
    );
    assert!(detail(&row).contains("cannot be reached"), "{row:?}");
}

#[tokio::test]
async fn an_expired_token_is_told() {
    let fake = fake::start(|_| Some(fake::recorded(include_str!("../testdata/err_401.json"))));
    let (_dir, options) = kubeconfig(&[("a", &fake.url())]);
    let error = Cluster::connect(&options).await.unwrap_err();
    assert_eq!(error.reason, Reason::Unauthorized);
    assert!(error.hint.contains("log in again"), "{error:?}");
}

#[tokio::test]
async fn a_server_that_does_not_answer_is_given_up() {
    let fake = fake::start(|_| Some(Reply::Hang));
    let (_dir, mut options) = kubeconfig(&[("a", &fake.url())]);
    options.connect_timeout = Duration::from_millis(300);
    let error = Cluster::connect(&options).await.unwrap_err();
    assert_eq!(error.reason, Reason::TimedOut);
}

#[tokio::test]
async fn what_is_no_api_server_is_told() {
    let fake = fake::start(|_| Some(Reply::Text(200, "<html>log in</html>".to_owned())));
    let (_dir, options) = kubeconfig(&[("a", &fake.url())]);
    let error = Cluster::connect(&options).await.unwrap_err();
    assert_eq!(error.reason, Reason::NotKubernetes, "{error:?}");
}

#[tokio::test]
async fn tls_to_a_server_without_it_is_told_and_does_not_panic() {
    let fake = fake::start(|_| None);
    let url = fake.url().replace("http:", "https:");
    let (_dir, options) = kubeconfig(&[("a", &url)]);
    let error = Cluster::connect(&options).await.unwrap_err();
    assert_eq!(error.reason, Reason::Tls, "{error:?}");
}

#[tokio::test]
async fn names_of_contexts_are_listed() {
    let (_dir, mut options) = kubeconfig(&[("a", "http://x"), ("b", "http://y")]);
    options.contexts = Contexts::Named(vec!["c".to_owned()]);
    let error = connect(&options).await.unwrap_err();
    assert_eq!(error.reason, Reason::NoSuchContext);
    assert_eq!(error.hint, "it has: a, b");
    let infos = contexts(options.kubeconfig.as_deref()).unwrap();
    assert_eq!(infos.len(), 2);
    assert!(infos[0].current && !infos[1].current);
    assert_eq!(infos[1].server, "http://y");
}

#[tokio::test]
async fn a_bad_kubeconfig_is_told_with_its_file() {
    for (text, reason) in [
        ("{{{", Reason::BadKubeconfig),
        ("apiVersion: v1\nkind: Config\n", Reason::NoSuchContext),
        (
            "current-context: a\ncontexts: [{name: a, context: {cluster: nope}}]",
            Reason::BadKubeconfig,
        ),
    ] {
        let (dir, options) = written(text);
        let error = Cluster::connect(&options).await.unwrap_err();
        assert_eq!(error.reason, reason, "{error:?}");
        let file = dir.path().display().to_string();
        assert!(error.message.contains(&file), "{error}");
    }
    let (_dir, mut options) = written("");
    options.kubeconfig = Some("/no/such/kubeconfig".into());
    let error = Cluster::connect(&options).await.unwrap_err();
    assert_eq!(error.reason, Reason::NoKubeconfig, "{error:?}");
}

#[tokio::test]
async fn a_missing_exec_plugin_is_told() {
    let (_dir, options) = written(
        "current-context: a\ncontexts: [{name: a, context: {cluster: c, user: u}}]\n\
         clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]\n\
         users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: no-such-plugin, interactiveMode: Never}}}]\n",
    );
    let error = Cluster::connect(&options).await.unwrap_err();
    assert_eq!(error.reason, Reason::ExecPlugin, "{error:?}");
    assert!(error.hint.contains("exec plugin"), "{error:?}");
    assert!(error.message.contains("\"no-such-plugin\""), "{error:?}");
}

#[tokio::test]
async fn a_failing_exec_plugin_is_told_without_its_secrets() {
    let (_dir, options) = written(
        "current-context: a\ncontexts: [{name: a, context: {cluster: c, user: u}}]\n\
         clusters: [{name: c, cluster: {server: 'http://127.0.0.1:1'}}]\n\
         users: [{name: u, user: {exec: {apiVersion: client.authentication.k8s.io/v1, command: 'false', args: [hush], \
         env: [{name: TOKEN, value: hush}], interactiveMode: Never}}}]\n",
    );
    let error = Cluster::connect(&options).await.unwrap_err();
    assert_eq!(error.reason, Reason::ExecPlugin, "{error:?}");
    assert!(!format!("{error:?}").contains("hush"), "{error:?}");
}

#[tokio::test]
async fn without_a_right_to_its_namespace_it_is_known_by_its_address() {
    let (fake, cluster) = cluster(|request| {
        (request.path == "/api/v1/namespaces/kube-system")
            .then(|| fake::status(403, "Forbidden", "namespaces is forbidden", None))
    })
    .await;
    assert_eq!(cluster.uid(), None);
    assert_eq!(cluster.id(), fake.url());
}
