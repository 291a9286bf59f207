//! Closed lists of words: in Rust an enum, in tables, files and answers a text.
//!
//! One declaration gives a list its variants, their words, their meanings and what is read for a word
//! that a newer version wrote, so that none of these can differ.

use std::fmt;

/// A closed list of words.
pub trait Words: Copy + Eq + fmt::Debug + 'static {
    /// The list's name in schemas.
    const NAME: &'static str;
    /// What the list is of, as lines of a doc comment.
    const ABOUT: &'static [&'static str];
    /// Whether later versions may add words: a schema then lists these as examples.
    const GROWS: bool;
    /// The words in order of declaration, each with its meaning as lines of a doc comment.
    const ALL: &'static [(Self, &'static str, &'static [&'static str])];

    /// The word.
    fn word(self) -> &'static str;

    /// The one of a word.
    #[must_use]
    fn of_word(word: &str) -> Option<Self> {
        let mut all = Self::ALL.iter();
        all.find(|(_, known, _)| *known == word).map(|one| one.0)
    }
}

/// Declares a closed list of words.
///
/// `fixed` lists keep to their words under one name of a schema, `growing` ones may get more. After
/// `else` stands what is read in place of a word that is none of them; without it that is an error. `default` marks the
/// word that stands where nothing is said.
///
/// ```
/// whathappened_model::words! {
///     /// How a thing stands.
///     pub fixed Stand else Unknown {
///         /// It stands well.
///         Well = "well",
///         /// Nothing is known of it.
///         Unknown = "unknown",
///     }
/// }
/// assert_eq!(Stand::Well.as_str(), "well");
/// assert_eq!(Stand::parse("well"), Some(Stand::Well));
/// assert_eq!(Stand::parse("ill"), None);
/// let read: Stand = serde_json::from_str("\"ill\"").unwrap();
/// assert_eq!(read, Stand::Unknown);
/// ```
#[macro_export]
macro_rules! words {
    (
        $(#[doc = $about:literal])+
        $vis:vis $growth:ident $name:ident
            $(as $schema:literal)? $(else $fallback:ident)? $(default $default:ident)? {
            $( $(#[doc = $meaning:literal])+ $variant:ident = $word:literal ),+ $(,)?
        }
    ) => {
        $(#[doc = $about])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        $vis enum $name {
            $( $(#[doc = $meaning])+ $variant ),+
        }

        impl $name {
            /// The word for it in tables and answers.
            #[must_use]
            $vis const fn as_str(self) -> &'static str {
                match self {
                    $( Self::$variant => $word ),+
                }
            }

            /// The one of a word.
            #[must_use]
            $vis fn parse(word: &str) -> Option<Self> {
                <Self as $crate::word_list::Words>::of_word(word)
            }
        }

        $(impl ::std::default::Default for $name {
            fn default() -> Self {
                Self::$default
            }
        })?

        impl $crate::word_list::Words for $name {
            const NAME: &'static str = $crate::words!(@name $name $($schema)?);
            const ABOUT: &'static [&'static str] = &[$($about),+];
            const GROWS: bool = $crate::words!(@grows $growth);
            const ALL: &'static [(Self, &'static str, &'static [&'static str])] =
                &[$( (Self::$variant, $word, &[$($meaning),+]) ),+];

            fn word(self) -> &'static str {
                self.as_str()
            }
        }

        impl ::std::fmt::Display for $name {
            fn fmt(&self, out: &mut ::std::fmt::Formatter<'_>) -> ::std::fmt::Result {
                out.pad(self.as_str())
            }
        }

        impl ::serde::Serialize for $name {
            fn serialize<S: ::serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
                to.serialize_str(self.as_str())
            }
        }

        impl<'de> ::serde::Deserialize<'de> for $name {
            fn deserialize<D: ::serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                let word = <::std::borrow::Cow<'de, str> as ::serde::Deserialize>::deserialize(from)?;
                $crate::words!(@read word, Self::parse(&word), $($fallback)?)
            }
        }
    };
    (@name $name:ident $schema:literal) => { $schema };
    (@name $name:ident) => { stringify!($name) };
    (@grows fixed) => { false };
    (@grows growing) => { true };
    (@read $word:ident, $read:expr, $fallback:ident) => { Ok($read.unwrap_or(Self::$fallback)) };
    (@read $word:ident, $read:expr,) => {
        $read.ok_or_else(|| ::serde::de::Error::unknown_variant(&$word, &[]))
    };
}

#[cfg(test)]
mod tests {
    use super::Words as _;

    words! {
        /// How a thing
        /// stands.
        growing Stand as "StandOfThing" {
            /// It stands well.
            Well = "well",
            /// It stands ill.
            Ill = "not well",
        }
    }

    words! {
        /// How a thing stands.
        fixed Kept else Lost default Kept {
            /// It is kept.
            Kept = "kept",
            /// It is lost.
            Lost = "lost",
        }
    }

    #[test]
    fn a_list_reads_what_it_writes() {
        for (one, word, _) in Stand::ALL {
            let json = serde_json::to_string(one).unwrap();
            assert_eq!(json, format!("\"{word}\""));
            assert_eq!(serde_json::from_str::<Stand>(&json).unwrap(), *one);
            assert_eq!(format!("{one:>9}"), format!("{word:>9}"));
        }
        assert_eq!((Stand::NAME, Stand::GROWS), ("StandOfThing", true));
        assert_eq!((Kept::NAME, Kept::GROWS), ("Kept", false));
        assert_eq!(Stand::ABOUT.concat(), " How a thing stands.");
    }

    #[test]
    fn what_is_not_said_is_the_default() {
        assert_eq!(Kept::default(), Kept::Kept);
    }

    #[test]
    fn a_word_of_another_version_is_what_the_list_says_or_an_error() {
        assert_eq!(
            serde_json::from_str::<Kept>("\"stolen\"").unwrap(),
            Kept::Lost
        );
        let error = serde_json::from_str::<Stand>("\"so so\"").unwrap_err();
        assert!(error.to_string().contains("so so"), "{error}");
        assert!(serde_json::from_str::<Kept>("7").is_err());
    }
}
