//! Sections whose keys are the names of environment variables.

use std::collections::BTreeMap;

use super::OneOrMore;

/// A section that stands for variables of the environment.
pub trait Section {
    /// Its own keys, each with the environment variable that it stands for.
    fn variables(&self) -> &'static [(&'static str, &'static str)];

    /// Whether the source is to be asked.
    fn is_enabled(&self) -> bool;

    /// The name of the source in coverage rows.
    fn name(&self) -> Option<&str>;

    /// Label names by entity.
    fn labels(&self) -> &BTreeMap<String, Vec<String>>;

    /// Headers that gateways ask for.
    fn headers(&self) -> &BTreeMap<String, String>;

    /// What the file says under a variable's name.
    fn variable(&self, name: &str) -> Option<String>;
}

/// The sections of one kind of source, whatever their types.
pub type Sections<'c> = Vec<&'c (dyn Section + Sync)>;

impl<S: Section + Sync> OneOrMore<S> {
    /// Its sections, as those of all sources are looked at.
    #[must_use]
    pub fn sections(&self) -> Sections<'_> {
        self.0.iter().map(|one| one as _).collect()
    }
}

/// Makes a section of the configuration. Each key stands for the environment
/// variable behind it, so that a source has one set of names; the environment
/// goes before the file.
macro_rules! section {
    (
        $(#[$about:meta])*
        $name:ident {
            $($(#[$of_key:meta])* $key:ident = $variable:literal,)*
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Default, PartialEq, Eq, serde::Deserialize)]
        #[serde(default, deny_unknown_fields)]
        pub struct $name {
            /// Whether it is asked; it is where its section or variable is there.
            pub enabled: Option<bool>,
            /// The name of the source in coverage rows.
            pub name: Option<String>,
            /// Label names of one's own, by entity: `pod = ["task"]`.
            pub labels: std::collections::BTreeMap<String, Vec<String>>,
            /// Headers that gateways ask for.
            pub headers: std::collections::BTreeMap<String, String>,
            $(
                $(#[$of_key])*
                #[doc = concat!("`", $variable, "`.")]
                pub $key: Option<String>,
            )*
        }

        impl $crate::config::Section for $name {
            fn variables(&self) -> &'static [(&'static str, &'static str)] {
                &[$((stringify!($key), $variable),)*]
            }

            fn is_enabled(&self) -> bool {
                self.enabled != Some(false)
            }

            fn name(&self) -> Option<&str> {
                self.name.as_deref()
            }

            fn labels(&self) -> &std::collections::BTreeMap<String, Vec<String>> {
                &self.labels
            }

            fn headers(&self) -> &std::collections::BTreeMap<String, String> {
                &self.headers
            }

            fn variable(&self, name: &str) -> Option<String> {
                match name {
                    $($variable => self.$key.clone(),)*
                    _ => None,
                }
            }
        }

        // Some of the values are secret.
        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.debug_struct(stringify!($name))
                    .field("enabled", &self.enabled)
                    .field("name", &self.name)
                    .finish_non_exhaustive()
            }
        }
    };
}

pub(super) use section;
