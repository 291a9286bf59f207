//! Who speaks to the API server, as the audit log writes them.

use serde_json::{Value, json};

/// A user or a component.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Client {
    /// User name.
    pub name: String,
    /// Its uid.
    pub uid: String,
    /// Its groups.
    pub groups: Vec<String>,
    /// User agent.
    pub agent: String,
    /// Where it calls from.
    pub ip: String,
}

impl Client {
    /// A controller of the controller manager, under its service account.
    #[must_use]
    pub fn controller(name: &str) -> Self {
        let user = format!("system:serviceaccount:kube-system:{name}");
        Self {
            uid: uid(&user),
            groups: groups(&[
                "system:serviceaccounts",
                "system:serviceaccounts:kube-system",
                "system:authenticated",
            ]),
            agent: format!(
                "kube-controller-manager/v1.34.1 (linux/amd64) kubernetes/93248f9/{user}"
            ),
            ip: "10.0.0.2".to_owned(),
            name: user,
        }
    }

    /// A service account of something that was installed.
    #[must_use]
    pub fn account(namespace: &str, name: &str, agent: &str) -> Self {
        let user = format!("system:serviceaccount:{namespace}:{name}");
        Self {
            uid: uid(&user),
            groups: vec![
                "system:serviceaccounts".to_owned(),
                format!("system:serviceaccounts:{namespace}"),
                "system:authenticated".to_owned(),
            ],
            agent: agent.to_owned(),
            ip: "10.64.0.9".to_owned(),
            name: user,
        }
    }

    /// The scheduler.
    #[must_use]
    pub fn scheduler() -> Self {
        Self {
            name: "system:kube-scheduler".to_owned(),
            uid: String::new(),
            groups: groups(&["system:authenticated"]),
            agent: "kube-scheduler/v1.34.1 (linux/amd64) kubernetes/93248f9/scheduler".to_owned(),
            ip: "10.0.0.2".to_owned(),
        }
    }

    /// A node's kubelet.
    #[must_use]
    pub fn kubelet(node: &str) -> Self {
        Self {
            name: format!("system:node:{node}"),
            uid: String::new(),
            groups: groups(&["system:nodes", "system:authenticated"]),
            agent: "kubelet/v1.34.1 (linux/amd64) kubernetes/93248f9".to_owned(),
            ip: "10.128.0.10".to_owned(),
        }
    }

    /// A person with kubectl.
    #[must_use]
    pub fn person(name: &str) -> Self {
        Self {
            name: name.to_owned(),
            uid: uid(name),
            groups: groups(&["researchers", "system:authenticated"]),
            agent: "kubectl/v1.34.1 (linux/amd64) kubernetes/93248f9".to_owned(),
            ip: "192.0.2.17".to_owned(),
        }
    }

    /// As the audit log writes it.
    #[must_use]
    pub fn user(&self) -> Value {
        let mut user = json!({"username": self.name, "groups": self.groups});
        if !self.uid.is_empty() {
            user["uid"] = json!(self.uid);
        }
        user
    }
}

fn groups(names: &[&str]) -> Vec<String> {
    names.iter().map(|&name| name.to_owned()).collect()
}

/// The same name always has the same uid.
fn uid(name: &str) -> String {
    crate::rng::Rng::stream(0, name).uuid()
}
