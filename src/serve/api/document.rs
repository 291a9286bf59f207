//! The `OpenAPI` document.

use std::sync::Arc;

use utoipa::OpenApi;
use utoipa::openapi::security::{HttpAuthScheme, HttpBuilder, SecurityScheme};
use utoipa_axum::router::OpenApiRouter;

use super::problem::Problem;
use crate::answer::contract;
use crate::serve::Service;

#[derive(OpenApi)]
#[openapi(
    info(
        title = "whathappened",
        description = "Which pod of a training run died first, who or what killed it, the evidence, and which data is missing.",
        license(name = "Apache-2.0", identifier = "Apache-2.0"),
        contact(),
    ),
    servers((url = "/", description = "this service")),
    tags(
        (name = "ask", description = "What happened."),
        (name = "rules", description = "How causes are detected."),
        (name = "data", description = "Statements and imports."),
    ),
    security(("token" = [])),
    components(schemas(Problem)),
    modifiers(&Token),
)]
struct Head;

/// How a caller says who they are.
struct Token;

impl utoipa::Modify for Token {
    fn modify(&self, document: &mut utoipa::openapi::OpenApi) {
        let components = document.components.get_or_insert_default();
        let scheme = HttpBuilder::new()
            .scheme(HttpAuthScheme::Bearer)
            .description(Some("a token of [[serve.caller]]"))
            .build();
        components.add_security_scheme("token", SecurityScheme::Http(scheme));
    }
}

/// A router that has the document's head.
pub(super) fn begun() -> OpenApiRouter<Arc<Service>> {
    OpenApiRouter::with_openapi(Head::openapi())
}

/// The whole document, as `/api/v1/openapi.json` has it.
#[must_use]
pub fn document() -> utoipa::openapi::OpenApi {
    let mut document = super::routes().split_for_parts().1;
    let components = document.components.get_or_insert_default();
    for (name, schema) in contract::schemas() {
        // Some of what is answered is of no resource.
        if let Some(known) = components.schemas.get_mut(&name) {
            *known = schema;
        }
    }
    document
}

#[cfg(test)]
mod tests {
    const FILE: &str = "docs/openapi.json";

    /// `BLESS=1 cargo nextest run -E 'test(openapi)'` writes it.
    #[test]
    fn the_openapi_document_that_is_checked_in_is_the_one_served() {
        let mut text = serde_json::to_string_pretty(&super::document()).unwrap();
        text.push('\n');
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(FILE, &text).unwrap();
        }
        let stored = std::fs::read_to_string(FILE).unwrap();
        assert!(stored == text, "run with BLESS=1 to write {FILE}");
    }
}
