//! Names kept once: facts by the million share few names.

use std::collections::HashMap;
use std::sync::Arc;

/// A name, as a number that is only meaningful beside its [`SymbolTable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol(u32);

impl Symbol {
    /// The empty name.
    pub const NONE: Self = Self(0);

    /// Whether there is a name.
    #[must_use]
    pub fn is_some(self) -> bool {
        self.0 != 0
    }
}

/// All names seen.
///
/// Numbers follow the order of arrival, so no output may be sorted by them.
#[derive(Debug)]
pub struct SymbolTable {
    names: Vec<Arc<str>>,
    numbers: HashMap<Arc<str>, Symbol>,
}

impl Default for SymbolTable {
    fn default() -> Self {
        let mut symbols = Self {
            names: Vec::new(),
            numbers: HashMap::new(),
        };
        symbols.number("");
        symbols
    }
}

impl SymbolTable {
    /// The number of a name; a new one where it is new.
    pub fn number(&mut self, name: &str) -> Symbol {
        if let Some(sym) = self.numbers.get(name) {
            return *sym;
        }
        // Four billion distinct names do not fit in memory before this number ends.
        let sym = Symbol(u32::try_from(self.names.len()).unwrap_or(u32::MAX));
        let name: Arc<str> = name.into();
        self.names.push(Arc::clone(&name));
        self.numbers.insert(name, sym);
        sym
    }

    /// The number of an optional name.
    pub fn optional(&mut self, name: Option<&str>) -> Symbol {
        name.map_or(Symbol::NONE, |name| self.number(name))
    }

    /// The number of a name that was seen before.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<Symbol> {
        self.numbers.get(name).copied()
    }

    /// The name of a number.
    #[must_use]
    pub fn name(&self, sym: Symbol) -> &str {
        self.names.get(sym.0 as usize).map_or("", AsRef::as_ref)
    }

    /// The name of a number, `None` for the empty one.
    #[must_use]
    pub fn some(&self, sym: Symbol) -> Option<&str> {
        sym.is_some().then(|| self.name(sym))
    }
}
