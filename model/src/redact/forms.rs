//! Tokens that are known by their form, and what stands in URLs, headers and commands.
//!
//! The prefixes are those that the vendors document, and that public sets of rules
//! (gitleaks, detect-secrets, trufflehog) know as well.

/// A pattern, and the words at which it is tried.
pub(super) struct SecretForm {
    /// In lower case.
    pub(super) hints: &'static [&'static str],
    /// Anchored at the hint; the first group is the secret.
    pub(super) pattern: &'static str,
    /// The hint begins a word.
    pub(super) is_word: bool,
    /// What the first group has to look like; a second one has to look random.
    pub(super) needs: SecretShape,
}

/// What a secret has to look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SecretShape {
    /// The pattern says enough.
    Nothing,
    /// Made by a machine.
    Random,
    /// Capital and small letters.
    BothCases,
    /// Digits as well.
    Mixed,
}

pub(super) const fn word(hints: &'static [&'static str], pattern: &'static str) -> SecretForm {
    SecretForm {
        hints,
        pattern,
        is_word: true,
        needs: SecretShape::Nothing,
    }
}

pub(super) const fn inside(hints: &'static [&'static str], pattern: &'static str) -> SecretForm {
    SecretForm {
        is_word: false,
        ..word(hints, pattern)
    }
}

pub(super) const fn random(hints: &'static [&'static str], pattern: &'static str) -> SecretForm {
    SecretForm {
        needs: SecretShape::Random,
        ..inside(hints, pattern)
    }
}

/// What divides the words of a command, in a line or in a list of arguments.
macro_rules! command {
    ($name:literal, $flag:literal, $value:literal) => {
        concat!(
            "^",
            $name,
            r#"[^\n|;]{0,240}?(?:\s|")"#,
            $flag,
            r#"(?:\s+|\\*"\s*,\s*\\*"|)["']?"#,
            $value
        )
    };
}

