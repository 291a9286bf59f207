//! What a question can fail with, and the exit code of each.

use std::collections::BTreeSet;

use whathappened_core::evidence::SpillError;
use whathappened_model::coverage::{Coverage, Status};

use crate::case::CaseError;
use crate::explain::engine::EngineError;

/// Why a question has no answer.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Nothing that was read or is kept bears the name.
    #[error("no experiment, workload, pod or machine matches {name:?}")]
    UnknownName {
        /// What was typed.
        name: String,
        /// The nearest names there are.
        nearest: Vec<String>,
        /// What may have shown it and could not be read, and why.
        unread: Vec<String>,
    },
    /// The name has no such run.
    #[error("{name:?} has no run {run:?}")]
    UnknownRun {
        /// The run asked for.
        run: String,
        /// The name asked for.
        name: String,
    },
    /// The name is known, and the question's own options leave nothing of it.
    #[error("{why}")]
    NoneLeft {
        /// Which option, and what there is instead.
        why: String,
        /// What to write.
        hint: String,
    },
    /// Something typed cannot be understood.
    #[error("{0}")]
    Usage(String),
    /// Something typed or configured cannot be used, and it is known what helps.
    #[error("{what}")]
    Misused {
        /// What happened.
        what: String,
        /// What to do about it.
        hint: String,
    },
    /// Nothing was named, and nothing piped in.
    #[error("nothing could be read: standard input is empty")]
    NothingPiped,
    /// The case cannot be opened.
    #[error(transparent)]
    Case(#[from] CaseError),
    /// A rule fails.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// Facts cannot be read back.
    #[error(transparent)]
    Spill(#[from] SpillError),
    /// The answer cannot be written.
    #[error(transparent)]
    Render(#[from] crate::render::RenderError),
    /// A person's statement fails.
    #[error("{}", crate::sql::say(.0))]
    Sql(Box<datafusion::error::DataFusionError>),
    /// A file cannot be used.
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: String,
        /// What the system says.
        error: std::io::Error,
    },
    /// The store cannot be used.
    #[error(transparent)]
    Store(#[from] whathappened_store::StoreError),
    /// An object store cannot be used.
    #[error("{place}: {why}")]
    Remote {
        /// Which.
        place: String,
        /// Why not.
        why: String,
        /// What to do about it, where that is known.
        hint: Option<&'static str>,
    },
    /// The configuration cannot be used.
    #[error("{path}, {flaw}")]
    Config {
        /// The file.
        path: String,
        /// What is wrong in it, and where.
        flaw: crate::config::ConfigError,
    },
    /// Some of what was named could not be read; the rest was taken in.
    #[error("some of the input could not be read: {0}")]
    Partial(String),
    /// A statement took too much.
    #[error("{what}")]
    Halted {
        /// What it took too much of.
        what: String,
        /// How to ask for less.
        hint: String,
    },
    /// A child ended with this code and told why.
    #[error("ended with code {0}")]
    Ended(u8),
    /// Some of the store is not what was written.
    #[error("{0}")]
    Damaged(String),
    /// Something that was looked at is wrong: `rules test`, `accuracy`, `doctor`.
    #[error("{0}")]
    Failed(String),
}

impl From<datafusion::error::DataFusionError> for Error {
    fn from(error: datafusion::error::DataFusionError) -> Self {
        Self::Sql(Box::new(error))
    }
}

impl Error {
    /// Something typed or configured that cannot be used, and what to do about it.
    #[must_use]
    pub fn misused(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Misused {
            what: what.into(),
            hint: hint.into(),
        }
    }

    /// An address that cannot be listened on, where it was said, and what helps.
    #[must_use]
    pub fn cannot_listen(place: &str, address: &str, error: &std::io::Error) -> Self {
        let hint = match error.kind() {
            std::io::ErrorKind::AddrInUse => {
                "another program listens there, perhaps this one: stop it, or name another port"
            }
            std::io::ErrorKind::PermissionDenied => {
                "ports below 1024 need special rights: name a higher one"
            }
            _ => {
                "write an address of this machine and a port, such as 127.0.0.1:8080, or 0.0.0.0:8080 for all of its addresses"
            }
        };
        Self::misused(format!("{place} {address}: {error}"), hint)
    }

    /// A statement that took too much, and how to ask for less.
    #[must_use]
    pub fn halted(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Halted {
            what: what.into(),
            hint: hint.into(),
        }
    }

    /// The exit code, as the README documents it.
    #[must_use]
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::UnknownName { .. } | Self::UnknownRun { .. } | Self::NoneLeft { .. } => 3,
            Self::Usage(_) | Self::Misused { .. } | Self::NothingPiped => 2,
            Self::Failed(_) | Self::Damaged(_) => 4,
            Self::Ended(code) => *code,
            _ => 1,
        }
    }

    /// What to do about it, one line each.
    #[must_use]
    pub fn hints(&self) -> Vec<String> {
        match self {
            Self::UnknownName {
                nearest, unread, ..
            } => {
                let mut hints: Vec<String> = may_be_there(unread).into_iter().collect();
                hints.push(match nearest.is_empty() {
                    true => "list all experiments: whathappened experiments".to_owned(),
                    false => format!("did you mean: {}?", nearest.join(", ")),
                });
                hints
            }
            Self::UnknownRun { .. } => {
                vec![
                    "use the number of the run as shown in the answer, or the beginning of its ID (--format json, field runs)"
                        .to_owned(),
                ]
            }
            Self::NoneLeft { hint, .. }
            | Self::Misused { hint, .. }
            | Self::Halted { hint, .. } => vec![hint.clone()],
            Self::NothingPiped => {
                vec!["name an experiment, or pipe in the output of kubectl".to_owned()]
            }
            Self::Partial(_) => vec![
                "the rest was imported; correct the path and import again (nothing is stored twice)"
                    .to_owned(),
            ],
            // Where no segment is, nothing of a segment helps.
            Self::Damaged(what) if !what.contains("segment") => {
                vec!["rebuild the index from the segments: whathappened store repair".to_owned()]
            }
            Self::Damaged(_) => {
                vec!["recover what can be read, and add what is missing from the index: whathappened store repair".to_owned(),
                     "if a segment is still damaged after a repair, the rest of its rows is lost: whathappened store forget SEGMENT, with its name as shown by `store verify`".to_owned()]
            }
            Self::Config { flaw, .. } => flaw.hint().map(str::to_owned).into_iter().collect(),
            Self::Remote { hint, .. } => hint.map(str::to_owned).into_iter().collect(),
            Self::Sql(error) => crate::sql::hint(error)
                .map(str::to_owned)
                .into_iter()
                .collect(),
            Self::Store(error) => error.hint().map(str::to_owned).into_iter().collect(),
            _ => Vec::new(),
        }
    }
}

