//! What Loki's refusals ask for. They are plain text; these are the sentences of
//! its limits.

use crate::http::HttpError;
use crate::time::{Nanos, SECOND};

/// What can be done about a refusal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Remedy {
    /// Ask for at most this many lines.
    Lines(usize),
    /// Ask for no longer stretch of time.
    Length(Nanos),
    /// Name these labels in every question.
    Labels(Vec<String>),
    /// Ask for less: a shorter stretch of time.
    Less,
    /// Nothing.
    None,
}

/// Words by which Loki, or a gateway before it, says that it was too much.
const TOO_MUCH: [&str; 7] = [
    "would read too many bytes",
    "maximum number of series",
    "context deadline exceeded",
    "resource exhausted",
    "resourceexhausted",
    "received message larger than max",
    "timed out",
];

/// Reads a refusal.
pub(super) fn remedy(failure: &HttpError) -> Remedy {
    let HttpError::Refused { code, message, .. } = failure else {
        return if failure.is_too_much() {
            Remedy::Less
        } else {
            Remedy::None
        };
    };
    if let Some((_, rest)) = message.split_once("max_entries_limit_per_query (")
        && let Some(most) = rest
            .split([')', '>'])
            .nth(1)
            .and_then(|number| number.trim().parse().ok())
            .filter(|most| *most > 0)
    {
        return Remedy::Lines(most);
    }
    if message.contains("time range exceeds the limit")
        && let Some((_, rest)) = message.split_once("limit: ")
        && let Some(most) = duration(rest.trim_end_matches([')', '.'])).filter(|most| *most > 0)
    {
        return Remedy::Length(most);
    }
    if let Some((_, rest)) = message.split_once("missing required matchers [")
        && let Some((names, _)) = rest.split_once(']')
    {
        let names = names.split([',', ' ']).filter(|name| !name.is_empty());
        return Remedy::Labels(names.map(str::to_owned).collect());
    }
    if message.contains("querying is disabled") {
        return Remedy::None;
    }
    let lower = message.to_lowercase();
    let too_much = TOO_MUCH.iter().any(|words| lower.contains(words));
    // A gateway that loses its Loki, and one that gives up on it.
    if too_much || failure.is_too_much() || *code == 502 || *code == 499 {
        Remedy::Less
    } else {
        Remedy::None
    }
}

/// A duration as Go and Prometheus write it: `30d1h`, `1h0m0s`, `1.5s`.
pub(super) fn duration(text: &str) -> Option<Nanos> {
    let mut rest = text.trim();
    let mut sum: Nanos = 0;
    if rest.is_empty() {
        return None;
    }
    while !rest.is_empty() {
        let digits = rest.find(|letter: char| !letter.is_ascii_digit() && letter != '.')?;
        let (number, after) = rest.split_at(digits);
        let unit_end = after
            .find(|letter: char| letter.is_ascii_digit())
            .unwrap_or(after.len());
        let (unit, next) = after.split_at(unit_end);
        let unit: Nanos = match unit {
            "ns" => 1,
            "us" | "µs" => 1_000,
            "ms" => 1_000_000,
            "s" => SECOND,
            "m" => 60 * SECOND,
            "h" => 3_600 * SECOND,
            "d" => 86_400 * SECOND,
            "w" => 7 * 86_400 * SECOND,
            "y" => 365 * 86_400 * SECOND,
            _ => return None,
        };
        let part = match number.parse::<Nanos>() {
            Ok(whole) => whole.checked_mul(unit)?,
            // Fractions are of seconds and less, far within what a double holds.
            Err(_) => Nanos::try_from(
                std::time::Duration::try_from_secs_f64(
                    number.parse::<f64>().ok()? * unit as f64 / 1e9,
                )
                .ok()?
                .as_nanos(),
            )
            .ok()?,
        };
        sum = sum.checked_add(part)?;
        rest = next;
    }
    Some(sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(code: u16, message: &str) -> Remedy {
        remedy(&HttpError::Refused {
            code,
            message: message.to_owned(),
            wait: None,
        })
    }

    #[test]
    fn limits_are_read_out_of_refusals() {
        let hour = 3_600 * SECOND;
        for (code, message, wanted) in [
            (
                400,
                "max entries limit per query exceeded, limit > max_entries_limit_per_query (5001 > 5000)",
                Remedy::Lines(5000),
            ),
            (
                400,
                "the query time range exceeds the limit (query length: 960h0m0s, limit: 30d1h)",
                Remedy::Length(721 * hour),
            ),
            (
                400,
                "stream selector is missing required matchers [namespace, env], labels present in the query were [pod]",
                Remedy::Labels(vec!["namespace".to_owned(), "env".to_owned()]),
            ),
            (429, "too many outstanding requests", Remedy::Less),
            (
                429,
                "querying is disabled, please contact your Loki operator",
                Remedy::None,
            ),
            (
                504,
                "request timed out, decrease the duration of the request or add more label matchers",
                Remedy::Less,
            ),
            (
                400,
                "the query would read too many bytes (query: 4.2 GB, limit: 1.0 GB); consider",
                Remedy::Less,
            ),
            (
                400,
                "maximum number of series (1) reached for a single query; consider",
                Remedy::Less,
            ),
            (
                500,
                "rpc error: code = ResourceExhausted desc = grpc: received message larger than max",
                Remedy::Less,
            ),
            (502, "a page titled \"502 Bad Gateway\"", Remedy::Less),
            (401, "no org id", Remedy::None),
            (
                400,
                "parse error at line 1, col 22: syntax error: unexpected $end, expecting } or ,",
                Remedy::None,
            ),
            (500, "empty ring", Remedy::None),
        ] {
            assert_eq!(refused(code, message), wanted, "{message}");
        }
        assert_eq!(remedy(&HttpError::TooLarge(1)), Remedy::Less);
        assert_eq!(remedy(&HttpError::Garbage(String::new())), Remedy::None);
    }

    #[test]
    fn durations_are_gos_and_prometheus() {
        assert_eq!(duration("1h0m0s"), Some(3_600 * SECOND));
        assert_eq!(duration("1m30.5s"), Some(90 * SECOND + SECOND / 2));
        assert_eq!(duration("2w"), Some(14 * 86_400 * SECOND));
        for odd in ["", "1", "h", "1 hour", "1x"] {
            assert_eq!(duration(odd), None, "{odd}");
        }
    }
}
