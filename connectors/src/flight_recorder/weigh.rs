//! How large and deep a pickle's value is, and that it is data alone, before
//! anything of it is built.
//!
//! A pickle is a program for a stack machine. What calls a function is
//! refused. What is named once may be used often, so that a short pickle can
//! mean a value without end: its weight is reckoned here on numbers instead.

/// A value's nodes, those that are used again counted again, and its depth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Weight {
    nodes: u64,
    depth: u32,
}

const MAX_NODES: u64 = 50_000_000;
const MAX_DEPTH: u32 = 32;
const LEAF: Weight = Weight { nodes: 1, depth: 1 };

struct PickleMachine<'p> {
    rest: &'p [u8],
    stack: Vec<Weight>,
    marks: Vec<usize>,
    memo: std::collections::BTreeMap<u32, Weight>,
}

/// Whether `pickle` may be built.
///
/// # Errors
/// Says in words why not.
pub(super) fn check(pickle: &[u8]) -> Result<(), String> {
    let mut machine = PickleMachine {
        rest: pickle,
        stack: Vec::new(),
        marks: Vec::new(),
        memo: std::collections::BTreeMap::new(),
    };
    while !machine.step()? {}
    Ok(())
}

impl PickleMachine<'_> {
    fn take(&mut self, n: usize) -> Result<&[u8], String> {
        let (taken, rest) = self
            .rest
            .split_at_checked(n)
            .ok_or("the pickle breaks off")?;
        self.rest = rest;
        Ok(taken)
    }

    /// A little-endian number of `n` bytes.
    fn number(&mut self, n: usize) -> Result<usize, String> {
        let bytes = self.take(n)?;
        let number = bytes
            .iter()
            .rev()
            .fold(0_u64, |sum, b| (sum << 8) | u64::from(*b));
        usize::try_from(number).map_err(|_| "a length in the pickle is too large".to_owned())
    }

    fn leaf(&mut self, size: usize) -> Result<(), String> {
        self.take(size)?;
        self.stack.push(LEAF);
        Ok(())
    }

    fn pop(&mut self) -> Result<Weight, String> {
        self.stack
            .pop()
            .ok_or_else(|| "the pickle takes more than it has".to_owned())
    }

    /// What stands above the last mark.
    fn above_mark(&mut self) -> Result<Vec<Weight>, String> {
        let mark = self.marks.pop().ok_or("the pickle lacks a mark")?;
        if mark > self.stack.len() {
            return Err("the pickle takes more than it has".to_owned());
        }
        Ok(self.stack.split_off(mark))
    }

    fn hold(&mut self, into: Weight, parts: &[Weight]) -> Result<(), String> {
        let mut whole = into;
        for part in parts {
            whole.nodes = whole.nodes.saturating_add(part.nodes);
            whole.depth = whole.depth.max(part.depth + 1);
        }
        if whole.nodes > MAX_NODES || whole.depth > MAX_DEPTH {
            return Err("the pickle's value is too large or too deep".to_owned());
        }
        self.stack.push(whole);
        Ok(())
    }

    fn remember(&mut self, key: usize) -> Result<(), String> {
        let top = *self.stack.last().ok_or("the pickle remembers nothing")?;
        let key = u32::try_from(key).map_err(|_| "a number in the pickle is too large")?;
        self.memo.insert(key, top);
        Ok(())
    }

    fn recall(&mut self, key: usize) -> Result<(), String> {
        let known = u32::try_from(key).ok().and_then(|key| self.memo.get(&key));
        let known = *known.ok_or("the pickle refers to a value that it does not define")?;
        self.hold(known, &[])
    }

    /// One instruction; `true` at the end.
    fn step(&mut self) -> Result<bool, String> {
        match self.take(1)?[0] {
            b'.' => return Ok(true),
            // Protocol and frame.
            0x80 => drop(self.take(1)?),
            0x95 => drop(self.take(8)?),
            // None, booleans, numbers.
            b'N' | 0x88 | 0x89 => self.leaf(0)?,
            b'K' => self.leaf(1)?,
            b'M' => self.leaf(2)?,
            b'J' => self.leaf(4)?,
            b'G' => self.leaf(8)?,
            0x8a => {
                let n = self.number(1)?;
                self.leaf(n)?;
            }
            0x8b => {
                let n = self.number(4)?;
                self.leaf(n)?;
            }
            // Texts and bytes.
            0x8c | b'U' | b'C' => {
                let n = self.number(1)?;
                self.leaf(n)?;
            }
            b'X' | b'T' | b'B' => {
                let n = self.number(4)?;
                self.leaf(n)?;
            }
            0x8d | 0x8e => {
                let n = self.number(8)?;
                self.leaf(n)?;
            }
            // Containers.
            b']' | b'}' | b')' | 0x8f => self.leaf(0)?,
            b'(' => self.marks.push(self.stack.len()),
            b't' | b'l' | b'd' | 0x91 => {
                let parts = self.above_mark()?;
                self.hold(LEAF, &parts)?;
            }
            b'e' | b'u' | 0x90 => {
                let parts = self.above_mark()?;
                let into = self.pop()?;
                self.hold(into, &parts)?;
            }
            b'a' => {
                let part = self.pop()?;
                let into = self.pop()?;
                self.hold(into, &[part])?;
            }
            b's' => {
                let (value, key, into) = (self.pop()?, self.pop()?, self.pop()?);
                self.hold(into, &[key, value])?;
            }
            count @ 0x85..=0x87 => {
                let mut parts = Vec::new();
                for _ in 0x84..count {
                    parts.push(self.pop()?);
                }
                self.hold(LEAF, &parts)?;
            }
            // The memo.
            b'q' => {
                let key = self.number(1)?;
                self.remember(key)?;
            }
            b'r' => {
                let key = self.number(4)?;
                self.remember(key)?;
            }
            0x94 => self.remember(self.memo.len())?,
            b'h' => {
                let key = self.number(1)?;
                self.recall(key)?;
            }
            b'j' => {
                let key = self.number(4)?;
                self.recall(key)?;
            }
            b'0' => drop(self.pop()?),
            b'2' => {
                let top = self.pop()?;
                self.stack.push(top);
                self.hold(top, &[])?;
            }
            b'c' | 0x93 | b'R' | b'b' | b'i' | b'o' | 0x81 | 0x92 | b'P' | b'Q' | 0x82..=0x84 => {
                return Err("a pickle that calls functions, which is not read".to_owned());
            }
            other => {
                return Err(format!(
                    "the pickle has the unknown instruction {other:#04x}"
                ));
            }
        }
        Ok(false)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_passes_and_programs_do_not() {
        assert_eq!(check(b"\x80\x02}q\x00X\x01\x00\x00\x00aK\x01s."), Ok(()));
        for pickle in [
            // os.system("x")
            &b"\x80\x02cos\nsystem\nq\x00X\x01\x00\x00\x00xq\x01\x85q\x02Rq\x03."[..],
            b"\x80\x02}",
            b"\x80\x02a.",
            b"\x80\x02X\xff\xff\xff\x7fa.",
            b"\x80\x02h\x07.",
            b"\x80\x02\x01.",
        ] {
            assert!(check(pickle).is_err(), "{pickle:?}");
        }
    }

    #[test]
    fn short_pickles_of_endless_values_are_refused() {
        // Ten of the list before, thirty times.
        let mut laughs = b"\x80\x02]q\x00".to_vec();
        for n in 0..30_u8 {
            laughs.push(b'(');
            for _ in 0..10 {
                laughs.extend([b'h', n]);
            }
            laughs.extend([b'l', b'q', n + 1]);
        }
        laughs.push(b'.');
        assert!(check(&laughs).unwrap_err().contains("too large"));
        let mut deep = b"\x80\x02N".to_vec();
        deep.extend([0x85; 100]);
        deep.push(b'.');
        assert!(check(&deep).unwrap_err().contains("too deep"));
    }
}
