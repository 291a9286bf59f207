//! Tokens of vendors that say by their first letters what they are, and keys that a
//! word before them and their length give away.
//!
//! Facts of the vendors' own manuals, which public sets of rules list as well.

use super::forms::{SecretForm, SecretShape, inside, word};

const EXPECT: &[&str] = &[
    "expect -",
    "expect \"",
    "expect '",
    "expect {",
    "expect \\",
    "spawn ",
];

pub(super) const FORMS: &[SecretForm] = &[
    // Clouds and clusters.
    word(&["absk"], r"^(ABSK[A-Za-z0-9+/]{80,}={0,2})"),
    word(&["goog1"], r"^(GOOG1[A-Z0-9]{50,60})(?:[^A-Za-z0-9]|$)"),
    word(&["ltai"], r"^(LTAI[A-Za-z0-9]{16,20})(?:[^A-Za-z0-9]|$)"),
    word(
        &["aqvn"],
        r"^(AQVN[A-Za-z0-9_-]{35,38})(?:[^A-Za-z0-9_-]|$)",
    ),
    // Keys of a W&B server of one's own.
    word(&["local-"], r"^(local-[0-9a-f]{40})(?:[^A-Za-z0-9]|$)"),
    word(&["k10"], r"^(K10[0-9a-f]{64}::[A-Za-z0-9:._-]+)"),
    word(
        &["sha256~"],
        r"^(sha256~[A-Za-z0-9_-]{43})(?:[^A-Za-z0-9_-]|$)",
    ),
    word(
        &["dt0c01.", "dt0s01.", "dt0s16."],
        r"^(dt0[cs]\d\d\.[A-Z0-9]{8,24}\.[A-Z0-9]{64})",
    ),
    word(
        &["fo1_", "fm1a_", "fm1r_", "fm2_"],
        r"^(f(?:o1|m1[ar]|m2)_[A-Za-z0-9+/=_,-]{40,})",
    ),
    word(&["sl."], r"^(sl\.(?:u\.)?[A-Za-z0-9_-]{60,})"),
    // Tokens that only a server reads, and what it signs.
    word(
        &[
            "v1.local.",
            "v2.local.",
            "v3.local.",
            "v4.local.",
            "v2.public.",
            "v4.public.",
        ],
        r"^(v[1-4]\.(?:local|public)\.[A-Za-z0-9_-]{40,}(?:\.[A-Za-z0-9_-]+)?)",
    ),
    word(&["v1.0-"], r"^(v1\.0-[a-f0-9]{24}-[a-f0-9]{146})"),
    word(&["hrku-"], r"^(HRKU-[A-Za-z0-9_-]{30,})"),
    word(&["akid"], r"^(AKID[A-Za-z0-9]{32,36})(?:[^A-Za-z0-9]|$)"),
    word(&["cfut_", "cfat_"], r"^(cf[ua]t_[A-Za-z0-9]{40,})"),
    word(
        &["vcp_", "vci_", "vca_", "vcr_", "vck_"],
        r"^(vc[piark]_[A-Za-z0-9]{40,})(?:[^A-Za-z0-9]|$)",
    ),
    word(&["y0_"], r"^(y0__?[A-Za-z0-9_-]{39,})"),
    word(&["nfp_"], r"^(nfp_[A-Za-z0-9_-]{36,})"),
    word(&["sb_secret_"], r"^(sb_secret_[A-Za-z0-9_-]{20,})"),
    word(&["dose"], r"^(dose[0-9a-f]{32})(?:[^A-Za-z0-9]|$)"),
    word(&["rnd_"], r"^(rnd_[A-Za-z0-9]{28,})(?:[^A-Za-z0-9_]|$)"),
    word(
        &["vercel_blob_rw_"],
        r"^(vercel_blob_rw_[A-Za-z0-9]{10,}_[A-Za-z0-9]{20,})",
    ),
    word(&["aq.ab8"], r"^(AQ\.Ab8[A-Za-z0-9_-]{30,})"),
    inside(&[":apa91b"], r"^:(APA91b[A-Za-z0-9_-]{60,})"),
    // Where code and packages are kept and built.
    word(&["akcp"], r"^(AKCp[A-Za-z0-9]{60,73})(?:[^A-Za-z0-9]|$)"),
    word(
        &["cmvmdgtuo"],
        r"^(cmVmdGtuO[A-Za-z0-9]{50,60})(?:[^A-Za-z0-9]|$)",
    ),
    word(&["clojars_"], r"^((?i:CLOJARS_)[a-z0-9]{60})"),
    word(&["oy2"], r"^(oy2[a-z0-9]{43})(?:[^A-Za-z0-9]|$)"),
    word(
        &["ccipat_", "cciprj_"],
        r"^(CCI(?:PAT|PRJ)_[A-Za-z0-9]{20,}_[a-f0-9]{40})",
    ),
    word(&["bkua_"], r"^(bkua_[a-z0-9]{40})"),
    word(&["squ_", "sqp_", "sqa_"], r"^(sq[upa]_[a-f0-9]{40})"),
    word(
        &["sgp_"],
        r"^(sgp_(?:[a-fA-F0-9]{16}_|local_)?[a-fA-F0-9]{40})",
    ),
    word(&["api-"], r"^(API-[A-Z0-9]{25,32})(?:[^A-Za-z0-9-]|$)"),
    word(&["pmak-"], r"^(PMAK-[a-f0-9]{24}-[a-f0-9]{34})"),
    word(&["rdme_"], r"^(rdme_[a-z0-9]{70})"),
    word(
        &["pnu_", "pnb_"],
        r"^(pn[ub]_[A-Za-z0-9]{36})(?:[^A-Za-z0-9]|$)",
    ),
    word(&["ico-"], r"^(ico-[A-Za-z0-9]{32})(?:[^A-Za-z0-9]|$)"),
    word(&["cio"], r"^(cio[A-Za-z0-9]{32})(?:[^A-Za-z0-9]|$)"),
    word(
        &["tk-us-", "tk-eu-"],
        r"^(tk-(?:us|eu)-[A-Za-z0-9_-]{48})(?:[^A-Za-z0-9_-]|$)",
    ),
    // Models and data.
    word(&["kgat_"], r"^(KGAT_[A-Za-z0-9]{20,})"),
    word(&["lsv2_"], r"^(lsv2_(?:pt|sk)_[a-f0-9]{32}_[a-f0-9]{10})"),
    word(&["sk_"], r"^(sk_[a-f0-9]{48})(?:[^A-Za-z0-9]|$)"),
    word(&["pcsk_"], r"^(pcsk_[A-Za-z0-9]{5,8}_[A-Za-z0-9]{40,})"),
    word(
        &["jina_", "rpa_", "e2b_"],
        r"^((?:rpa|e2b)_[A-Za-z0-9]{32,}|jina_[A-Za-z0-9_-]{32,})(?:[^A-Za-z0-9]|$)",
    ),
    word(
        &["esecret_"],
        r"^(esecret_[A-Za-z0-9]{24,})(?:[^A-Za-z0-9]|$)",
    ),
    word(&["csk-"], r"^(csk-[A-Za-z0-9]{40,})"),
    // Two letters begin many words: what may stand before them is told as well.
    inside(
        &[
            " re_", "\"re_", "'re_", "=re_", ":re_", "`re_", "(re_", "[re_", ",re_", "\nre_",
        ],
        r"^[^a-z](re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,})(?:[^A-Za-z0-9_]|$)",
    ),
    word(&["tvly-", "llx-"], r"^((?:tvly|llx)-[A-Za-z0-9-]{32,})"),
    // The file of Kaggle: a name and a key, in any order.
    inside(
        &["kaggle_key", "kaggle-key"],
        r#"^(?i:kaggle[_-]key)\\*["']?\s*[:=,]\s*\\*["']?([0-9a-fA-F]{32})"#,
    ),
    inside(
        &["username\"", "username\\", "username'"],
        r#"^(?i:username)\\*["']\s*:\s*\\*["'][^"'\\]{1,80}\\*["']\s*,\s*(?:\\n\s*)?\\*["']key\\*["']\s*:\s*\\*["']([0-9a-f]{32})\\*["']"#,
    ),
    inside(
        &["\"key\"", "\"key\\", "'key'"],
        r#"^["']key\\*["']\s*:\s*\\*["']([0-9a-f]{32})\\*["']\s*,\s*(?:\\n\s*)?\\*["']username"#,
    ),
    // Services.
    word(&["p8e-"], r"^(p8e-[A-Za-z0-9]{32})(?:[^A-Za-z0-9]|$)"),
    word(&["pat"], r"^(pat[A-Za-z0-9]{14}\.[a-f0-9]{64})"),
    word(
        &["pat-"],
        r"^(pat-(?:na|eu|ap)\d-[a-f0-9]{8}-[a-f0-9-]{27})",
    ),
    word(
        &["pat.", "sat."],
        r"^([ps]at\.[A-Za-z0-9_-]{22}\.[a-f0-9]{24}\.[A-Za-z0-9]{20})",
    ),
    word(&["atta"], r"^(ATTA[a-f0-9]{64})"),
    word(
        &["sk.eyj", "tk.eyj"],
        r"^([st]k\.eyJ[A-Za-z0-9_-]{40,}\.[A-Za-z0-9_-]{20,})",
    ),
    word(&["cfpat-"], r"^(CFPAT-[A-Za-z0-9_-]{40,})"),
    word(
        &["duffel_", "shippo_"],
        r"^((?:duffel|shippo)_(?:test|live)_[A-Za-z0-9_=-]{40,})",
    ),
    word(&["ezak", "eztk"], r"^(EZ[AT]K[A-Za-z0-9]{54})"),
    word(
        &["hcaik_", "hcxik_", "hcamk_"],
        r"^(hc[a-z]{3}_[a-z0-9]{58})",
    ),
    word(&["lin_oauth_"], r"^(lin_oauth_[A-Za-z0-9]{20,})"),
    word(&["pdus+"], r"^(pdus\+[A-Za-z0-9_+/-]{20,})"),
    word(&["tfp_"], r"^(tfp_[A-Za-z0-9_.=-]{59})"),
    word(&["pubkey-"], r"^(pubkey-[a-f0-9]{32})"),
    word(&["eaaa"], r"^(EAAA[A-Za-z0-9_-]{60})(?:[^A-Za-z0-9_-]|$)"),
    word(
        &[
            "access-sandbox-",
            "access-development-",
            "access-production-",
        ],
        r"^(access-(?:sandbox|development|production)-[a-f0-9]{8}-[a-f0-9-]{27})",
    ),
    word(
        &["access_token$"],
        r"^(?i:access_token)\$(?:production|sandbox)\$([a-z0-9]{16}\$[a-f0-9]{32})",
    ),
    word(
        &["a3-"],
        r"^(A3-[A-Z0-9]{6}-(?:[A-Z0-9]{11}|[A-Z0-9]{6}-[A-Z0-9]{5})(?:-[A-Z0-9]{5}){3})(?:[^A-Z0-9]|$)",
    ),
    inside(
        &["webhook.office.com/webhookb2/"],
        r"^(?i:webhook\.office\.com/webhookb2/)([A-Za-z0-9-]{20,}@[A-Za-z0-9-]{20,}/IncomingWebhook/[A-Za-z0-9/_-]+)",
    ),
    inside(
        &["chat.googleapis.com/v1/spaces/"],
        r#"^(?i:chat\.googleapis\.com/v1/spaces/)[^\s"'\\?]{1,120}\?([^\s"'\\]{20,})"#,
    ),
    inside(
        &["fastly-key"],
        r#"^(?i:fastly-key)\\*["']?\s*[:=,]\s*\\*["']?([A-Za-z0-9_-]{16,64})"#,
    ),
    word(&["flwseck"], r"^((?i:FLWSECK(?:_TEST)?)-[a-z0-9]{12,64}-X)"),
    inside(
        &["mailchimp"],
        r"^(?i:mailchimp)[^\n]{0,60}?[^0-9A-Za-z]([0-9a-f]{32}-us\d{1,2})(?:[^0-9A-Za-z]|$)",
    ),
    inside(
        &["discord"],
        r"^(?i:discord)[^\n]{0,60}?[^0-9A-Za-z]([MNO][A-Za-z0-9_-]{22,27}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,40})",
    ),
    // Keys of Ceph: twelve bytes that are nearly always the same, and sixteen by chance.
    inside(
        &[
            "key = aq",
            "key: aq",
            "key=aq",
            "key\":\"aq",
            "key\": \"aq",
            "key\\\":\\\"aq",
        ],
        r#"^(?i:key)[^A-Za-z0-9]{1,8}(AQ[A-Za-z0-9+/]{36}==)"#,
    ),
    // Commands.
    inside(
        &["echo ", "printf "],
        r#"^(?i:echo|printf)\s+(?:-n\s+)?\\*["']?(?:%s(?:\\+n)?\\*["']?\s+\\*["']?)?(?:[^\s:"'\\|$-]{1,64}:([^\s"'\\|]{3,200})(?:\\+n)?\\*["']?\s*\|\s*(?:sudo\s+)?(?:/usr)?(?:/sbin/)?chpasswd|(?P<plain>[^\s"'\\|$-][^\s"'\\|]{2,200})(?:\\+n)?\\*["']?\s*\|(?:[^\n|]{1,200}--(?:password-)?stdin|[^\n|]{0,80}\bsudo\s(?:[^\n|]{0,40}\s)?-[A-Za-z]*S\b|\s*(?:sudo\s+)?(?:cryptsetup|kinit|su)\s|[^\n|]{1,200}--pass(?:phrase|word)-fd[ =]0))"#,
    ),
    inside(
        &["--password-stdin"],
        r#"^(?i:--password-stdin)[^\n<|;]{0,200}<<<\s*\\*["']?([^\s"'\\$][^\s"'\\]{2,200})"#,
    ),
    inside(
        &["net use"],
        r#"^(?i:net use)\s[^\n|;]{0,240}?(?i:/user):[^\s"']{1,120}\s+["']?([^\s"'\\/*][^\s"'\\]{2,200})"#,
    ),
    inside(
        &["7z ", "7za ", "7zr "],
        r#"^7z[ar]?\s[^\n|;]{0,240}?\s-p["']?([^\s"'\\]{3,200})"#,
    ),
    inside(
        &["zip "],
        r#"^zip\s(?:[^\n|;]{0,240}?\s)??-P\s*["']?([^\s"'\\]{3,200})"#,
    ),
    inside(
        &["alias set", "config host add"],
        r#"^(?:alias set|config host add)\s+[^\s"']{1,80}\s+["']?https?://[^\s"']{1,200}\s+[^\s"']{1,120}\s+["']?([^\s"'\\]{6,200})"#,
    ),
    // Scripts that type what they are asked for.
    inside(
        EXPECT,
        r#"^(?:expect|spawn)[\s\S]{1,200}?(?i:pass(?:word|phrase))[\s\S]{1,100}?\bsend\s+(?:--\s+)?\\*["']([^\s"'\\]{3,200})\\+[rn]"#,
    ),
    inside(
        EXPECT,
        r#"^(?:expect|spawn)[\s\S]{1,200}?\bsend\s+(?:--\s+)?\\*["']([^\s"'\\]{6,200})\\+[rn][\s\S]{0,60}?(?i:pass(?:word|phrase))"#,
    ),
    // Words that stand for a key, and keys that are bought.
    inside(
        &[
            "seed phrase",
            "seed_phrase",
            "recovery phrase",
            "secret phrase",
            "mnemonic",
        ],
        r#"^(?i:seed[ _]phrase|recovery phrase|secret phrase|mnemonic(?:[ _]phrase)?)(?:[\s"'\\:=,\[(]|is|are){1,12}?((?:[a-z]{3,8}(?:\s+|["'\\, ]{1,8})){11,23}[a-z]{3,8})"#,
    ),
    inside(
        &[
            "license key",
            "licence key",
            "license_key",
            "license-key",
            "product key",
            "product_key",
            "serial key",
            "activation key",
        ],
        r#"^(?i:[a-z]+[ _-]key)[\s"'\\:=,]{1,8}(?:is\s+)?["']?([A-Z0-9]{4}(?:-[A-Z0-9]{4}){2,7}|[A-Z0-9]{5}(?:-[A-Z0-9]{5}){2,7}|[A-Z0-9]{6}(?:-[A-Z0-9]{6}){2,7})(?:[^A-Za-z0-9-]|$)"#,
    ),
    // Where directories and databases are asked.
    inside(
        &["bindpw", "bind_pw"],
        r#"^(?i:bind_?pw)\\*["']?(?:\s*[:=]\s*|\s+)\\*["']?([^\s"'\\,;]{4,200})"#,
    ),
    inside(
        &["dsn"],
        r#"^(?i:dsn)\\*["']?\s*[:=]\s*\\*["']?[^\s:@"'\\]{1,80}:([^\s"'\\]{1,200}?)@(?:tcp|unix)\("#,
    ),
    // Keys of 128, 256 or 512 bits in base64, a few words behind what they are for. Their
    // last letters are `=`; fingerprints are written without.
    SecretForm {
        needs: SecretShape::BothCases,
        ..inside(
            &[
                "fernet",
                "aes",
                "hmac",
                "psk",
                "preshared",
                "pre-shared",
                "pre_shared",
                "cipher",
                "symmetric",
                "unseal key",
                "encryption",
                "encrypted with",
                "decryption",
                "base64 key",
                "key_b64",
                "key-b64",
                "key_base64",
                "session key",
                "data key",
                "root key",
                "wrapping key",
                "host key",
                "kek",
                "dek",
                "wireguard",
            ],
            r#"^(?i:[a-z0-9_ -]{2,40}?)(?:[^\n]{0,40}?[^A-Za-z0-9+/_=-])??([A-Za-z0-9+/_-]{43}=|[A-Za-z0-9+/_-]{22}==|[A-Za-z0-9+/_-]{86}==)(?:[^A-Za-z0-9+/=_-]|$)"#,
        )
    },
];
