//! Who an actor is: a person, a controller, the scheduler, …

use whathappened_model::event::Event;

use super::error::SignalError;
use super::file;
use super::pattern::{Pattern, PatternSource, patterns};

/// A kind of actor. The first class that matches is an actor's class.
#[derive(Debug)]
pub(super) struct ActorClass {
    pub(super) name: String,
    pub(super) title: String,
    user: Vec<Pattern>,
    user_agent: Vec<Pattern>,
}

impl ActorClass {
    pub(super) fn compile(
        place: PatternSource<'_>,
        class: &file::ActorClass,
    ) -> Result<Self, SignalError> {
        let rule = &format!("actor {}", class.name);
        let place = PatternSource { rule, ..place };
        if class.user.0.is_empty() && class.user_agent.0.is_empty() {
            return Err(SignalError::Field {
                file: place.file.to_owned(),
                rule: rule.clone(),
                field: "user".to_owned(),
                problem: "needs a pattern here or in user_agent".to_owned(),
            });
        }
        Ok(Self {
            name: class.name.clone(),
            title: class.title.clone(),
            user: patterns(place, "user", &class.user)?,
            user_agent: patterns(place, "user_agent", &class.user_agent)?,
        })
    }

    fn matches(&self, user: &str, user_agent: &str) -> bool {
        self.user.iter().any(|pattern| pattern.is_in(Some(user)))
            || self
                .user_agent
                .iter()
                .any(|pattern| pattern.is_in(Some(user_agent)))
    }
}

/// The class of an event's actor; `None` for an event that names none.
pub(super) fn class_of<'a>(classes: &'a [ActorClass], event: &Event) -> Option<&'a str> {
    let user = event.actor.as_deref()?;
    let user_agent = event.attribute("user_agent").unwrap_or_default();
    let class = classes
        .iter()
        .find(|class| class.matches(user, user_agent))?;
    Some(&class.name)
}
