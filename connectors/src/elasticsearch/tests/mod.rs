//! Elasticsearch and `OpenSearch` as played by a server on loopback, and exports.

mod fake;
mod files;
mod live;
mod store;
