//! Tables whose rows are known by number: the number of a row of one table is no number of another's, and where there
//! may be none it is an `Option`, which takes no more room.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;
use std::hash::{Hash, Hasher};
use std::marker::PhantomData;
use std::num::NonZeroU32;
use std::ops::{Deref, DerefMut};

/// The number of a row in the table of all `Of`.
pub struct RowNumber<Of> {
    /// Counted from one, so that an `Option` of it is no larger.
    place: NonZeroU32,
    of: PhantomData<fn() -> Of>,
}

impl<Of> RowNumber<Of> {
    const LAST: Self = Self {
        place: NonZeroU32::MAX,
        of: PhantomData,
    };

    /// The row at a place, counted from nought; none where there can be no such row.
    #[must_use]
    pub fn at(index: usize) -> Option<Self> {
        let place = u32::try_from(index).ok()?.checked_add(1)?;
        let place = NonZeroU32::new(place)?;
        Some(Self {
            place,
            of: PhantomData,
        })
    }

    /// Its place, counted from nought.
    #[must_use]
    pub fn index(self) -> usize {
        self.place.get() as usize - 1
    }
}

// Derived, these would ask the same of what the rows are.
impl<Of> Clone for RowNumber<Of> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<Of> Copy for RowNumber<Of> {}

impl<Of> PartialEq for RowNumber<Of> {
    fn eq(&self, other: &Self) -> bool {
        self.place == other.place
    }
}

impl<Of> Eq for RowNumber<Of> {}

impl<Of> PartialOrd for RowNumber<Of> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<Of> Ord for RowNumber<Of> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.place.cmp(&other.place)
    }
}

impl<Of> Hash for RowNumber<Of> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.place.hash(state);
    }
}

impl<Of> fmt::Debug for RowNumber<Of> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.index())
    }
}

/// Rows by the numbers of all `Of`: these themselves, or what is known of each of them.
pub struct Table<Of, T = Of> {
    rows: Vec<T>,
    of: PhantomData<fn() -> Of>,
}

impl<Of, T> Table<Of, T> {
    /// The row of a number; none where there is no number.
    #[must_use]
    pub fn get(&self, number: impl Into<Option<RowNumber<Of>>>) -> Option<&T> {
        self.rows.get(number.into()?.index())
    }

    /// The same, to change it.
    pub fn get_mut(&mut self, number: impl Into<Option<RowNumber<Of>>>) -> Option<&mut T> {
        self.rows.get_mut(number.into()?.index())
    }

    /// Adds a row.
    ///
    /// Four billion rows do not fit in memory before their numbers end.
    pub fn push(&mut self, row: T) -> RowNumber<Of> {
        let number = RowNumber::at(self.rows.len()).unwrap_or(RowNumber::LAST);
        self.rows.push(row);
        number
    }

    /// The numbers of all rows.
    pub fn numbers(&self) -> impl DoubleEndedIterator<Item = RowNumber<Of>> + use<Of, T> {
        (0..self.rows.len()).filter_map(RowNumber::at)
    }

    /// All rows with their numbers.
    pub fn numbered(&self) -> impl DoubleEndedIterator<Item = (RowNumber<Of>, &T)> {
        numbered(self.rows.iter())
    }

    /// The same, to change them.
    pub fn numbered_mut(&mut self) -> impl DoubleEndedIterator<Item = (RowNumber<Of>, &mut T)> {
        numbered(self.rows.iter_mut())
    }
}

/// Numbers of rows, among which one may be looked for where there may be none.
pub trait HasRow<Of> {
    /// Whether it is there; where there is no number it is not.
    fn has(&self, number: impl Into<Option<RowNumber<Of>>>) -> bool;
}

impl<Of> HasRow<Of> for [RowNumber<Of>] {
    fn has(&self, number: impl Into<Option<RowNumber<Of>>>) -> bool {
        number.into().is_some_and(|number| self.contains(&number))
    }
}

impl<Of> HasRow<Of> for HashSet<RowNumber<Of>> {
    fn has(&self, number: impl Into<Option<RowNumber<Of>>>) -> bool {
        number.into().is_some_and(|number| self.contains(&number))
    }
}

