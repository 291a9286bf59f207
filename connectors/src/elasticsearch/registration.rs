//! What others know of Elasticsearch and `OpenSearch`.

use std::sync::Arc;

use super::export::{ACTION, DOCUMENT, HIT, KIBANA_CSV};
use super::options::ElasticsearchOptions;
use super::store::Elasticsearch;
use crate::connector::Clock;
use crate::contract::LabelNames;
use crate::http::HttpError;
use crate::log_store::{Opened, Registration, Settings};

pub(crate) const LOG_STORE: Registration = Registration {
    product: "Elasticsearch",
    needed: &[&["ES_URL", "ELASTICSEARCH_URL", "OPENSEARCH_URL"]],
    open: |settings, clock| Box::pin(open(settings, clock)),
    key: ("url", "ELASTICSEARCH_URL"),
    sample: "\
# [elasticsearch]             # ELASTICSEARCH_URL, ELASTICSEARCH_API_KEY; OpenSearch, too
# url = \"https://es.example.com:9200\"
# index = \"filebeat-*,logs-*\"
",
    names: LabelNames::default,
    decoders: &[HIT, ACTION, DOCUMENT],
    tables: &[KIBANA_CSV],
    answer: None,
};

async fn open(settings: &dyn Settings, clock: Clock) -> Opened {
    let options = ElasticsearchOptions::from_env(&|name| settings.get(name));
    let mut options = options.ok_or_else(|| {
        HttpError::BadRequest("Elasticsearch is configured without a url".to_owned())
    })?;
    settings.name().clone_into(&mut options.name);
    options.names = settings.labels(options.names)?;
    options.http.headers.extend(settings.headers());
    Ok(Arc::new(Elasticsearch::open(options, clock).await?))
}
