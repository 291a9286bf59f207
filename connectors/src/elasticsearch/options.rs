//! How an Elasticsearch or `OpenSearch` is reached, and what it calls things.

use crate::aws_auth::{AwsOptions, Service};
use crate::http::{Auth, HttpOptions};
use crate::log_store::LabelNames;

/// Index names that shippers use unless told otherwise.
const INDICES: &str = "filebeat-*,logs-*,fluent*,logstash-*";

/// Requests are signed for AWS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signing {
    /// `es`, or `aoss` for serverless collections.
    pub service: String,
    /// Credentials and region.
    pub aws: AwsOptions,
}

/// How an Elasticsearch or `OpenSearch` is reached, and what it calls things.
#[derive(Clone, Debug)]
pub struct ElasticsearchOptions {
    /// The name in coverage rows.
    pub name: String,
    /// How its first node is reached. An API key is a header.
    pub http: HttpOptions,
    /// Addresses of further nodes, asked where one does not answer.
    pub more_nodes: Vec<String>,
    /// Whether requests are signed for AWS.
    pub signing: Option<Signing>,
    /// Index pattern, parts separated by commas.
    pub indices: String,
    /// Field of the time; `@timestamp` or another usual one where none is named.
    pub time_field: Option<String>,
    /// Fields of the line, the best first, before the usual ones.
    pub message_fields: Vec<String>,
    /// The names of pods and such, with `.` and `-` as `_`.
    pub names: LabelNames,
    /// Lines of one page, at most 10,000.
    pub page: usize,
}

impl ElasticsearchOptions {
    /// The usual way to reach `url`.
    #[must_use]
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            name: "elasticsearch".to_owned(),
            http: HttpOptions::new(url),
            more_nodes: Vec::new(),
            signing: None,
            indices: INDICES.to_owned(),
            time_field: None,
            message_fields: Vec::new(),
            names: LabelNames::default(),
            page: 5_000,
        }
    }

    /// As the environment says; `None` where it names no address.
    ///
    /// `ES_URL`, `ELASTICSEARCH_URL` or `OPENSEARCH_URL` (several separated by
    /// commas), `ELASTICSEARCH_API_KEY` (as Kibana shows it, encoded),
    /// `ELASTICSEARCH_USERNAME` and `ELASTICSEARCH_PASSWORD`,
    /// `ELASTICSEARCH_BEARER_TOKEN`, `ELASTICSEARCH_INDEX`,
    /// `ELASTICSEARCH_CA_CERT`. Addresses of Amazon's service are signed for
    /// where nothing else proves who we are.
    #[must_use]
    pub fn from_env(get: &dyn Fn(&str) -> Option<String>) -> Option<Self> {
        let get = |names: &[&str]| {
            let mut found = names.iter().filter_map(|name| get(name));
            found.find(|value| !value.trim().is_empty())
        };
        let urls = get(&["ES_URL", "ELASTICSEARCH_URL", "OPENSEARCH_URL"])?;
        let mut urls = urls.split(',').map(|url| url.trim().to_owned());
        let first = urls.next()?;
        let mut options = Self::new(first.clone());
        options.more_nodes = urls.filter(|url| !url.is_empty()).collect();
        if let Some(key) = get(&["ELASTICSEARCH_API_KEY", "ES_API_KEY"]) {
            let value = format!("ApiKey {}", key.trim());
            options
                .http
                .headers
                .push(("Authorization".to_owned(), value.into()));
        } else if let Some(user) = get(&["ELASTICSEARCH_USERNAME", "OPENSEARCH_USERNAME"]) {
            let password = get(&["ELASTICSEARCH_PASSWORD", "OPENSEARCH_PASSWORD"]);
            options.http.auth = Auth::Basic(user, password.unwrap_or_default().into());
        } else if let Some(token) = get(&["ELASTICSEARCH_BEARER_TOKEN"]) {
            options.http.auth = Auth::Bearer(token.into());
        } else if let Some((service, region)) = of_amazon(&first) {
            let env = |name: &str| get(&[name]);
            let mut aws = AwsOptions::from_env(Service::new("es", "es", "OPENSEARCH"), &env);
            aws.region = Some(region);
            options.signing = Some(Signing { service, aws });
        }
        if let Some(indices) = get(&["ELASTICSEARCH_INDEX", "ES_INDEX"]) {
            options.indices = indices;
        }
        options.http.ca_file = get(&["ELASTICSEARCH_CA_CERT"]).map(Into::into);
        Some(options)
    }
}

/// Service and region of `…<region>.es.amazonaws.com` and `….aoss.amazonaws.com`.
fn of_amazon(url: &str) -> Option<(String, String)> {
    let url = url::Url::parse(url).ok()?;
    let host = url.host_str()?;
    let host = host
        .strip_suffix(".cn")
        .unwrap_or(host)
        .strip_suffix(".amazonaws.com")?;
    let (rest, service) = host.rsplit_once('.')?;
    let region = rest.rsplit('.').next()?;
    matches!(service, "es" | "aoss").then(|| (service.to_owned(), region.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn from(pairs: &[(&str, &str)]) -> Option<ElasticsearchOptions> {
        ElasticsearchOptions::from_env(&|name| {
            let found = pairs.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_environment_names_nodes_and_credentials() {
        assert!(from(&[("ELASTICSEARCH_API_KEY", "x")]).is_none());
        let key = from(&[
            ("ES_URL", "https://a:9200, https://b:9200"),
            ("ELASTICSEARCH_API_KEY", "abc="),
            ("ELASTICSEARCH_INDEX", "x-*"),
        ])
        .unwrap();
        assert_eq!(key.http.base_url, "https://a:9200");
        assert_eq!(key.more_nodes, ["https://b:9200"]);
        assert_eq!((key.indices.as_str(), key.http.headers.len()), ("x-*", 1));
        assert!(key.signing.is_none() && !format!("{key:?}").contains("abc="));
        let basic = from(&[
            ("ELASTICSEARCH_URL", "https://a"),
            ("ELASTICSEARCH_USERNAME", "me"),
        ]);
        assert!(matches!(basic.unwrap().http.auth, Auth::Basic(..)));
        let amazon = "https://search-x.eu-west-1.es.amazonaws.com";
        let signing = from(&[("ES_URL", amazon)]).unwrap().signing.unwrap();
        assert_eq!(signing.service, "es");
        assert_eq!(signing.aws.region.as_deref(), Some("eu-west-1"));
    }
}