impl<Of> HasRow<Of> for BTreeSet<RowNumber<Of>> {
    fn has(&self, number: impl Into<Option<RowNumber<Of>>>) -> bool {
        number.into().is_some_and(|number| self.contains(&number))
    }
}

/// What is known of some rows by their numbers.
pub trait AtRow<Of> {
    /// What is known.
    type Known;

    /// What is known of one; where there is no number it is nothing.
    fn at(&self, number: impl Into<Option<RowNumber<Of>>>) -> Option<&Self::Known>;
}

impl<Of, T> AtRow<Of> for HashMap<RowNumber<Of>, T> {
    type Known = T;

    fn at(&self, number: impl Into<Option<RowNumber<Of>>>) -> Option<&T> {
        self.get(&number.into()?)
    }
}

impl<Of, T> AtRow<Of> for BTreeMap<RowNumber<Of>, T> {
    type Known = T;

    fn at(&self, number: impl Into<Option<RowNumber<Of>>>) -> Option<&T> {
        self.get(&number.into()?)
    }
}

fn numbered<Of, T>(
    rows: impl DoubleEndedIterator<Item = T> + ExactSizeIterator,
) -> impl DoubleEndedIterator<Item = (RowNumber<Of>, T)> {
    rows.enumerate()
        .filter_map(|(index, row)| Some((RowNumber::at(index)?, row)))
}

/// All rows in their order.
impl<Of, T> Deref for Table<Of, T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        &self.rows
    }
}

impl<Of, T> DerefMut for Table<Of, T> {
    fn deref_mut(&mut self) -> &mut [T] {
        &mut self.rows
    }
}

impl<Of, T> From<Vec<T>> for Table<Of, T> {
    fn from(rows: Vec<T>) -> Self {
        Self {
            rows,
            of: PhantomData,
        }
    }
}

impl<Of, T> FromIterator<T> for Table<Of, T> {
    fn from_iter<I: IntoIterator<Item = T>>(rows: I) -> Self {
        Vec::from_iter(rows).into()
    }
}

impl<Of, T> Default for Table<Of, T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<Of, T: fmt::Debug> fmt::Debug for Table<Of, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.rows.fmt(f)
    }
}

impl<Of, T> IntoIterator for Table<Of, T> {
    type Item = T;
    type IntoIter = std::vec::IntoIter<T>;

    fn into_iter(self) -> Self::IntoIter {
        self.rows.into_iter()
    }
}

impl<'a, Of, T> IntoIterator for &'a Table<Of, T> {
    type Item = &'a T;
    type IntoIter = std::slice::Iter<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.rows.iter()
    }
}

impl<'a, Of, T> IntoIterator for &'a mut Table<Of, T> {
    type Item = &'a mut T;
    type IntoIter = std::slice::IterMut<'a, T>;

    fn into_iter(self) -> Self::IntoIter {
        self.rows.iter_mut()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_is_found_by_its_number_and_by_no_number_none() {
        let mut table: Table<&str> = Table::default();
        let (first, second) = (table.push("a"), table.push("b"));
        assert_eq!(table.get(first), Some(&"a"));
        assert_eq!(table.get(second), Some(&"b"));
        let none: Option<RowNumber<&str>> = None;
        assert_eq!(table.get(none), None);
        assert_eq!(table.numbered().next_back(), Some((second, &"b")));
        assert_eq!(table.numbers().collect::<Vec<_>>(), [first, second]);
    }

    #[test]
    fn no_number_takes_no_more_room_and_comes_before_all() {
        assert_eq!(size_of::<Option<RowNumber<()>>>(), 4);
        assert!(None < RowNumber::<()>::at(0));
    }

    #[test]
    fn there_are_no_numbers_beyond_the_last() {
        let last = u32::MAX as usize - 1;
        assert_eq!(RowNumber::<()>::at(last).map(RowNumber::index), Some(last));
        assert_eq!(RowNumber::<()>::at(last + 1), None);
    }
}
