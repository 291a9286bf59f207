//! Pages of a list, by cursors that hold the last key told.

use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};
use whathappened_model::event::EventId;

use super::problem::Problem;

/// Items of a page where nothing else is said.
const USUAL: u32 = 100;
/// Most items of a page.
const MOST: u32 = 1_000;

/// Which page is wanted.
#[derive(Clone, Debug, Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct Paging {
    /// Items of a page, at most 1000; 100 by default.
    #[param(minimum = 1, maximum = 1000)]
    pub(super) limit: Option<u32>,
    /// `next` of the page before.
    pub(super) cursor: Option<String>,
}

/// A page of a list in a fixed order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, ToSchema)]
pub(super) struct Page<T> {
    /// The items.
    pub(super) items: Vec<T>,
    /// The cursor of the next page; null on the last one.
    #[schema(required)]
    pub(super) next: Option<String>,
}

impl Paging {
    /// The page of a list of (key, item). Keys are put in order, so what comes or
    /// goes between two pages shifts neither. `about` is what is listed: a cursor
    /// of another list is refused.
    pub(super) fn page<T>(
        &self,
        about: &[&str],
        mut items: Vec<(String, T)>,
    ) -> Result<Page<T>, Problem> {
        let mark = EventId::of(about).to_string();
        let mark = mark.get(..8).unwrap_or_default();
        let limit = match self.limit {
            None => USUAL,
            Some(limit @ 1..=MOST) => limit,
            Some(limit) => {
                return Err(Problem::bad(format!(
                    "limit {limit} is out of range: use 1 to {MOST}"
                )));
            }
        };
        items.sort_by(|(a, _), (b, _)| a.cmp(b));
        if let Some(cursor) = &self.cursor {
            let key = decode(cursor, mark).ok_or_else(|| {
                Problem::bad("the cursor does not belong to this list")
                    .hint("start again without a cursor, and use the same parameters on each page")
            })?;
            items.retain(|(one, _)| *one > key);
        }
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = items.len() > limit;
        items.truncate(limit);
        let next = items
            .last()
            .filter(|_| more)
            .map(|(key, _)| encode(key, mark));
        Ok(Page {
            items: items.into_iter().map(|(_, item)| item).collect(),
            next,
        })
    }
}

/// The mark of the list, then the key's bytes in hexadecimal.
fn encode(key: &str, mark: &str) -> String {
    let mut cursor = mark.to_owned();
    for byte in key.bytes() {
        cursor.push_str(&format!("{byte:02x}"));
    }
    cursor
}

fn decode(cursor: &str, mark: &str) -> Option<String> {
    let digits = cursor.strip_prefix(mark)?;
    if !digits.is_ascii() || digits.len() % 2 == 1 {
        return None;
    }
    let bytes: Option<Vec<u8>> = (0..digits.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok())
        .collect();
    String::from_utf8(bytes?).ok()
}

/// A number as text that sorts as numbers do; `i64::MIN` comes first.
pub(super) fn ascending(number: i64) -> String {
    format!("{:020}", i128::from(number) - i128::from(i64::MIN))
}

/// The same, the greatest first.
pub(super) fn descending(number: i64) -> String {
    format!("{:020}", i128::from(i64::MAX) - i128::from(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(numbers: impl IntoIterator<Item = i64>) -> Vec<(String, i64)> {
        let key = |number| (ascending(number), number);
        numbers.into_iter().map(key).collect()
    }

    #[test]
    fn pages_cover_a_list_once_whatever_comes_between() {
        let mut paging = Paging {
            limit: Some(3),
            cursor: None,
        };
        let mut seen = Vec::new();
        let mut numbers: Vec<i64> = vec![5, -7, i64::MIN, 9, 1, i64::MAX, 3, 0];
        loop {
            let page = paging.page(&["x"], list(numbers.clone())).unwrap();
            seen.extend(page.items);
            // What was told already may go, and more may come before it.
            numbers.retain(|number| *number != 0);
            numbers.push(-8);
            match page.next {
                Some(next) => paging.cursor = Some(next),
                None => break,
            }
        }
        assert_eq!(seen, [i64::MIN, -7, 0, 1, 3, 5, 9, i64::MAX]);
        assert!(descending(5) < descending(-5));
    }

    #[test]
    fn a_cursor_of_something_else_is_refused() {
        let first = Paging {
            limit: Some(1),
            cursor: None,
        };
        let cursor = first.page(&["x"], list([1, 2])).unwrap().next;
        for (about, cursor) in [
            ("y", cursor.clone()),
            ("x", cursor.map(|text| format!("{text}0"))),
            ("x", Some("é".to_owned())),
            ("x", Some(String::new())),
        ] {
            let paging = Paging {
                limit: None,
                cursor,
            };
            assert!(paging.page(&[about], list([1, 2])).is_err());
        }
        for limit in [0, 1_001] {
            let paging = Paging {
                limit: Some(limit),
                cursor: None,
            };
            assert!(paging.page(&["x"], list([])).is_err());
        }
    }
}
