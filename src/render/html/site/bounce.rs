//! The page that a link from elsewhere gets first.

use maud::{DOCTYPE, html};

use super::assets::address;

/// Opens an address of the service once more. A browser that follows a link from another
/// site, such as a message, leaves out the cookie that says who is signed in; it sends it
/// when the service's own page leads there.
#[must_use]
pub fn bounce(path: &str) -> String {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="refresh" content={ "0; url=" (path) };
                // Without one, browsers ask for an icon that is not there.
                link rel="icon" href=(address("icon", "svg"));
                title { "whathappened" }
            }
            body { p { a href=(path) { "Continue" } } }
        }
    };
    page.into_string()
}
