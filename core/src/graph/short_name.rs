//! Machines that one source calls by their whole name and another by its first word: `n7.hpc.lab` is `n7`.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::fact::Fact;
use super::task::Task;
use crate::symbols::{Symbol, SymbolTable};

/// Gives facts about machines of a whole name to the known machine whose name is its first word. Where two whole
/// names begin with that word, or the whole name is a known machine's, they stay as they are.
pub(super) fn join(symbols: &SymbolTable, tasks: &[Task], facts: &mut [Fact]) {
    let known: HashSet<Symbol> = tasks.iter().flat_map(Task::machines).collect();
    let mut whole: HashMap<Symbol, BTreeSet<Symbol>> = HashMap::new();
    for fact in facts.iter().filter(|fact| fact.node.is_some()) {
        if !known.contains(&fact.node)
            && let Some(short) = first_word(symbols, fact.node)
            && known.contains(&short)
        {
            whole.entry(short).or_default().insert(fact.node);
        }
    }
    let alone = whole.into_iter().filter(|(_, names)| names.len() == 1);
    let short: HashMap<Symbol, Symbol> = alone
        .flat_map(|(short, names)| names.into_iter().map(move |name| (name, short)))
        .collect();
    for fact in facts.iter_mut() {
        if let Some(short) = short.get(&fact.node) {
            fact.node = *short;
        }
    }
}

/// The known symbol of a name up to its first dot; an address has none.
fn first_word(symbols: &SymbolTable, name: Symbol) -> Option<Symbol> {
    let (word, _) = symbols.name(name).split_once('.')?;
    let is_address = word.bytes().all(|byte| byte.is_ascii_digit());
    symbols.find(word).filter(|_| !is_address)
}
