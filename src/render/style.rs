use std::str::FromStr;

use chrono::{
    DateTime, FixedOffset, Local, LocalResult, NaiveDateTime, Offset as _, TimeZone as _, Utc,
};
use datafusion::arrow::array::timezone::Tz as ZoneOfName;

/// What the caller knows of its reader: the library asks no terminal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Style {
    /// Columns to fill; less than 40 is taken as 40.
    pub width: usize,
    /// Whether to colour, with ANSI escape sequences.
    pub color: bool,
    /// Whether our own signs and lines keep to ASCII. Names and messages of the
    /// data stay as they are.
    pub ascii: bool,
    /// The zone that times are shown in. JSON, CSV and Parquet stay in UTC.
    pub tz: Tz,
    /// Whether to show evidence, what speaks against it, and how steps are tied.
    pub explain: bool,
    /// At most so many timeline rows in a table or Markdown; `None` for all.
    pub timeline_limit: Option<usize>,
}

impl Default for Style {
    fn default() -> Self {
        Self {
            width: 80,
            color: false,
            ascii: false,
            tz: Tz::Utc,
            explain: false,
            timeline_limit: Some(30),
        }
    }
}

/// The zone that times are shown in.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Tz {
    /// Coordinated universal time; times end in `Z`.
    #[default]
    Utc,
    /// The zone of this machine.
    Local,
    /// A fixed distance from UTC.
    Fixed(FixedOffset),
    /// A zone by its name, such as `Europe/Berlin`.
    Named(Zone),
}

/// A zone of the time zone database.
#[derive(Clone, Copy, Debug)]
pub struct Zone(ZoneOfName);

impl PartialEq for Zone {
    fn eq(&self, other: &Self) -> bool {
        self.0.to_string() == other.0.to_string()
    }
}

impl Eq for Zone {}

impl std::fmt::Display for Zone {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl Tz {
    /// The same instant with this zone's offset.
    #[must_use]
    pub fn at(self, time: DateTime<Utc>) -> DateTime<FixedOffset> {
        let offset = match self {
            Self::Utc => Utc.fix(),
            Self::Local => time.with_timezone(&Local).offset().fix(),
            Self::Fixed(offset) => offset,
            Self::Named(zone) => time.with_timezone(&zone.0).offset().fix(),
        };
        time.with_timezone(&offset)
    }

    /// An RFC 3339 time with this zone's offset and without the fraction of a second, which
    /// nobody reads; another text stays as it is.
    #[must_use]
    pub fn rfc3339(self, time: &str) -> String {
        let Ok(at) = DateTime::parse_from_rfc3339(time) else {
            return time.to_owned();
        };
        let in_utc = self == Self::Utc;
        self.at(at.to_utc())
            .to_rfc3339_opts(chrono::SecondsFormat::Secs, in_utc)
    }

    /// The instant that a date and time of day mean in this zone; where clocks are put
    /// back and it comes twice, the first one.
    #[must_use]
    pub fn instant(self, local: NaiveDateTime) -> Option<DateTime<Utc>> {
        fn first<Z: chrono::TimeZone>(found: LocalResult<DateTime<Z>>) -> Option<DateTime<Utc>> {
            found.earliest().map(|at| at.to_utc())
        }
        match self {
            Self::Utc => Some(local.and_utc()),
            Self::Local => first(Local.from_local_datetime(&local)),
            Self::Fixed(offset) => first(offset.from_local_datetime(&local)),
            Self::Named(zone) => first(zone.0.from_local_datetime(&local)),
        }
    }
}

impl FromStr for Tz {
    type Err = UnknownTz;

    fn from_str(name: &str) -> Result<Self, UnknownTz> {
        match name {
            "utc" | "UTC" | "Z" => Ok(Self::Utc),
            "local" => Ok(Self::Local),
            other => match (other.parse(), other.parse()) {
                (Ok(offset), _) => Ok(Self::Fixed(offset)),
                (_, Ok(zone)) => Ok(Self::Named(Zone(zone))),
                _ => Err(UnknownTz(name.to_owned())),
            },
        }
    }
}

/// A text that names no [`Tz`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "unknown time zone '{0}'; one of utc, local, an offset such as +02:00, or a name such as Europe/Berlin"
)]
pub struct UnknownTz(String);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn zones_parse() {
        assert_eq!("utc".parse(), Ok(Tz::Utc));
        assert_eq!("local".parse(), Ok(Tz::Local));
        let offset = FixedOffset::east_opt(2 * 3600).unwrap();
        assert_eq!("+02:00".parse(), Ok(Tz::Fixed(offset)));
        assert!("Mars".parse::<Tz>().is_err());
    }

    #[test]
    fn zones_have_names_and_keep_summer_time() {
        let berlin: Tz = "Europe/Berlin".parse().unwrap();
        let at = |text: &str| text.parse::<DateTime<Utc>>().unwrap();
        let shown = |text| berlin.at(at(text)).to_rfc3339();
        assert_eq!(shown("2026-01-10T12:00:00Z"), "2026-01-10T13:00:00+01:00");
        assert_eq!(shown("2026-07-10T12:00:00Z"), "2026-07-10T14:00:00+02:00");
        assert_eq!(
            berlin.rfc3339("2026-07-10T12:00:00.25Z"),
            "2026-07-10T14:00:00+02:00"
        );
        assert_eq!(
            Tz::Utc.rfc3339("2026-07-10T12:00:00Z"),
            "2026-07-10T12:00:00Z"
        );
        assert_eq!(berlin.rfc3339("soon"), "soon");
        let noon = at("2026-07-10T12:00:00Z");
        assert_eq!(berlin.instant(berlin.at(noon).naive_local()), Some(noon));
        assert_eq!(berlin, "Europe/Berlin".parse().unwrap());
        assert_ne!(berlin, "Asia/Tokyo".parse().unwrap());
    }
}
