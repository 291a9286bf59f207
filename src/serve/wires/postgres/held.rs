//! Answers that wait in memory until a client fetches them are counted: a client may
//! leave many open.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How much may wait, of one client and of all.
#[derive(Debug)]
pub(super) struct Budget {
    all: Arc<AtomicU64>,
    most_of_one: u64,
    most: u64,
}

/// What one client holds.
#[derive(Clone, Debug)]
pub(super) struct Account {
    own: Arc<AtomicU64>,
    all: Arc<AtomicU64>,
    most_of_one: u64,
    most: u64,
}

/// An answer's room, until it is dropped.
#[derive(Debug)]
pub(super) struct Room {
    bytes: u64,
    account: Account,
}

impl Budget {
    pub(super) fn of(most_of_one: u64, most: u64) -> Self {
        Self {
            all: Arc::default(),
            most_of_one,
            most,
        }
    }

    /// An account for one more client.
    pub(super) fn account(&self) -> Account {
        Account {
            own: Arc::default(),
            all: Arc::clone(&self.all),
            most_of_one: self.most_of_one,
            most: self.most,
        }
    }
}

impl Account {
    /// Room for an answer; `None` where too much waits already.
    pub(super) fn room(&self, bytes: u64) -> Option<Room> {
        let own = self.own.fetch_add(bytes, Ordering::AcqRel) + bytes;
        let all = self.all.fetch_add(bytes, Ordering::AcqRel) + bytes;
        let room = Room {
            bytes,
            account: self.clone(),
        };
        (own <= self.most_of_one && all <= self.most).then_some(room)
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.account.own.fetch_sub(self.bytes, Ordering::AcqRel);
        self.account.all.fetch_sub(self.bytes, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_bounded_for_one_and_for_all_and_comes_back() {
        let budget = Budget::of(10, 15);
        let (one, other) = (budget.account(), budget.account());
        let first = one.room(8).unwrap();
        assert!(one.room(3).is_none());
        assert!(other.room(8).is_none());
        let second = other.room(7).unwrap();
        drop(first);
        assert!(one.room(8).is_some());
        drop(second);
        assert_eq!(budget.all.load(Ordering::Acquire), 0);
    }
}
