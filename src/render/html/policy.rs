//! What the page may load: nothing but its own style and script.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use sha2::{Digest as _, Sha256};

/// The style of every page.
pub(super) const STYLE: &str = include_str!("page.css");

/// The script of an answer's page.
pub(super) const SCRIPT: &str = concat!(
    include_str!("script/times.js"),
    include_str!("script/records.js"),
    include_str!("script/model.js"),
    include_str!("script/layout.js"),
    include_str!("script/numbers.js"),
    include_str!("script/pen.js"),
    include_str!("script/chain.js"),
    include_str!("script/curve.js"),
    include_str!("script/paint.js"),
    include_str!("script/lines.js"),
    include_str!("script/scales.js"),
    include_str!("script/timeline.js"),
);

/// The page's `Content-Security-Policy`: inline style and script only as their hashes say.
pub(super) fn policy(with_script: bool) -> String {
    let script = if with_script {
        format!("script-src {}; ", hash(SCRIPT))
    } else {
        String::new()
    };
    format!(
        "default-src 'none'; style-src {}; {script}base-uri 'none'; form-action 'none'",
        hash(STYLE)
    )
}

fn hash(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_as_browsers_write_it() {
        // From the specification of Content Security Policy.
        assert_eq!(
            hash("alert('Hello, world.');"),
            "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='"
        );
        assert!(!policy(false).contains("script-src"));
    }

    #[test]
    fn nothing_ends_its_own_element() {
        assert!(!STYLE.contains("</") && !SCRIPT.contains("</"));
    }
}
