//! Schemas of closed lists of words.
//!
//! Most lists are declared in packages that know nothing of `OpenAPI`, so a field of such a type names the
//! stand-in of its list: `#[schema(value_type = RunStateWord)]`.

use std::borrow::Cow;
use std::marker::PhantomData;

use utoipa::openapi::RefOr;
use utoipa::openapi::schema::{Object, ObjectBuilder, Schema, Type};
use utoipa::{PartialSchema, ToSchema};
use whathappened_core::death::{DeathState, RunState};
use whathappened_core::signals::{ActorKind, MachineEventKind};
use whathappened_core::timeline::{Lane, Weight};
use whathappened_model::coverage::{Mode, Status};
use whathappened_model::word_list::Words;

use super::{Edge, FailingBy, IncidentRole, Level, MissingBy, StepRole};

/// Stands in schemas for a list of words.
pub(crate) struct WordOf<W>(PhantomData<W>);

pub(super) type ActorKindWord = WordOf<ActorKind>;
pub(super) type DeathStateWord = WordOf<DeathState>;
pub(super) type LaneWord = WordOf<Lane>;
pub(super) type MachineEventKindWord = WordOf<MachineEventKind>;
pub(super) type ModeWord = WordOf<Mode>;
pub(crate) type RunStateWord = WordOf<RunState>;
pub(super) type StatusWord = WordOf<Status>;
pub(super) type WeightWord = WordOf<Weight>;

impl<W: Words> PartialSchema for WordOf<W> {
    fn schema() -> RefOr<Schema> {
        of_words::<W>().into()
    }
}

impl<W: Words> ToSchema for WordOf<W> {
    fn name() -> Cow<'static, str> {
        W::NAME.into()
    }
}

/// What a list is of, and what each of its words means.
fn of_words<W: Words>() -> Object {
    let mut description = sentence(W::ABOUT);
    description.push('\n');
    for (_, word, meaning) in W::ALL {
        let word = match *word {
            "" => "empty".to_owned(),
            word => format!("`{word}`"),
        };
        description.push_str(&format!("\n* {word}: {}", sentence(meaning)));
    }
    let words = || W::ALL.iter().map(|(_, word, _)| *word);
    let list = ObjectBuilder::new().schema_type(Type::String);
    if W::GROWS {
        description.push_str("\n\nNew words are added.");
        list.description(Some(description)).examples(words())
    } else {
        list.description(Some(description))
            .enum_values(Some(words()))
    }
    .build()
}

/// A doc comment as one line.
fn sentence(lines: &[&str]) -> String {
    let lines: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
    lines.join(" ")
}

macro_rules! schemas {
    ($($list:ident),+) => {
        $(
            impl PartialSchema for $list {
                fn schema() -> RefOr<Schema> {
                    of_words::<Self>().into()
                }
            }

            impl ToSchema for $list {
                fn name() -> Cow<'static, str> {
                    <Self as Words>::NAME.into()
                }
            }
        )+
    };
}

schemas!(Edge, FailingBy, IncidentRole, Level, MissingBy, StepRole);
