//! Signing in.

use maud::html;

use super::super::super::text::escape;
use super::frame::Frame;

/// The page that asks for a token. `next` is where it leads, `wrong` what was wrong with
/// the last try.
#[must_use]
pub fn login(next: &str, wrong: Option<&str>) -> String {
    let frame = Frame {
        closed: true,
        ..Frame::default()
    };
    let page = html! {
        main.login {
            h1 { "Sign in" }
            p.dim { "With the token that you use for the HTTP API. What you see here is what that token may see." }
            @if let Some(wrong) = wrong { p.note role="alert" { (escape(wrong)) } }
            form method="post" action="/login" {
                input type="hidden" name="next" value=(next);
                label for="token" { "Token" }
                input #token name="token" type="password" autocomplete="current-password" required autofocus
                    spellcheck="false" maxlength="4096";
                button.primary type="submit" { "Sign in" }
            }
        }
    };
    frame.around("Sign in", &[], &page)
}
