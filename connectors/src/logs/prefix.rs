//! What stands before a line's own text: colours, and which worker said it.

use std::borrow::Cow;

/// Which worker of several that write to one stream.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Speaker {
    /// The prefix as written, `[rank3]:`.
    pub(crate) prefix: String,
    pub(crate) rank: Option<i32>,
}

/// Drops terminal colours and other control sequences.
pub(super) fn plain(text: &str) -> Cow<'_, str> {
    if memchr::memchr(0x1b, text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c != '\u{1b}' {
            out.push(c);
            continue;
        }
        match chars.peek() {
            // CSI: parameters, then one final byte.
            Some('[') => {
                chars.next();
                while chars
                    .next()
                    .is_some_and(|c| !('\u{40}'..='\u{7e}').contains(&c))
                {}
            }
            // OSC: up to BEL or ESC \.
            Some(']') => {
                let mut before = ' ';
                for c in chars.by_ref() {
                    if c == '\u{7}' || (before == '\u{1b}' && c == '\\') {
                        break;
                    }
                    before = c;
                }
            }
            Some(_) => {
                chars.next();
            }
            None => {}
        }
    }
    Cow::Owned(out)
}

/// Splits what tells the worker from the line's own text; there may be
/// several prefixes, as of Ray around torch. `numbered` says that the stream
/// bears task numbers as `srun -l` writes them.
///
/// | prefix | written by | rank |
/// |---|---|---|
/// | `[rank3]:` | c10d | 3 |
/// | `[default7]:` | torchrun; a local rank | none |
/// | `[1,3]<stderr>:` | `mpirun --tag-output` | 3 |
/// | `3: ` | `srun -l` | 3 |
/// | `[Rank 3]`, `[Worker 3]` | programs | 3, none |
/// | `(Worker pid=7, ip=…)` | Ray | none |
/// | `node-3: ` | pdsh, as DeepSpeed starts it | none |
/// | `train-1  \| ` | `docker compose logs` | none |
pub(super) fn split(text: &str, numbered: bool) -> (Speaker, &str) {
    let mut rest = text;
    let mut rank = None;
    for _ in 0..3 {
        let task = (numbered && rest.len() == text.len())
            .then(|| task(rest))
            .flatten();
        let found = task
            .map(|(rank, after)| (Some(rank), after))
            .or_else(|| bracketed(rest))
            .or_else(|| ray(rest))
            .or_else(|| {
                let begins = rest.len() == text.len();
                begins
                    .then(|| host(rest).or_else(|| compose(rest)))
                    .flatten()
            });
        let Some((named, after)) = found else { break };
        rank = rank.or(named);
        rest = after;
    }
    let prefix = text[..text.len() - rest.len()].trim_end().to_owned();
    (Speaker { prefix, rank }, rest)
}

/// A container of a compose project is called by its service and a number, and padded.
fn compose(text: &str) -> PrefixMatch<'_> {
    const COUNTED: [&str; 5] = ["batch", "epoch", "iter", "iteration", "step"];
    let (padded, rest) = text.split_once('|')?;
    let name = padded.trim_end_matches(' ');
    let (service, number) = name.rsplit_once(['-', '_'])?;
    let is_name = |sign: u8| sign.is_ascii_alphanumeric() || b"._-".contains(&sign);
    let is_container = name.len() < padded.len()
        && name.len() <= 64
        && service
            .bytes()
            .next()
            .is_some_and(|sign| sign.is_ascii_alphanumeric())
        && service.bytes().all(is_name)
        && (1..=4).contains(&number.len())
        && number.bytes().all(|sign| sign.is_ascii_digit())
        && !COUNTED.contains(&service.to_ascii_lowercase().as_str());
    let rest = match rest {
        "" => rest,
        _ => rest.strip_prefix(' ')?,
    };
    is_container.then_some((None, rest))
}

type PrefixMatch<'t> = Option<(Option<i32>, &'t str)>;

