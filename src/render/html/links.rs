//! Names that lead to pages of their own, where there are such pages.

use maud::{Markup, html};

use super::super::text::in_address;
use super::cells;
use super::room::Room;

/// Where names lead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Links {
    /// To pages of the service.
    Site,
    /// A file by itself: nowhere.
    Nowhere,
}

impl Links {
    /// The page of a machine.
    pub(super) fn node(self, name: &str, room: Room) -> Markup {
        self.to("/node/", name, &cells::text(name, room))
    }

    /// The page of an experiment.
    pub(super) fn experiment(self, name: &str, shown: &Markup) -> Markup {
        self.to("/x/", name, shown)
    }

    /// The page of an incident, where its id is known.
    pub(super) fn incident(self, id: Option<&str>, shown: &Markup) -> Markup {
        match id {
            Some(id) => self.to("/i/", id, shown),
            None => shown.clone(),
        }
    }

    fn to(self, path: &str, name: &str, shown: &Markup) -> Markup {
        match self {
            Self::Site => html! { a href={ (path) (in_address(name)) } { (shown) } },
            Self::Nowhere => shown.clone(),
        }
    }
}

/// The name of a run that no other run has.
pub(super) fn full_name(kind: &str, namespace: Option<&str>, name: &str) -> String {
    match namespace {
        Some(namespace) => format!("{kind}/{namespace}/{name}"),
        None => format!("{kind}/{name}"),
    }
}
