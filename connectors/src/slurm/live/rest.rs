//! Slurm's REST daemon: which version it speaks, and its paths.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;
use std::time::Instant;

use serde::Deserialize;
use serde::de::IgnoredAny;
use tokio::sync::OnceCell;

use super::answer::Page;
use crate::http::{Answer, Client, HttpError, HttpOptions, Request};
use crate::time::{Nanos, SECOND};

/// Versions that are tried where it does not tell which it has, the newest first.
const VERSIONS: RangeInclusive<u32> = 36..=46;

/// Versions of its two parts; `None` where it does not have the part.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Versions {
    /// The controller's.
    pub(super) control: Option<String>,
    /// Accounting's.
    pub(super) accounting: Option<String>,
}

/// The daemon.
#[derive(Debug)]
pub(super) struct Rest {
    client: Client,
    named: Option<String>,
    versions: OnceCell<Versions>,
}

#[derive(Deserialize)]
struct Specification {
    paths: BTreeMap<String, IgnoredAny>,
}

impl Rest {
    pub(super) fn new(options: HttpOptions, named: Option<String>) -> Result<Self, HttpError> {
        Ok(Self {
            client: Client::new(options)?,
            named,
            versions: OnceCell::new(),
        })
    }

    pub(super) fn address(&self) -> String {
        self.client.address()
    }

    /// Which versions it speaks, asked once.
    pub(super) async fn versions(&self, deadline: Instant) -> Result<&Versions, HttpError> {
        self.versions
            .get_or_try_init(|| self.discover(deadline))
            .await
    }

    async fn discover(&self, deadline: Instant) -> Result<Versions, HttpError> {
        if let Some(named) = &self.named {
            return Ok(Versions {
                control: Some(named.clone()),
                accounting: Some(named.clone()),
            });
        }
        let emitted = self
            .client
            .send(&Request::get("openapi/v3"), deadline)
            .await;
        let failure = match emitted {
            Ok(answer) => match answer.json::<Specification>() {
                Ok(specification) => return Ok(of_paths(specification.paths.keys())),
                Err(failure) => failure,
            },
            Err(failure) if failure.code().is_none() || failure.is_denied() => return Err(failure),
            Err(failure) => failure,
        };
        // It may keep its specification to itself.
        for number in VERSIONS.rev() {
            let version = format!("v0.0.{number}");
            let path = format!("slurm/{version}/ping");
            match self.client.send(&Request::get(&path), deadline).await {
                Ok(_) => {
                    return Ok(Versions {
                        control: Some(version.clone()),
                        accounting: Some(version),
                    });
                }
                Err(failure) if failure.code() == Some(404) => {}
                Err(failure) => return Err(failure),
            }
        }
        Err(failure)
    }

    /// Accounting's jobs; `None` where the daemon has no accounting.
    pub(super) async fn accounted(
        &self,
        query: &[(&str, String)],
        deadline: Instant,
    ) -> Result<Option<Page>, HttpError> {
        let Some(version) = &self.versions(deadline).await?.accounting else {
            return Ok(None);
        };
        let mut request = Request::get(&format!("slurmdb/{version}/jobs"));
        for (name, value) in query {
            request = request.query(name, value.as_str());
        }
        unknown_is_none(self.page(&request, deadline).await).map(Some)
    }

    /// One job of accounting, with every attempt; nothing where it is not known.
    pub(super) async fn accounted_job(
        &self,
        number: &str,
        deadline: Instant,
    ) -> Result<Option<Page>, HttpError> {
        let Some(version) = &self.versions(deadline).await?.accounting else {
            return Ok(None);
        };
        let request = Request::get(&format!("slurmdb/{version}/job/{number}"));
        unknown_is_none(self.page(&request, deadline).await).map(Some)
    }

    /// The controller's jobs, or the one of a number.
    pub(super) async fn queued(
        &self,
        number: Option<&str>,
        deadline: Instant,
    ) -> Result<Page, HttpError> {
        let version = self.control(deadline).await?;
        let path = match number {
            Some(number) => format!("slurm/{version}/job/{number}"),
            None => format!("slurm/{version}/jobs"),
        };
        unknown_is_none(self.page(&Request::get(&path), deadline).await)
    }

    /// The controller's nodes.
    pub(super) async fn nodes(&self, deadline: Instant) -> Result<Page, HttpError> {
        let version = self.control(deadline).await?;
        let request = Request::get(&format!("slurm/{version}/nodes"));
        self.page(&request, deadline).await
    }

    /// Whether the controller answers.
    pub(super) async fn ping(&self, deadline: Instant) -> Result<Answer, HttpError> {
        let version = self.control(deadline).await?;
        let request = Request::get(&format!("slurm/{version}/ping"));
        self.client.send(&request, deadline).await
    }

    async fn control(&self, deadline: Instant) -> Result<&str, HttpError> {
        let versions = self.versions(deadline).await?;
        versions.control.as_deref().ok_or_else(|| {
            HttpError::Garbage("its specification has no path for the controller".to_owned())
        })
    }

    async fn page(&self, request: &Request, deadline: Instant) -> Result<Page, HttpError> {
        Page::of(&self.client.send(request, deadline).await?)
    }
}

/// A job that nobody knows is no trouble: old ones are forgotten.
fn unknown_is_none(page: Result<Page, HttpError>) -> Result<Page, HttpError> {
    match page {
        Err(HttpError::Refused { code, message, .. })
            if code == 404
                || message.contains("Invalid job id")
                || message.contains("Nothing found") =>
        {
            Ok(Page::default())
        }
        other => other,
    }
}

/// A time as every version takes it: seconds since 1970, which need no zone.
pub(super) fn time(at: Nanos) -> String {
    format!("uts{}", at.div_euclid(SECOND).max(0))
}

fn of_paths<'p>(paths: impl Iterator<Item = &'p String>) -> Versions {
    let (mut control, mut accounting) = (None::<(u32, &str)>, None::<(u32, &str)>);
    for path in paths {
        let mut parts = path.trim_start_matches('/').split('/');
        let (Some(part), Some(version)) = (parts.next(), parts.next()) else {
            continue;
        };
        let Some(number) = version
            .strip_prefix("v0.0.")
            .and_then(|number| number.parse().ok())
        else {
            continue;
        };
        let slot = match part {
            "slurm" => &mut control,
            "slurmdb" => &mut accounting,
            _ => continue,
        };
        *slot = (*slot).max(Some((number, version)));
    }
    let name = |found: Option<(u32, &str)>| found.map(|(_, version)| version.to_owned());
    Versions {
        control: name(control),
        accounting: name(accounting),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_of_each_part_counts() {
        let paths = [
            "/slurm/v0.0.9/jobs",
            "/slurm/v0.0.40/jobs",
            "/slurm/v0.0.39/jobs",
            "/slurmdb/v0.0.39/jobs",
            "/openapi/v3",
        ]
        .map(str::to_owned);
        let found = of_paths(paths.iter());
        assert_eq!(found.control.as_deref(), Some("v0.0.40"));
        assert_eq!(found.accounting.as_deref(), Some("v0.0.39"));
        assert_eq!(of_paths([].iter()), Versions::default());
    }
}
