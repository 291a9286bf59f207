//! Styles and scripts, compiled in. Their addresses hold a hash of their content, so that a
//! browser may keep them for ever and never has an old one.

use std::sync::LazyLock;

use sha2::{Digest as _, Sha256};

use super::super::policy::{SCRIPT, STYLE};

/// A file that pages load.
#[derive(Clone, Copy, Debug)]
pub struct Asset {
    /// Its media type.
    pub kind: &'static str,
    /// What is in it.
    pub text: &'static str,
}

const CSS: &str = "text/css; charset=utf-8";
const JS: &str = "text/javascript; charset=utf-8";

const SITE_STYLE: &str = include_str!("site.css");
const SITE_SCRIPT: &str = include_str!("site.js");
const SQL_SCRIPT: &str = include_str!("sql.js");
const ICON: &str = include_str!("icon.svg");

/// Every file by its name without the hash.
const FILES: [(&str, &str, Asset); 6] = [
    (
        "page",
        "css",
        Asset {
            kind: CSS,
            text: STYLE,
        },
    ),
    (
        "site",
        "css",
        Asset {
            kind: CSS,
            text: SITE_STYLE,
        },
    ),
    (
        "page",
        "js",
        Asset {
            kind: JS,
            text: SCRIPT,
        },
    ),
    (
        "site",
        "js",
        Asset {
            kind: JS,
            text: SITE_SCRIPT,
        },
    ),
    (
        "sql",
        "js",
        Asset {
            kind: JS,
            text: SQL_SCRIPT,
        },
    ),
    (
        "icon",
        "svg",
        Asset {
            kind: "image/svg+xml",
            text: ICON,
        },
    ),
];

/// Names with hashes, in the order of the files.
static NAMES: LazyLock<Vec<String>> = LazyLock::new(|| {
    let named = FILES.iter().map(|(stem, end, asset)| {
        let hash = Sha256::digest(asset.text);
        let hash: String = hash
            .iter()
            .take(8)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        format!("{stem}-{hash}.{end}")
    });
    named.collect()
});

/// The file of a name with its hash.
#[must_use]
pub fn asset(name: &str) -> Option<Asset> {
    let at = NAMES.iter().position(|known| known == name)?;
    FILES.get(at).map(|(_, _, asset)| *asset)
}

/// The address of a file.
pub(super) fn address(stem: &str, end: &str) -> String {
    let at = FILES.iter().position(|(a, b, _)| (*a, *b) == (stem, end));
    let name = at.and_then(|at| NAMES.get(at));
    format!("/assets/{}", name.map_or("", String::as_str))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_file_is_found_by_its_address_alone() {
        for (stem, end, file) in FILES {
            let address = address(stem, end);
            let name = address.strip_prefix("/assets/").unwrap();
            assert_eq!(asset(name).unwrap().text, file.text);
            assert!(asset(&format!("{stem}.{end}")).is_none());
        }
        assert!(asset("").is_none() && asset("../page.css").is_none());
    }
}
