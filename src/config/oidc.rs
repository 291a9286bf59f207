//! Signing in by somebody else's word: `OpenID` Connect.

use std::collections::BTreeSet;
use std::path::PathBuf;

use serde::Deserialize;

use super::callers::{Right, usual};

/// A provider that says who somebody is: `[serve.oidc]`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Oidc {
    /// Its address, as it stands in its tokens.
    pub issuer: String,
    /// What it calls this service.
    pub client_id: String,
    /// A file with the secret that was agreed on; without one, the code's own proof (PKCE) is all.
    #[serde(default)]
    pub client_secret_file: Option<PathBuf>,
    /// What is asked for beside `openid`.
    #[serde(default = "scopes")]
    pub scopes: Vec<String>,
    /// The claim that names the person.
    #[serde(default = "name_claim")]
    pub name_claim: String,
    /// The claim that lists their groups.
    #[serde(default = "groups_claim")]
    pub groups_claim: String,
    /// How the sign-in page calls it.
    #[serde(default)]
    pub title: Option<String>,
    /// What members of which groups may see and do; nobody else may sign in.
    #[serde(default)]
    pub group: Vec<Group>,
}

/// What members of a group may see and do.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Group {
    /// Its name in the claim; `*` is everybody who can sign in.
    pub name: String,
    /// Namespaces they may see; all where it is not said.
    #[serde(default)]
    pub namespaces: Option<BTreeSet<String>>,
    /// Sources they may see; all where it is not said.
    #[serde(default)]
    pub sources: Option<BTreeSet<String>>,
    /// What they may do.
    #[serde(default = "usual")]
    pub rights: BTreeSet<Right>,
}

fn scopes() -> Vec<String> {
    ["profile", "email"].map(str::to_owned).to_vec()
}

fn name_claim() -> String {
    "email".to_owned()
}

fn groups_claim() -> String {
    "groups".to_owned()
}
