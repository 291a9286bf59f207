//! Signing in.

use maud::html;

use super::super::super::text::{escape, in_address};
use super::frame::Frame;

/// The page that asks for a token. `next` is where it leads, `wrong` what was wrong with
/// the last try, `provider` what an identity provider is called, where there is one.
#[must_use]
pub fn login(next: &str, wrong: Option<&str>, provider: Option<&str>) -> String {
    let frame = Frame {
        closed: true,
        ..Frame::default()
    };
    let page = html! {
        main.login {
            h1 { "Sign in" }
            @if let Some(wrong) = wrong { p.note role="alert" { (escape(wrong)) } }
            @if let Some(provider) = provider {
                p { a.button href={ "/login/oidc?next=" (in_address(next)) } { "Sign in with " (escape(provider)) } }
                h2 { "Or with a token" }
            }
            p.dim { "With the token that you use for the HTTP API. What you see here is what that token may see." }
            form method="post" action="/login" {
                input type="hidden" name="next" value=(next);
                label for="token" { "Token" }
                input #token name="token" type="password" autocomplete="current-password" required autofocus[provider.is_none()]
                    spellcheck="false" maxlength="4096";
                button.primary type="submit" { "Sign in" }
            }
        }
    };
    frame.around("Sign in", &[], &page)
}
