//! Field values of the file format that TOML has no single type for.

use std::fmt;

use serde::de::{Error as _, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer};

/// A text or a list of texts; any of them will do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct AnyOf(pub(super) Vec<String>);

impl<'de> Deserialize<'de> for AnyOf {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Texts;
        impl<'de> Visitor<'de> for Texts {
            type Value = AnyOf;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a string or a list of strings")
            }

            fn visit_str<E>(self, text: &str) -> Result<AnyOf, E> {
                Ok(AnyOf(vec![text.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<AnyOf, A::Error> {
                let mut texts = Vec::new();
                while let Some(text) = seq.next_element()? {
                    texts.push(text);
                }
                if texts.is_empty() {
                    return Err(A::Error::custom("an empty list matches nothing"));
                }
                Ok(AnyOf(texts))
            }
        }
        from.deserialize_any(Texts)
    }
}

/// Exit codes: one, a list, or `{ min = 1, max = 125 }`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum ExitCodes {
    /// One of these.
    OneOf(Vec<i32>),
    /// From `min` to `max`, both included.
    Range {
        /// The lowest.
        min: i32,
        /// The highest.
        max: i32,
    },
}

impl ExitCodes {
    pub(super) fn contains(&self, code: i32) -> bool {
        match self {
            Self::OneOf(codes) => codes.contains(&code),
            Self::Range { min, max } => (*min..=*max).contains(&code),
        }
    }
}

impl<'de> Deserialize<'de> for ExitCodes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Bounds {
            #[serde(default = "lowest")]
            min: i32,
            #[serde(default = "highest")]
            max: i32,
        }
        fn lowest() -> i32 {
            i32::MIN
        }
        fn highest() -> i32 {
            i32::MAX
        }

        struct Codes;
        impl<'de> Visitor<'de> for Codes {
            type Value = ExitCodes;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an exit code, a list of them, or { min = …, max = … }")
            }

            fn visit_i64<E: serde::de::Error>(self, code: i64) -> Result<ExitCodes, E> {
                let code = i32::try_from(code).map_err(E::custom)?;
                Ok(ExitCodes::OneOf(vec![code]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<ExitCodes, A::Error> {
                let mut codes = Vec::new();
                while let Some(code) = seq.next_element()? {
                    codes.push(code);
                }
                Ok(ExitCodes::OneOf(codes))
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<ExitCodes, A::Error> {
                let Bounds { min, max } = Bounds::deserialize(MapAccessDeserializer::new(map))?;
                Ok(ExitCodes::Range { min, max })
            }
        }
        from.deserialize_any(Codes)
    }
}
