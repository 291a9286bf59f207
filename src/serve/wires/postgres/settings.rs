//! Settings that clients read and change. Few mean anything here: they are kept so that
//! clients, which insist on them, go on.

use std::collections::BTreeMap;
use std::time::Duration;

/// Settings with the values that they begin with.
const KNOWN: &[(&str, &str)] = &[
    ("application_name", ""),
    ("bytea_output", "hex"),
    ("client_encoding", "UTF8"),
    ("client_min_messages", "notice"),
    ("datestyle", "ISO, YMD"),
    ("default_transaction_isolation", "read committed"),
    ("default_transaction_read_only", "on"),
    ("extra_float_digits", "1"),
    ("idle_in_transaction_session_timeout", "0"),
    ("intervalstyle", "postgres"),
    ("jit", "off"),
    ("lc_collate", "C"),
    ("lc_ctype", "C"),
    ("lc_messages", "C"),
    ("lock_timeout", "0"),
    ("max_identifier_length", "63"),
    ("role", "none"),
    ("row_security", "on"),
    ("search_path", "public"),
    ("server_encoding", "UTF8"),
    ("server_version", "16.6"),
    ("server_version_num", "160006"),
    ("session_authorization", ""),
    ("standard_conforming_strings", "on"),
    ("statement_timeout", "0"),
    ("synchronize_seqscans", "on"),
    ("timezone", "UTC"),
    ("transaction_isolation", "read committed"),
    ("transaction_read_only", "on"),
];

/// What a client set.
#[derive(Debug, Default)]
pub(super) struct Settings(BTreeMap<&'static str, String>);

impl Settings {
    /// A setting's value; `None` where there is none of the name.
    pub(super) fn get(&self, name: &str) -> Option<String> {
        let (name, first) = known(name)?;
        Some(
            self.0
                .get(name)
                .cloned()
                .unwrap_or_else(|| first.to_owned()),
        )
    }

    /// Sets one; says why it cannot be.
    pub(super) fn set(&mut self, name: &str, value: &str) -> Result<(), Unset> {
        let Some((name, _)) = known(name) else {
            return Err(Unset::Unknown);
        };
        let is = |texts: &[&str]| texts.iter().any(|text| value.eq_ignore_ascii_case(text));
        let fits = match name {
            "client_encoding" => is(&["utf8", "utf-8", "unicode"]),
            "standard_conforming_strings" => is(&["on", "true", "1", "yes"]),
            "server_version" | "server_version_num" | "server_encoding" => false,
            "statement_timeout" => value == "default" || time(value).is_some(),
            _ => true,
        };
        // Times are told in UTC whatever a client would like; it is told that they are.
        if name == "timezone" {
            return Ok(());
        }
        if !fits {
            return Err(Unset::Fixed(self.get(name).unwrap_or_default()));
        }
        if value.eq_ignore_ascii_case("default") {
            self.0.remove(name);
        } else {
            self.0.insert(name, value.to_owned());
        }
        Ok(())
    }

    /// Sets one back, or all; says why one cannot be.
    pub(super) fn reset(&mut self, name: Option<&str>) -> Result<(), Unset> {
        let Some(name) = name else {
            self.0.clear();
            return Ok(());
        };
        let (name, _) = known(name).ok_or(Unset::Unknown)?;
        self.0.remove(name);
        Ok(())
    }

    /// How long the client lets a statement take.
    pub(super) fn timeout(&self) -> Option<Duration> {
        let time = time(&self.get("statement_timeout")?)?;
        (!time.is_zero()).then_some(time)
    }
}

/// Why a setting cannot be set.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Unset {
    /// There is none of the name.
    Unknown,
    /// It is always this.
    Fixed(String),
}

fn known(name: &str) -> Option<(&'static str, &'static str)> {
    let name = name.to_ascii_lowercase().replace(' ', "_");
    let found = KNOWN.iter().find(|(known, _)| *known == name)?;
    Some(*found)
}

/// Milliseconds, or a number with a unit.
fn time(text: &str) -> Option<Duration> {
    let digits = text
        .find(|letter: char| !letter.is_ascii_digit())
        .unwrap_or(text.len());
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().ok()?;
    let milliseconds = match unit.trim() {
        "" | "ms" => 1,
        "s" => 1_000,
        "min" => 60_000,
        "h" => 3_600_000,
        _ => return None,
    };
    Some(Duration::from_millis(number.saturating_mul(milliseconds)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_clients_set_is_kept_and_what_cannot_be_is_refused() {
        let mut settings = Settings::default();
        assert_eq!(settings.get("DateStyle").as_deref(), Some("ISO, YMD"));
        settings.set("extra_float_digits", "3").unwrap();
        assert_eq!(settings.get("extra_float_digits").as_deref(), Some("3"));
        settings.reset(None).unwrap();
        assert_eq!(settings.reset(Some("no_such")), Err(Unset::Unknown));
        assert_eq!(settings.get("extra_float_digits").as_deref(), Some("1"));
        assert_eq!(settings.set("no_such", "1"), Err(Unset::Unknown));
        assert_eq!(
            settings.set("client_encoding", "LATIN1"),
            Err(Unset::Fixed("UTF8".to_owned()))
        );
        settings.set("TimeZone", "Europe/Berlin").unwrap();
        assert_eq!(settings.get("TimeZone").as_deref(), Some("UTC"));
    }

    #[test]
    fn a_client_may_shorten_its_own_time() {
        let mut settings = Settings::default();
        assert_eq!(settings.timeout(), None);
        for (text, milliseconds) in [("250", 250), ("5s", 5_000), ("1 min", 60_000)] {
            settings.set("statement_timeout", text).unwrap();
            assert_eq!(
                settings.timeout(),
                Some(Duration::from_millis(milliseconds))
            );
        }
        assert!(settings.set("statement_timeout", "soon").is_err());
    }
}