pub(super) const FORMS: &[SecretForm] = &[
    // Headers.
    // With the quote it is a word of a list, which is read as a text besides.
    random(
        &["bearer ", "bearer\"", "bearer\\"],
        r"^(?i:bearer)(?:\s|\\+[rnt])+([A-Za-z0-9._~+/=-]{8,})",
    ),
    inside(
        &["authorization"],
        r#"^(?i:authorization)\\*["']?\s*[:=]\s*\[?\s*\\*["']?(?:(?i:basic|bearer|token|digest|apikey|key|negotiate|aws|aws4-hmac-sha256|sharedkey|sso-key|splunk|geniekey|ntlm|oauth|hawk|signature|bot|apitoken)(?:\s|\\+[rnt])+((?:[A-Za-z0-9_]{1,60}=\\*"[^"\\\r\n]{0,800}\\*"(?:,\s*)?)+|[^\r\n"'\\]{4,})|([^\s"',;\\]{8,}))"#,
    ),
    // The header and its value as a pair.
    inside(
        &["authorization"],
        r#"^(?i:authorization)\\*["']\s*,\s*[bu]?\\*["'](?i:basic|bearer|token|digest|apikey|negotiate|bot)\s+([^\s"'\\]{4,})"#,
    ),
    SecretForm {
        needs: SecretShape::Mixed,
        ..word(
            &["basic "],
            r"^(?i:basic)[ \t]+([A-Za-z0-9+/]{16,}={0,2})(?:[^A-Za-z0-9+/=_.-]|$)",
        )
    },
    // A server of Kubernetes is told a token as the name of a protocol.
    inside(
        &["base64url.bearer.authorization.k8s.io."],
        r"^[a-z0-9.]+\.k8s\.io\.([A-Za-z0-9_-]{8,})",
    ),
    inside(
        &["cookie:", "cookie\"", "cookie\\", "cookie="],
        r#"^(?i:cookie)\\*["']?\s*[:=]\s*\[?\s*\\*["']?([^\s"'\\;=]{1,80}=[^\r\n"'\\]{3,})"#,
    ),
    // What proves a password to a server that sent a number: it can be tried.
    inside(
        &["response=\"", "response=\\"],
        r#"^(?i:response)=\\*"([0-9a-fA-F]{32,128})\\*""#,
    ),
    SecretForm {
        needs: SecretShape::BothCases,
        ..inside(
            &["private-token"],
            r#"^(?i:private-token)\\*["']?\s*[:=]\s*\\*["']?([A-Za-z0-9_-]{20,})"#,
        )
    },
    inside(&["ssws "], r"^(?i:ssws)\s+([A-Za-z0-9_-]{20,})"),
    // Cloud providers.
    word(
        &["akia", "asia"],
        // The secret is often told right behind the id.
        r"^((?:AKIA|ASIA)[0-9A-Z]{16}(?:[ \t:,;/|]{1,4}[A-Za-z0-9+/]{40})?)(?:[^0-9A-Za-z]|$)",
    ),
    word(
        &["iqojb3jpz2lu", "fwogzxivyxdz"],
        r"^((?:IQoJb3JpZ2lu|FwoGZXIvYXdz)[A-Za-z0-9+/=%]{20,})",
    ),
    word(&["aiza"], r"^(AIza[0-9A-Za-z_-]{35})"),
    word(&["ya29."], r"^(ya29\.[A-Za-z0-9_-]{10,})"),
    word(&["gocspx-"], r"^(GOCSPX-[A-Za-z0-9_-]{20,})"),
    word(&["1//0"], r"^(1//0[A-Za-z0-9_-]{30,})"),
    random(
        &[
            "accountkey=",
            "sharedaccesskey=",
            "sharedsecret=",
            "account_key=",
        ],
        r#"^[A-Za-z_]+=([^;&\s"'\\]{8,})"#,
    ),
    random(
        &[
            "x-amz-signature=",
            "x-amz-credential=",
            "x-amz-security-token=",
            "x-goog-signature=",
            "x-goog-credential=",
            "signature=",
            "awsaccesskeyid=",
            "?sig=",
            "&sig=",
            ";sig=",
            "u0026sig=",
        ],
        r#"^[?&;]?[A-Za-z0-9-]+=([^&\s"'\\,;]{8,})"#,
    ),
    inside(
        &["q~"],
        r"^[Qq]~([A-Za-z0-9_~.-]{31,34})(?:[^A-Za-z0-9_~.-]|$)",
    ),
    // Where something listens, with who may. A long name is a token itself.
    inside(
        &["://"],
        r#"^://(?:([A-Za-z0-9_.-]{30,100}:[^\s/"'\\]{1,200})@|[^\s/:@"'\\]{0,100}:(?P<password>[^\s/"'\\]{1,200})@|[^\s/:@"'\\]{0,100}:(?P<plain>[^\s/@"'\\]*[^0-9\s/@"'\\][^\s/@"'\\]*/[^\s@"'\\]{1,200})@(?:\[|[A-Za-z0-9.-]+(?::\d{2,5})?(?:[/\s?"',;)]|$))|([^\s/:@"'\\]{20,200})@[A-Za-z0-9])"#,
    ),
    // A driver's own way to write an account, and that of the command.
    inside(
        &["jdbc:oracle", "sqlplus "],
        r#"^(?i:jdbc:oracle:[a-z0-9]{1,20}:|sqlplus\s+(?:-\S+\s+)*\\*["']?)[^\s/@"'\\]{1,80}/([^\s@"'\\]{1,200})@"#,
    ),
    // Where packages of conda are, with who may.
    random(
        &["/t/"],
        r"^/t/([A-Za-z0-9]{20,}|(?:[A-Za-z]{2}-)?[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12})(?:[/\s]|$)",
    ),
    // Chat.
    word(
        &["xox", "xapp-"],
        r"^(xox[a-eoprs]-[A-Za-z0-9%-]{10,}|xapp-[A-Za-z0-9-]{10,})",
    ),
    inside(
        &[
            "hooks.slack.com/services/",
            "hooks.slack.com/workflows/",
            "hooks.slack.com/triggers/",
        ],
        r"^(?i:hooks\.slack\.com/(?:services|workflows|triggers)/)([A-Za-z0-9/_-]+)",
    ),
    inside(
        &["discord.com/api/webhooks/", "discordapp.com/api/webhooks/"],
        r"^(?i:discord(?:app)?\.com/api/webhooks/)([0-9]+/[A-Za-z0-9_-]+)",
    ),
    inside(&[":aa"], r"^:(AA[A-Za-z0-9_-]{32,})"),
    // Tokens that describe themselves.
    word(
        &["eyj"],
        r"^(eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{4,}\.[A-Za-z0-9_-]*(?:\.[A-Za-z0-9_-]+){0,2}|eyJ[A-Za-z0-9+/=_-]{80,})",
    ),
    word(
        &["ls0tls1crudjti"],
        r"^(LS0tLS1CRUdJTiB[A-CE-Z][A-Za-z0-9+/=]{20,})",
    ),
    // Where code is kept and built.
    word(
        &["ghp_", "gho_", "ghs_", "ghu_", "ghr_", "github_pat_"],
        r"^(gh[pousr]_[A-Za-z0-9]{20,}|github_pat_[A-Za-z0-9_]{20,})",
    ),
    word(
        &[
            "glpat-",
            "glrt-",
            "gldt-",
            "glft-",
            "glsoat-",
            "glcbt-",
            "glptt-",
            "glimt-",
            "glagent-",
            "gloas-",
            "glffct-",
            "gr1348941",
        ],
        r"^(gl(?:pat|rt|dt|ft|soat|cbt|ptt|imt|agent|oas|ffct)-[A-Za-z0-9_.-]{16,}|(?i:GR1348941)[A-Za-z0-9_-]{16,})",
    ),
    word(&["npm_"], r"^(npm_[A-Za-z0-9]{30,})"),
    word(&["pypi-"], r"^(pypi-[A-Za-z0-9_-]{30,})"),
    word(
        &["dckr_pat_", "dckr_oat_"],
        r"^(dckr_[po]at_[A-Za-z0-9_-]{20,})",
    ),
    word(
        &["atatt3", "atctt3", "atbb"],
        r"^(AT(?:ATT3|CTT3|BB)[A-Za-z0-9_=-]{24,})",
    ),
    word(&["rubygems_"], r"^(rubygems_[a-f0-9]{40,})"),
    // Models, metrics, machines.
    word(&["hf_", "api_org_"], r"^((?:hf|api_org)_[A-Za-z0-9]{30,})"),
    word(&["sk-", "sess-"], r"^((?:sk|sess)-[A-Za-z0-9_-]{20,})"),
    word(&["nvapi-"], r"^(nvapi-[A-Za-z0-9_-]{20,})"),
    word(
        &["r8_", "gsk_", "pplx-", "xai-", "fw_", "tgp_v1_"],
        r"^((?:r8_|gsk_|pplx-|xai-|fw_|tgp_v1_)[A-Za-z0-9_-]{24,})",
    ),
    inside(
        &["wandb"],
        r"^(?i:wandb[^\n]{0,40}?(?:key|login|api)[^\n]{0,40}?)\b([0-9a-f]{40})(?:[^0-9a-f]|$)",
    ),
    word(&["wandb_v1_"], r"^(wandb_v1_[A-Za-z0-9_-]{20,})"),
    word(&["glsa_", "glc_"], r"^(gls?[ac]_[A-Za-z0-9+/=_]{20,})"),
    word(
        &["nrak-", "nrii-", "nral-"],
        r"^(NR(?:AK|II|AL)-[A-Za-z0-9_-]{20,})",
    ),
    word(
        &["sntrys_", "sntryu_"],
        r"^(sntry[su]_[A-Za-z0-9+/=_-]{20,})",
    ),
    word(&["dapi"], r"^(dapi[a-f0-9]{32}(?:-\d)?)(?:[^A-Za-z0-9]|$)"),
    word(
        &["dop_v1_", "doo_v1_", "dor_v1_"],
        r"^(do[por]_v1_[a-f0-9]{32,})",
    ),
    word(&["tskey-"], r"^(tskey-[A-Za-z0-9-]{16,})"),
    word(&["pul-"], r"^(pul-[a-f0-9]{40})"),
    inside(&[".atlasv1."], r"^\.atlasv1\.([A-Za-z0-9_=-]{50,})"),
    // Secrets kept elsewhere.
    word(&["hvs.", "hvb.", "hvr."], r"^(hv[sbr]\.[A-Za-z0-9_-]{20,})"),
    word(&["s."], r"^(s\.[A-Za-z0-9]{24})(?:[^A-Za-z0-9._-]|$)"),
    word(
        &["dp.pt.", "dp.st.", "dp.ct."],
        r"^(dp\.[psc]t\.[A-Za-z0-9._-]{20,})",
    ),
    word(&["ops_eyj"], r"^(ops_eyJ[A-Za-z0-9+/=_-]{40,})"),
    word(
        &["age-secret-key-1"],
        r"^((?i:AGE-SECRET-KEY-1)[A-Za-z0-9]{40,})",
    ),
    // Services.
    word(&["sg."], r"^(SG\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,})"),
    word(
        &["sk_live_", "sk_test_", "rk_live_", "rk_test_", "whsec_"],
        r"^((?:[sr]k_(?:live|test)_|whsec_)[A-Za-z0-9+/=]{10,})",
    ),
    word(
        &["shpat_", "shpss_", "shpca_", "shppa_"],
        r"^(shp(?:at|ss|ca|pa)_[a-fA-F0-9]{32})",
    ),
    word(
        &[
            "lin_api_", "figd_", "sbp_", "pscale_", "xkeysib-", "sq0csp-", "sq0atp-", "key-",
            "phx_", "phc_",
        ],
        r"^((?:lin_api_|figd_|sbp_|pscale_(?:pw|tkn|oauth)_|xkeysib-|sq0(?:csp|atp)-|ph[xc]_)[A-Za-z0-9_.-]{20,}|key-[0-9a-f]{32})",
    ),
    word(&["sk"], r"^(SK[0-9a-f]{32})(?:[^0-9A-Za-z]|$)"),
    // Hashes of passwords, which can be tried.
    inside(
        &["$2a$", "$2b$", "$2y$"],
        r"^(\$2[aby]\$\d\d\$[./A-Za-z0-9]{20,53})",
    ),
    inside(
        &[
            "pbkdf2_sha",
            "pbkdf2:sha",
            "scrypt:",
            "$1$",
            "$5$",
            "$6$",
            "$y$",
            "$7$",
            "$apr1$",
            "$argon2",
            "$pbkdf2",
            "$scrypt",
        ],
        r"^(\$(?:[1567y]|apr1|argon2(?:id|i|d)|pbkdf2[a-z0-9-]*|scrypt)\$[A-Za-z0-9./+=,$_-]{16,}|(?:pbkdf2[_:]sha\d+[:$]\d+|scrypt(?::\d+){3})\$[A-Za-z0-9./+=,$_-]{16,})",
    ),
    // Commands.
    inside(
        &["curl"],
        command!(
            r"curl",
            r"(?:-u|--user|--proxy-user|-U)[= ]?",
            r#"[^\s:"'\\]{0,80}:([^\s"'\\]+)"#
        ),
    ),
    inside(
        &["wget"],
        command!(
            r"wget",
            r"(?:--user=\S+\s+)?--(?:http-|ftp-|proxy-)?password[= ]?",
            r#"([^\s"'\\]+)"#
        ),
    ),
    inside(
        &["mysql", "mariadb"],
        r#"^(?:mysql|mariadb)[a-z_-]*[^\n|;]{0,240}?(?:\s|")-p([^\s"'\\]+)"#,
    ),
    inside(&["sshpass"], command!(r"sshpass", r"-p", r#"([^\s"'\\]+)"#)),
    inside(
        &["redis-cli", "keydb-cli", "valkey-cli"],
        command!(
            r"(?:redis|keydb|valkey)-cli",
            r"(?:-a|--pass)",
            r#"([^\s"'\\-][^\s"'\\]*)"#
        ),
    ),
    inside(
        &[
            "docker login",
            "podman login",
            "registry login",
            "az login",
            "skopeo login",
            "oc login",
            "login\",\"",
        ],
        command!(
            r"(?:[a-z]+ )?login",
            r"(?:-p|--password)[= ]?",
            r#"([^\s"'\\-][^\s"'\\]*)"#
        ),
    ),
    inside(
        &["ldapsearch", "ldapmodify", "ldapadd"],
        command!(r"ldap[a-z]+", r"-w", r#"([^\s"'\\]+)"#),
    ),
    inside(
        &["mongodump", "mongosh", "mongorestore"],
        command!(
            r"mongo[a-z]+",
            r"(?:-p|--password)[= ]?",
            r#"([^\s"'\\-][^\s"'\\]*)"#
        ),
    ),
    inside(
        &["openssl"],
        // `-key` and `-keyout` name files.
        r#"^openssl[^\n|;]{0,240}?\s-(?:k|K|passwd)\s+["']?([^\s"'\\-][^\s"'\\]*)"#,
    ),
    // Behind the options stand a file, unless it is told on the terminal, a name and
    // the password.
    inside(
        &["htpasswd"],
        r#"^htpasswd[ \t]+(?:(?:-\w+[ \t]+)*?-[a-zA-Z0-9]*n[a-zA-Z0-9]*(?:[ \t]+-\w+)*[ \t]+|(?:-[a-mo-zA-Z0-9]+[ \t]+)+[^\s"'\\-][^\s"'\\]*[ \t]+)[^\s"'\\-][^\s"'\\]*[ \t]+["']?([^\s"'\\]+)"#,
    ),
    inside(
        &["smbclient", "smbget", "rpcclient", "smbmap", "mount.cifs"],
        r#"^[a-z.]+[^\n|;]{0,240}?(?:\s|")(?:-U|--user)[= ]?\s*\\*["']?[^\s%"'\\]{1,80}%([^\s"'\\]+)"#,
    ),
    inside(
        &["--from-literal"],
        r#"^--from-literal(?:=|\s+)\\*["']?[^=\s"'\\]{1,200}=\\*["']?([^\s"'\\]+)"#,
    ),
    // A line of .pgpass: host, port, database, user, password. One of /etc/passwd has
    // numbers there.
    inside(
        &[":5432:", ":5433:", ":6432:", ":*:"],
        r#"^:(?:\d{4}|\*):[^:\s"'\\/]{1,64}:[^:\s"'\\/0-9][^:\s"'\\/]{0,64}:([^\s"'\\]{3,})"#,
    ),
    word(&["ntn_"], r"^(ntn_[A-Za-z0-9]{40,})"),
    word(
        &["pass:"],
        r#"^pass:([^\s"'\\,;0-9][^\s"'\\,;]{3,}|[^\s"'\\,;/]{6,})"#,
    ),
    // What registries are told.
    SecretForm {
        needs: SecretShape::BothCases,
        ..inside(
            &["auth\"", "auth\\", "_auth="],
            r#"^(?i:_?auth)\\*"?\s*[:=]\s*\\*"?([A-Za-z0-9+/]{8,}={0,2})(?:[^A-Za-z0-9+/=]|$)"#,
        )
    },
];
