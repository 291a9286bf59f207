//! What others know of Loki.

use std::sync::Arc;

use super::decode::{decode, decode_streams};
use super::options::LokiOptions;
use super::store::Loki;
use crate::contract::{AnswerFormat, LabelNames};
use crate::log_store::{Opened, Registration, Settings};

pub(crate) const LOG_STORE: Registration = Registration {
    product: "Loki",
    needed: &[&["LOKI_ADDR", "GRAFANA_DATASOURCE_UID"]],
    open: |settings, _| Box::pin(std::future::ready(open(settings))),
    key: ("addr", "LOKI_ADDR"),
    sample: "\
# [loki]                      # LOKI_ADDR and logcli's other variables
# addr = \"https://loki.example.com\"
# org_id = \"tenant\"
# bearer_token_file = \"/path/to/token\"
# labels = { pod = [\"task\"] }
",
    names: LabelNames::default,
    decoders: &[],
    tables: &[],
    answer: Some(&AnswerFormat {
        name: "Loki answer",
        result_type: "streams",
        // It warns after the result where it gave less than was asked for.
        partial: (
            "returning partial results",
            "Loki warns that its answer is partial",
        ),
        decode,
        decode_parts: |parts, file, out, done| {
            let parts = parts.iter().map(|(part, line)| (part.as_slice(), *line));
            decode_streams(parts, file, out, done);
        },
    }),
};

fn open(settings: &dyn Settings) -> Opened {
    let mut options = LokiOptions::from_env(&|name| settings.get(name));
    settings.name().clone_into(&mut options.name);
    options.names = settings.labels(options.names)?;
    options.headers.extend(settings.headers());
    Ok(Arc::new(Loki::new(options)?))
}
