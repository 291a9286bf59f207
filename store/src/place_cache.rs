//! Rows of places that are asked for again and again: what many runs are explained from,
//! one after the other. A segment never changes, so what was read of one stays right.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::record::{Fact, Object, Record};
use crate::segment::SubjectKey;

/// What may be kept, in bytes.
const ROOM: usize = 64 << 20;

/// Rows by segment and place.
#[derive(Debug)]
pub(crate) struct PlaceRows<R>(HashMap<String, HashMap<SubjectKey, Arc<[R]>>>);

impl<R> Default for PlaceRows<R> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

/// What was read of segments so far.
#[derive(Debug, Default)]
pub(crate) struct PlaceCache {
    pub(crate) facts: RefCell<PlaceRows<Fact>>,
    pub(crate) objects: RefCell<PlaceRows<Object>>,
    taken: RefCell<usize>,
}

impl PlaceCache {
    /// Whether half of the room is taken: what was read for earlier runs is of less and less use.
    pub(crate) fn is_half_full(&self) -> bool {
        *self.taken.borrow() > ROOM / 2
    }

    /// Gives the known rows of some places of a segment, and which of them are not known.
    pub(crate) fn known<R: Record>(
        &self,
        file: &str,
        wanted: BTreeSet<SubjectKey>,
        rows: &mut Vec<R>,
    ) -> BTreeSet<SubjectKey> {
        let cache = R::cached(self).borrow();
        let Some(segment) = cache.0.get(file) else {
            return wanted;
        };
        let mut unknown = BTreeSet::new();
        for place in wanted {
            match segment.get(&place) {
                Some(known) => rows.extend(known.iter().cloned()),
                None => {
                    unknown.insert(place);
                }
            }
        }
        unknown
    }

    /// Which of some places of a segment are not known.
    pub(crate) fn unknown<R: Record>(
        &self,
        file: &str,
        mut wanted: BTreeSet<SubjectKey>,
    ) -> BTreeSet<SubjectKey> {
        if let Some(segment) = R::cached(self).borrow().0.get(file) {
            wanted.retain(|place| !segment.contains_key(place));
        }
        wanted
    }

    /// Keeps what a segment has of some places, as far as there is room: also that it has nothing.
    pub(crate) fn keep<R: Record>(
        &self,
        file: &str,
        wanted: BTreeSet<SubjectKey>,
        found: &[(SubjectKey, R)],
    ) {
        /// What a place takes beside its rows.
        const PLACE: usize = 200;
        let mut by_place: HashMap<&SubjectKey, Vec<&R>> = HashMap::new();
        for (place, row) in found {
            by_place.entry(place).or_default().push(row);
        }
        let mut cache = R::cached(self).borrow_mut();
        let mut taken = self.taken.borrow_mut();
        let segment = cache.0.entry(file.to_owned()).or_default();
        for place in wanted {
            let rows = by_place.remove(&place).unwrap_or_default();
            let weight = PLACE + rows.iter().map(|row| row.weight()).sum::<usize>();
            if *taken + weight > ROOM {
                continue;
            }
            *taken += weight;
            segment.insert(place, rows.into_iter().cloned().collect());
        }
    }
}
