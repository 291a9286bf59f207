//! What others know of Datadog.

use std::sync::Arc;

use super::options::{DatadogOptions, Tier};
use super::store::Datadog;
use super::{files, tags};
use crate::contract::ForeignDecoder;
use crate::http::HttpError;
use crate::log_store::{Opened, Registration, Settings};

pub(crate) const LOG_STORE: Registration = Registration {
    product: "Datadog",
    needed: &[&["DD_API_KEY"], &["DD_APP_KEY", "DD_APPLICATION_KEY"]],
    open: |settings, _| Box::pin(std::future::ready(open(settings))),
    key: ("site", "DD_SITE"),
    sample: "\
# [datadog]                   # DD_SITE, DD_API_KEY, DD_APP_KEY
# site = \"datadoghq.com\"
",
    names: tags::names,
    decoders: &[ForeignDecoder {
        recognise: files::recognise,
        decode: files::decode,
        yaml: &[],
    }],
    tables: &[files::LOGS_CSV],
    answer: None,
};

fn open(settings: &dyn Settings) -> Opened {
    let mut options = DatadogOptions::from_env(&|name| settings.get(name))?;
    settings.name().clone_into(&mut options.name);
    options.names = settings.labels(options.names)?;
    options.indexes = settings.list("DD_LOGS_INDEXES");
    let tiers = settings.list("DD_LOGS_TIERS");
    if !tiers.is_empty() {
        options.tiers = Some(
            tiers
                .iter()
                .map(|tier| known(tier))
                .collect::<Result<_, _>>()?,
        );
    }
    options.http.headers.extend(settings.headers());
    Ok(Arc::new(Datadog::new(options)?))
}

fn known(tier: &str) -> Result<Tier, HttpError> {
    Tier::parse(tier).ok_or_else(|| {
        let all: Vec<&str> = Tier::ALL.iter().map(|tier| tier.as_str()).collect();
        HttpError::BadRequest(format!(
            "{tier:?} is not a valid tier; valid tiers are {}",
            all.join(", ")
        ))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::contract::LabelNames;
    use crate::http::Secret;

    /// What a person says who has keys and nothing else to say.
    struct Keys;

    impl Settings for Keys {
        fn name(&self) -> &str {
            "eu"
        }

        fn get(&self, variable: &str) -> Option<String> {
            variable.ends_with("_KEY").then(|| "0123".to_owned())
        }

        fn list(&self, _variable: &str) -> Vec<String> {
            Vec::new()
        }

        fn labels(&self, known: LabelNames) -> Result<LabelNames, HttpError> {
            Ok(known)
        }

        fn headers(&self) -> Vec<(String, Secret)> {
            Vec::new()
        }
    }

    /// Programs call attributes of theirs `pod` as well: the Agent's own tags go first, live as in files.
    #[test]
    fn the_agents_tags_go_first_in_a_live_store() {
        let store = open(&Keys).unwrap();
        assert_eq!(store.name(), "eu");
        assert_eq!(store.names(), &tags::names());
        assert_ne!(store.names(), &LabelNames::default());
    }
}
