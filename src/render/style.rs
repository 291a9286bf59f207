use std::str::FromStr;

use chrono::{DateTime, FixedOffset, Local, Offset as _, Utc};

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
}

impl Tz {
    /// The same instant with this zone's offset.
    #[must_use]
    pub fn at(self, time: DateTime<Utc>) -> DateTime<FixedOffset> {
        let offset = match self {
            Self::Utc => Utc.fix(),
            Self::Local => time.with_timezone(&Local).offset().fix(),
            Self::Fixed(offset) => offset,
        };
        time.with_timezone(&offset)
    }
}

impl FromStr for Tz {
    type Err = UnknownTz;

    fn from_str(name: &str) -> Result<Self, UnknownTz> {
        match name {
            "utc" | "UTC" | "Z" => Ok(Self::Utc),
            "local" => Ok(Self::Local),
            offset => match offset.parse() {
                Ok(offset) => Ok(Self::Fixed(offset)),
                Err(_) => Err(UnknownTz(name.to_owned())),
            },
        }
    }
}

/// A text that names no [`Tz`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown time zone '{0}'; one of utc, local, or an offset such as +02:00")]
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
}
