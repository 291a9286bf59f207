//! Tokens and keys of more services, and what their clients and files say of them.
//!
//! Facts of the vendors' own manuals, which public sets of rules list as well.

use super::forms::{SecretForm, SecretShape, inside, random, word};

/// A token whose first letters begin other words, too.
const fn mixed(hints: &'static [&'static str], pattern: &'static str) -> SecretForm {
    SecretForm {
        needs: SecretShape::Mixed,
        ..word(hints, pattern)
    }
}

pub(super) const FORMS: &[SecretForm] = &[
    // Clouds, clusters and what runs on them.
    word(&["cw-secret-"], r"^((?i:CW-SECRET-)[A-Za-z0-9_-]{30,})"),
    word(
        &["dnkey-"],
        r"^(dnkey-(?:[a-z0-9]+-)?[A-Z0-9=_-]{26}-[A-Z0-9=_-]{52})",
    ),
    word(&["nbp_"], r"^(nbp_[A-Za-z0-9]{36})(?:[^A-Za-z0-9]|$)"),
    word(
        &["t1."],
        r"^(t1\.[A-Za-z0-9_-]+={0,2}\.[A-Za-z0-9_-]{86}={0,2})",
    ),
    inside(
        &["yandex"],
        r"^(?i:yandex)[^\n]{0,60}?[^0-9A-Za-z](YC[A-Za-z0-9_-]{38})(?:[^0-9A-Za-z_-]|$)",
    ),
    word(
        &["amzn.mws."],
        r"^(amzn\.mws\.[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})",
    ),
    mixed(&["4b1d"], r"^(4b1d[A-Za-z0-9]{38})(?:[^A-Za-z0-9]|$)"),
    word(&["napi_"], r"^(napi_[a-z0-9]{48,})(?:[^A-Za-z0-9_]|$)"),
    // Where code is written, checked and built.
    inside(
        &["_gitlab_session"],
        r#"^_gitlab_session\\*["']?\s*[:=]\s*\\*["']?([0-9a-z]{32})"#,
    ),
    word(&["endr+"], r"^(endr\+[A-Za-z0-9-]{16,})"),
    word(&["s-s4t2ud-"], r"^(s-s4t2ud-[0-9a-f]{64})"),
    // Jenkins: the version of the form, and 128 bits.
    inside(
        &["jenkins", "api token", "api_token", "apitoken"],
        r"^(?i:jenkins|api[ _]?token)[^\n]{0,60}?[^0-9A-Za-z](11[0-9a-f]{32})(?:[^0-9A-Za-z]|$)",
    ),
    inside(
        &["contribsys__com"],
        r#"^(?i:contribsys__com)\\*["']?\s*[:=]\s*\\*["']?([0-9a-f]{8}:[0-9a-f]{8})"#,
    ),
    // Models and data.
    mixed(&["pa-"], r"^(pa-[A-Za-z0-9_-]{43})(?:[^A-Za-z0-9_-]|$)"),
    mixed(
        &["as-", "ak-"],
        r"^(a[sk]-[A-Za-z0-9]{22})(?:[^A-Za-z0-9_-]|$)",
    ),
    word(&["fc-"], r"^(fc-[0-9a-f]{32})(?:[^0-9a-f-]|$)"),
    mixed(&["aio_"], r"^(aio_[A-Za-z0-9]{28})(?:[^A-Za-z0-9_]|$)"),
    // Payments, mail, media.
    word(
        &["rzp_live_", "rzp_test_"],
        r"^(rzp_(?:live|test)_[A-Za-z0-9]{10,})",
    ),
    word(
        &["sm_aat_", "sm_pat_", "sm_sat_"],
        r"^(sm_[aps]at_[A-Za-z0-9]{16,})",
    ),
    word(&["fio-u-"], r"^(fio-u-[A-Za-z0-9_=-]{60,})"),
    inside(
        &["mailgun"],
        r"^(?i:mailgun)[^\n]{0,60}?[^0-9A-Za-z]([0-9a-f]{32}-[0-9a-f]{8}-[0-9a-f]{8})",
    ),
    inside(
        &[".acc-", ".acc_"],
        r"^\.acc[_-][a-z0-9-]{10,32}\.([A-Za-z0-9+/_=-]{30,120})",
    ),
    // Names of variables in capitals, whose values are no words.
    random(
        &["_key="],
        r#"^_KEY=\\*["']?((?:[0-9a-fA-F]{32,128}|[A-Za-z0-9+/_-]{32,}={0,2}))(?:[^A-Za-z0-9]|$)"#,
    ),
    random(&["_pat="], r#"^_PAT=\\*["']?([A-Za-z0-9]{20,})"#),
    inside(
        &["erlang_cookie"],
        r#"^(?i:erlang_cookie)\\*["']?\s*[:=]\s*\\*["']?([A-Za-z0-9]{16,})"#,
    ),
    inside(&["psk="], r#"^(?i:psk)=\\*["']([^"'\\\n]{8,63})\\*["']"#),
    // Statements of databases.
    inside(
        &["with password", "encrypted password"],
        r#"^(?i:(?:with|encrypted)\s+(?:encrypted\s+)?password)\s+\\*["']([^"'\\\n]{3,})"#,
    ),
    // What a person is sent or has put by.
    inside(
        &[
            "passcode is",
            "passcode:",
            "one-time code",
            "verification code",
            "security code",
            "otp is",
        ],
        r#"^(?i:[a-z-]+(?: code)?)(?: is)?:?\s*\\*["']?(\d{4,12})(?:[^0-9A-Za-z]|$)"#,
    ),
    random(
        &[
            "recovery codes",
            "backup codes",
            "recovery_codes",
            "backup_codes",
        ],
        r#"^(?i:[a-z]+[ _]codes)[\s"'\\]*[:=][\s"'\\\[]*([A-Za-z0-9-]{8,24}(?:[\s"'\\,]{1,6}[A-Za-z0-9-]{8,24}){0,15})"#,
    ),
];