fn bracketed(text: &str) -> PrefixMatch<'_> {
    let (name, rest) = text.strip_prefix('[')?.split_once(']')?;
    if name.len() > 24 {
        return None;
    }
    if let Some((_, rank)) = name.split_once(',') {
        // The job, then the rank.
        let after = rest
            .strip_prefix("<stdout>:")
            .or_else(|| rest.strip_prefix("<stderr>:"))
            .or_else(|| rest.strip_prefix("<stddiag>:"))?;
        return Some((Some(rank.parse().ok()?), unspaced(after)));
    }
    let digits = name.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    let word = &name[..name.len() - digits.len()];
    if let (Some(after), Ok(number)) = (rest.strip_prefix(':'), digits.parse()) {
        let rank = matches!(word, "rank" | "Rank").then_some(number);
        return (!word.is_empty()).then(|| (rank, unspaced(after)));
    }
    let number = digits.strip_prefix([' ', '-'])?.parse().ok()?;
    let rank = match word.to_ascii_lowercase().as_str() {
        "rank" => Some(number),
        // A worker's number may be that of a data loader, or of a node.
        "worker" => None,
        _ => return None,
    };
    Some((rank, unspaced(rest.strip_prefix(':').unwrap_or(rest))))
}

fn unspaced(text: &str) -> &str {
    text.strip_prefix(' ').unwrap_or(text)
}

fn ray(text: &str) -> PrefixMatch<'_> {
    let (inside, rest) = text.strip_prefix('(')?.split_once(") ")?;
    let (name, _) = inside.split_once(',').unwrap_or((inside, ""));
    let named = inside.contains("pid=") || matches!(name, "raylet" | "autoscaler" | "gcs_server");
    (inside.len() < 120 && named).then_some((None, rest))
}

/// ` 3: text`, padded to the width of the highest task's number.
pub(super) fn task(text: &str) -> Option<(i32, &str)> {
    let bare = text.trim_start_matches(' ');
    let digits = bare.bytes().take_while(u8::is_ascii_digit).count();
    if !(1..=6).contains(&digits) || text.len() - bare.len() > 5 {
        return None;
    }
    let rest = bare[digits..].strip_prefix(':')?;
    let rest = match rest.strip_prefix(' ') {
        Some(rest) => rest,
        None if rest.is_empty() => rest,
        None => return None,
    };
    Some((bare[..digits].parse().ok()?, rest))
}

/// `node-3: text`; only a name with a number that ends it, so that neither
/// exceptions nor levels look like one.
fn host(text: &str) -> PrefixMatch<'_> {
    let end = memchr::memchr(b':', text.as_bytes().get(..64).unwrap_or(text.as_bytes()))?;
    let (name, rest) = (&text[..end], text[end + 1..].strip_prefix(' ')?);
    let (stem, number) = name.rsplit_once('-')?;
    let plain = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || matches!(b, b'-' | b'.');
    let fits = stem.starts_with(|c: char| c.is_ascii_lowercase())
        && stem.bytes().all(plain)
        && !number.is_empty()
        && number.bytes().all(|b| b.is_ascii_digit());
    fits.then_some((None, rest))
}

/// `rank=3` or `[Rank 3]` in the text, or the environment of a worker; never
/// `local_rank`, which is not unique.
pub(super) fn rank_in(text: &str) -> Option<i32> {
    named(text).or_else(|| environment(text))
}

/// `RANK=3 LOCAL_RANK=3`. Without a local rank beside it `RANK` is often the
/// number of a pod whose launcher starts several ranks. Where only node and
/// local rank are told, the size of a node makes the rank of them.
fn environment(text: &str) -> Option<i32> {
    memchr::memmem::find(text.as_bytes(), b"LOCAL_RANK")?;
    let local = variable(text, "LOCAL_RANK")?;
    variable(text, "RANK").or_else(|| {
        let node = variable(text, "NODE_RANK").or_else(|| variable(text, "GROUP_RANK"))?;
        node.checked_mul(variable(text, "LOCAL_WORLD_SIZE")?)?
            .checked_add(local)
    })
}

/// The number of `NAME=3`, `NAME="3"`, `'NAME': '3'`.
pub(super) fn variable(text: &str, name: &str) -> Option<i32> {
    text.match_indices(name).find_map(|(at, _)| {
        let before = text[..at].bytes().next_back();
        if before.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_') {
            return None;
        }
        let rest = text[at + name.len()..].trim_start_matches(['"', '\'']);
        let value = rest.strip_prefix(['=', ':'])?;
        let value = value.trim_start_matches([' ', '"', '\'']);
        let digits = value.bytes().take_while(u8::is_ascii_digit).count();
        value[..digits].parse().ok().filter(|_| digits <= 6)
    })
}

