//! Accounts as protocols, statements, programs and addresses write them: a name and its
//! password, or what stands for both, without a word that says so.

use std::ops::Range;

use super::forms::{SecretForm, SecretShape, inside, random, word};
use super::value::{is_mixed, names_no_secret};

/// A query's value that is made by a machine.
const fn mixed(hints: &'static [&'static str], pattern: &'static str) -> SecretForm {
    SecretForm {
        needs: SecretShape::Mixed,
        ..inside(hints, pattern)
    }
}

pub(super) const FORMS: &[SecretForm] = &[
    // Statements of databases.
    inside(
        &["identified "],
        r#"^(?i:identified\s+(?:with\s+\S{1,80}\s+)?(?:by|as)\s+(?:password\s+|values\s+)?)\\*["']([^"'\\\n]+)"#,
    ),
    inside(
        &["scram-sha-"],
        r#"^(?i:scram-sha-)(\d{1,3}\$\d+:[^\s"'\\]{16,})"#,
    ),
    // A pair of name and password in a program.
    inside(
        &[
            "auth=(",
            "auth = (",
            "basicauth(",
            "digestauth(",
            "ntlmauth(",
            "passwordcredentials(",
            "plaincredentials(",
            "db.auth(",
        ],
        r#"^(?i:[a-z.]{2,24}(?:\s?=\s?)?\()\s*\\*["'][^"'\\\n]{0,120}\\*["']\s*,\s*\\*["']([^"'\\\n]+)\\*["']"#,
    ),
    inside(
        &["convertto-securestring"],
        r#"^(?i:convertto-securestring)\s+(?:-[A-Za-z]+\s+)*\\*["']([^"'\\\n]+)"#,
    ),
    inside(
        &["define("],
        r#"^(?i:define)\(\s*\\*["'](?i:[a-z0-9_]{0,60}(?:pass(?:word|wd)?|secret|token|(?:api|auth|in|nonce)_?key|salt)[a-z0-9_]{0,20})\\*["']\s*,\s*\\*["']([^"'\\\n]+)"#,
    ),
    inside(
        &["set password for"],
        r#"^(?i:set\s+password\s+for)\s+\S{1,120}\s*=\s*(?i:password\s*\(\s*)?\\*["']([^"'\\\n]+)"#,
    ),
    // Accounts that images of clouds come with, as `chpasswd` is told their passwords. A
    // third field, as in /etc/passwd, or an owner's group is none.
    SecretForm {
        needs: SecretShape::Mixed,
        ..word(
            &[
                "root:",
                "ubuntu:",
                "ec2-user:",
                "admin:",
                "centos:",
                "debian:",
            ],
            r#"^[a-z0-9-]+:([^\s:"'\\/@]{8,64})(?:[\s"'\\]|$)"#,
        )
    },
    // A script that answers a prompt.
    random(
        &["send \"", "send -- \"", "send \\", "send -- \\"],
        r#"^(?i:send)[ \t]+(?:--[ \t]+)?\\*"([^\s"'\\]{6,80})\\+[rn]\\*""#,
    ),
    // What a runner of jobs is told to hide from then on.
    inside(&["::add-mask::"], r#"^::(?i:add-mask)::([^\s"'\\]{3,})"#),
    inside(
        &["secret_id", "secretid"],
        r#"^(?i:secret_?id)\\*["']?\s*[:=]\s*\\*["']?([0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})"#,
    ),
    // Options that are told both at once.
    inside(
        &["-creds"],
        r#"^(?i:-creds)(?:=|[ \t]+|\\*["']\s*,\s*\\*["'])\\*["']?[^\s:"'\\]{1,120}:([^\s"'\\]+)"#,
    ),
    inside(
        &["etcdctl_user="],
        r#"^(?i:etcdctl_user)=\\*["']?[^\s:"'\\]{1,120}:([^\s"'\\]+)"#,
    ),
    // Protocols.
    random(
        &["redis auth ", "redis-cli auth ", "valkey-cli auth "],
        r#"^(?i:[a-z-]+) AUTH[ \t]+(?:[^\s"'\\]{1,80}[ \t]+)?([^\s"'\\]{6,})"#,
    ),
    random(
        &["auth default "],
        r#"^(?i:auth)[ \t]+default[ \t]+([^\s"'\\]{6,})"#,
    ),
    inside(
        &["\"auth\" \"", "\"auth\\\" \\\""],
        r#"^"(?i:auth)\\*"\s+(?:\\*"[^"\\\s]{1,80}\\*"\s+)?\\*"([^"\\\s]+)\\*""#,
    ),
    SecretForm {
        needs: SecretShape::BothCases,
        ..inside(
            &["auth plain ", "auth login "],
            r"^(?i:auth[ \t]+[a-z]+)[ \t]+([A-Za-z0-9+/]{12,}={0,2})(?:[^A-Za-z0-9+/=]|$)",
        )
    },
    inside(
        &["snmp-server community "],
        r#"^(?i:snmp-server[ \t]+community)[ \t]+([^\s"'\\]+)"#,
    ),
    inside(
        &["form-data; name="],
        r#"^(?i:form-data;[ \t]+name)=\\*["'][^"'\\\n]{0,60}(?i:passw|pwd|secret|token|api_?key)[^"'\\\n]{0,60}\\*["'](?:\s|\\+[rn])+([^\s"'\\-][^\s"'\\]*)"#,
    ),
    // What a client of mail or files shows of what it sends; only capitals are commands.
    mixed(
        &[" login "],
        r#"^ LOGIN[ \t]+\\*"?[^\s"'\\]{1,80}\\*"?[ \t]+\\*"?([^\s"'\\]{6,})"#,
    ),
    random(&["> pass "], r#"^>[ \t]PASS[ \t]+([^\s"'\\/.]{6,})"#),
    // What makes a client of an API.
    mixed(
        &["client(\"", "client('", "client(\\"],
        r#"^(?i:client)\(\\*["']([A-Za-z0-9_-]{32,})\\*["']"#,
    ),
    // Queries.
    mixed(
        &["?key=", "&key=", "u0026key="],
        r"^[?&u0-9]{1,5}(?i:key)=([A-Za-z0-9_-]{32,})(?:[^A-Za-z0-9_./-]|$)",
    ),
    mixed(
        &["?code=", "&code=", "u0026code="],
        r"^[?&u0-9]{1,5}(?i:code)=([A-Za-z0-9_%/.=-]{30,})",
    ),
    inside(
        &["?u=", "&u=", "?user=", "&user=", "?username=", "&username="],
        r#"^[?&](?i:u|user|username)=[^&\s"'\\]{0,120}(?:&|\\+u0026)(?i:p|pw|pwd|pass)=([^&\s"'\\]+)"#,
    ),
    // Sessions: who knows the id is taken for the one who logged in. An id of the form
    // of a uid names a session in a trail.
    random(
        &["phpsessid", "jsessionid", "sessionid", "connect.sid"],
        r#"^(?i:phpsessid|jsessionid|sessionid|connect\.sid)\\*["']?(?:\s*[:=]\s*|\t|\\+t)\\*["']?((?:s%3A)?[A-Za-z0-9]{24,}[A-Za-z0-9._%+/-]*)"#,
    ),
];

/// Words behind an account, or in a token, that begins before them.
pub(super) const BEHIND: [&str; 6] = ["@tcp(", "@unix(", "@udp(", ".atlasv1.", "+acr", "_mmk"];

/// What is no farther away belongs to the word.
const LONGEST: usize = 300;

/// The secret that ends before a word of [`BEHIND`], or with it.
pub(super) fn before(text: &str, hint: Range<usize>) -> Option<Range<usize>> {
    let mut from = hint.start.saturating_sub(LONGEST);
    while !text.is_char_boundary(from) {
        from += 1;
    }
    let near = &text[from..hint.start];
    if text[hint.clone()].starts_with('@') {
        let ends = |letter: char| letter.is_whitespace() || "\"'`\\(),".contains(letter);
        let account = &near[near.rfind(ends).map_or(0, |end| end + 1)..];
        let (scheme, mut password) = account.split_once(':')?;
        // In a query of an address.
        if password.starts_with("//") && !scheme.is_empty() {
            let (_, value) = password.rsplit_once('=')?;
            (_, password) = value.split_once(':')?;
        }
        let is_secret = !password.starts_with("//") && !names_no_secret(password);
        return is_secret.then(|| hint.start - password.len()..hint.start);
    }
    if text[hint.clone()].starts_with('_') {
        // A licence of MaxMind: six letters, and 29.
        const LICENCE: usize = 36;
        let key = near.get(near.len().checked_sub(LICENCE)?..)?;
        let (id, rest) = key.split_once('_')?;
        let all = |part: &str| part.bytes().all(|byte| byte.is_ascii_alphanumeric());
        let is_key = id.len() == 6 && all(id) && all(rest);
        return is_key.then(|| hint.start - LICENCE..hint.end);
    }
    let signs = if text[hint.clone()].starts_with('.') {
        ""
    } else {
        "+/"
    };
    let inner = |byte: &u8| byte.is_ascii_alphanumeric() || signs.as_bytes().contains(byte);
    let head = near.bytes().rev().take_while(inner).count();
    if signs.is_empty() {
        return (head >= 10).then(|| hint.start - head..hint.start);
    }
    // A password of a registry of Azure: so many letters before and behind its sign.
    let tail = text.as_bytes()[hint.end..]
        .iter()
        .take_while(|byte| inner(byte))
        .count();
    let range = hint.start - head..hint.end + tail;
    let is_token = head == 42 && tail == 6 && is_mixed(&text[range.clone()], 52);
    is_token.then_some(range)
}