/// What sources say that they were not allowed, or able, to give.
#[must_use]
pub fn unread(coverage: &[Coverage]) -> Vec<String> {
    let refused = coverage
        .iter()
        .filter(|row| matches!(row.status, Status::Denied | Status::Failed));
    let found: BTreeSet<String> = refused
        .map(|row| match &row.detail {
            Some(why) => format!("{}: {why}", row.resource),
            None => row.resource.clone(),
        })
        .collect();
    found.into_iter().collect()
}

/// That what was looked for may be in what could not be read.
fn may_be_there(unread: &[String]) -> Option<String> {
    const MOST: usize = 3;
    let named: Vec<&str> = unread.iter().take(MOST).map(String::as_str).collect();
    let more = match unread.len().saturating_sub(MOST) {
        0 => String::new(),
        more => format!("; and {more} more, which `whathappened doctor` lists"),
    };
    (!named.is_empty()).then(|| {
        format!(
            "it may be there all the same, since not everything could be read: {}{more}",
            named.join("; ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_may_read_nothing_is_told_so() {
        let row = |resource: &str, status: Status| Coverage {
            status,
            detail: Some(format!("missing permission: list {resource}")),
            ..Coverage::new("kubernetes", resource)
        };
        let rows = [
            row("pods", Status::Denied),
            row("jobs", Status::Denied),
            row("nodes", Status::Complete),
        ];
        let error = Error::UnknownName {
            name: "pintail".to_owned(),
            nearest: Vec::new(),
            unread: unread(&rows),
        };
        let hints = error.hints();
        assert_eq!(hints.len(), 2);
        assert_eq!(
            hints[0],
            "it may be there all the same, since not everything could be read: jobs: missing permission: list jobs; \
             pods: missing permission: list pods"
        );
        let error = Error::UnknownName {
            name: "pintail".to_owned(),
            nearest: vec!["pintails".to_owned()],
            unread: Vec::new(),
        };
        assert_eq!(error.hints(), ["did you mean: pintails?"]);
    }
}
