//! Machines that one source calls by their whole name and another by its first word: `n7.hpc.lab` is `n7`.

use std::collections::{BTreeSet, HashMap, HashSet};

use whathappened_model::table::Table;

use super::fact::Fact;
use super::task::Task;
use crate::symbols::{Symbol, SymbolTable};

/// Gives facts about machines of a whole name to the known machine whose name is its first word, and those about
/// machines of one word to the known machine whose name begins with it. Where two whole names begin with that word,
/// or both names are those of known machines, they stay as they are.
pub(super) fn join(symbols: &SymbolTable, tasks: &Table<Task>, facts: &mut [Fact]) {
    let known: HashSet<Symbol> = tasks.iter().flat_map(Task::machines).collect();
    let mentioned = facts.iter().map(|fact| fact.node);
    let mentioned: HashSet<Symbol> = mentioned.filter(|node| node.is_some()).collect();
    let mut whole: HashMap<Symbol, BTreeSet<Symbol>> = HashMap::new();
    for name in known.union(&mentioned) {
        if let Some(short) = first_word(symbols, *name) {
            whole.entry(short).or_default().insert(*name);
        }
    }
    let mut known_as = HashMap::new();
    for (short, names) in whole {
        let mut names = names.into_iter();
        let (Some(name), None) = (names.next(), names.next()) else {
            continue;
        };
        match (known.contains(&short), known.contains(&name)) {
            (true, false) => known_as.insert(name, short),
            (false, true) => known_as.insert(short, name),
            _ => None,
        };
    }
    for fact in facts.iter_mut() {
        if let Some(known) = known_as.get(&fact.node) {
            fact.node = *known;
        }
    }
}

/// The known symbol of a name up to its first dot; an address has none.
fn first_word(symbols: &SymbolTable, name: Symbol) -> Option<Symbol> {
    let (word, _) = symbols.name(name).split_once('.')?;
    let is_address = word.bytes().all(|byte| byte.is_ascii_digit());
    symbols.find(word).filter(|_| !is_address)
}
