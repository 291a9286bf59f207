//! What kinds of actors there are.

use serde::de::Error as _;
use serde::{Deserialize as _, Deserializer};
use whathappened_model::word_list::Words as _;
use whathappened_model::words;

use super::error::did_you_mean;

words! {
    /// What kind of actor did something.
    pub growing ActorKind else Component {
        /// A person, or a tool that acts in a person's name.
        User = "user",
        /// A service account that belongs to no known component, such as that of a pipeline or a script.
        ServiceAccount = "service account",
        /// A controller or operator.
        Controller = "controller",
        /// A scheduler.
        Scheduler = "scheduler",
        /// The kubelet of a node.
        Kubelet = "kubelet",
        /// A component that adds and removes machines.
        Autoscaler = "autoscaler",
        /// The cloud itself.
        Cloud = "cloud",
        /// The kernel of a machine.
        Kernel = "kernel",
        /// Another component of a cluster.
        Component = "component",
    }
}

/// The kind in a file of signals, where a misspelt one is an error.
pub(super) fn in_file<'de, D: Deserializer<'de>>(file: D) -> Result<ActorKind, D::Error> {
    let word = String::deserialize(file)?;
    ActorKind::parse(&word).ok_or_else(|| {
        let known = ActorKind::ALL.iter().map(|(_, word, _)| *word);
        let near = did_you_mean(&word, known);
        D::Error::custom(format!("there is no kind of actor {word:?}{near}"))
    })
}
