//! When what somebody asked of a cloud began: not before it was asked for.

use std::collections::HashMap;

use whathappened_model::event::{Event, SourceKind};
use whathappened_model::time::Nanos;

use super::Fact;
use crate::symbols::{Symbol, SymbolTable};

/// What a cloud was asked to do to a machine.
const OF_INSTANCES: &str = "cloud.instance_";

/// Whether a record was made when a request was, and not when what it asked for was done: Google's and Azure's first ones,
/// what a tool prints as it begins, and all of `CloudTrail`'s.
pub(super) fn is_request(event: &Event) -> bool {
    event.fact == "cloud.activity"
        && (event.attribute("outcome") == Some("started") || event.source_kind == SourceKind::Aws)
}

/// Gives records of what was done then the time of the request as the earliest at which it can have begun.
pub(super) fn set_onsets(facts: &mut [Fact], symbols: &SymbolTable) {
    let is_call = |fact: &Fact| {
        fact.operation.is_some() && symbols.name(fact.signal).starts_with(OF_INSTANCES)
    };
    let mut asked: HashMap<Symbol, Nanos> = HashMap::new();
    // What is granted no lag is a request.
    for fact in facts
        .iter()
        .filter(|fact| is_call(fact) && fact.onset == fact.time.lo)
    {
        let first = asked.entry(fact.operation).or_insert(fact.onset);
        *first = fact.onset.min(*first);
    }
    for fact in facts.iter_mut().filter(|fact| is_call(fact)) {
        if let Some(asked) = asked.get(&fact.operation) {
            fact.onset = fact.onset.max((*asked).min(fact.time.lo));
        }
    }
}