fn named(text: &str) -> Option<i32> {
    let bytes = text.as_bytes();
    memchr::memmem::find_iter(bytes, b"ank").find_map(|at| {
        let start = at
            .checked_sub(1)
            .filter(|&start| matches!(bytes[start], b'r' | b'R'))?;
        let before = start.checked_sub(1).map(|at| bytes[at]);
        let global = text[..start].ends_with("global_");
        if before.is_some_and(|b| b.is_ascii_alphanumeric() || b == b'_') && !global {
            return None;
        }
        let rest = &text[at + 3..];
        let rest = rest.strip_prefix('"').unwrap_or(rest);
        let number = match rest.as_bytes().first()? {
            b'=' | b':' => rest[1..].trim_start_matches([' ', '"']),
            b' ' if before == Some(b'[') => &rest[1..],
            _ => return None,
        };
        let digits = number.bytes().take_while(u8::is_ascii_digit).count();
        number[..digits].parse().ok().filter(|_| digits <= 6)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn colours_go() {
        assert_eq!(plain("\u{1b}[31mERROR\u{1b}[0m x"), "ERROR x");
        assert_eq!(plain("\u{1b}]0;title\u{7}x\u{1b}"), "x");
        assert_eq!(plain("é"), "é");
    }

    #[test]
    fn the_speaker_is_told() {
        for (text, numbered, rank, rest) in [
            ("[rank3]: Traceback", false, Some(3), "Traceback"),
            ("train-1  | Traceback", false, None, "Traceback"),
            ("[rank3]:   File \"x\"", false, Some(3), "  File \"x\""),
            // torchrun's own tag bears the local rank.
            ("[default7]:Traceback", false, None, "Traceback"),
            (
                "[rank0]:[E1218 20:43:21.1 x]",
                false,
                Some(0),
                "[E1218 20:43:21.1 x]",
            ),
            ("[1,3]<stderr>:boom", false, Some(3), "boom"),
            ("[1,3]<stdout>: boom", false, Some(3), "boom"),
            ("[Rank 5] boom", false, Some(5), "boom"),
            ("[Worker 5]: boom", false, None, "boom"),
            ("  3:   File", true, Some(3), "  File"),
            ("11:", true, Some(11), ""),
            ("node-3: boom", false, None, "boom"),
            (
                "(WorkerDict pid=26110, ip=10.0.0.1) [rank7]: x",
                false,
                Some(7),
                "x",
            ),
        ] {
            let (speaker, after) = split(text, numbered);
            assert_eq!((speaker.rank, after), (rank, rest), "{text}");
            assert!(!speaker.prefix.is_empty(), "{text}");
        }
        let counted = "epoch-1  | loss 2.1";
        assert_eq!(
            split(counted, false).1,
            counted,
            "what is counted is no container"
        );
        for text in [
            "[INFO] x",
            "[rank]: x",
            "(a) b",
            "[rank99999999999]: x",
            "[",
            "plain",
            "3: x",
            "[0] NCCL INFO x",
            "[7]: x",
            "ValueError: x",
            "socket.gaierror: x",
            "mlx5_0: Port",
            "2026-11-21: x",
            "x-1:2",
        ] {
            assert_eq!(split(text, false), (Speaker::default(), text));
        }
    }

    #[test]
    fn a_rank_is_taken_only_where_it_is_named() {
        assert_eq!(rank_in("step=10 tokens_per_s=97022 rank=0"), Some(0));
        assert_eq!(rank_in("[Rank 5] Watchdog caught"), Some(5));
        assert_eq!(rank_in("{\"rank\": 12}"), Some(12));
        assert_eq!(rank_in("local_rank: 2, global_rank=7"), Some(7));
        assert_eq!(rank_in("LOCAL_RANK=1 RANK=9"), Some(9));
        assert_eq!(rank_in("{'RANK': '9', 'LOCAL_RANK': '1'}"), Some(9));
        assert_eq!(
            rank_in("NODE_RANK=2 LOCAL_RANK=3 LOCAL_WORLD_SIZE=8"),
            Some(19)
        );
        for text in [
            "local_rank=2",
            "waiting for rank 3",
            "rank",
            "franks=1",
            "rank=x",
            "rank=12345678",
            "RANK=1",
            "LOCAL_RANK=2",
            "NODE_RANK=2 LOCAL_RANK=3",
        ] {
            assert_eq!(rank_in(text), None, "{text}");
        }
    }
}
