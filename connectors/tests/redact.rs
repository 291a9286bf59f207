//! Every kind of secret, in every place that a line of text may have it.

#![expect(
    clippy::unwrap_used,
    reason = "a test that cannot set itself up must fail"
)]

use whathappened_model::redact::{MASK, arguments, redact, value};

/// A body of letters that looks made by a machine.
fn letters(count: usize) -> String {
    const LETTERS: &[u8] = b"aZ3kQ9xLm2Wv7TbR4nYc8HfJ5pDs6GgE1uKiXoAqUwVtBzNyCrMhFjPdSe0";
    (0..count)
        .map(|n| char::from(LETTERS[(n * 7 + n / 5) % LETTERS.len()]))
        .collect()
}

fn hex(count: usize) -> String {
    letters(count)
        .bytes()
        .map(|byte| char::from(b"0123456789abcdef"[usize::from(byte) % 16]))
        .collect()
}

/// (what stands in the text, what of it must not be seen).
fn kinds() -> Vec<(String, String)> {
    let l = letters;
    let token = |prefix: &str, count: usize| {
        let body = letters(count);
        (format!("{prefix}{body}"), body)
    };
    let hexed = |prefix: &str, count: usize| {
        let body = hex(count);
        (format!("{prefix}{body}"), body)
    };
    let mut kinds = vec![
        token("hvs.", 40),
        token("hvb.", 60),
        ("s.".to_owned() + &l(24), l(24)),
        (format!("SG.{}.{}", l(22), l(43)), l(43)),
        token("sk_live_", 24),
        token("rk_test_", 24),
        token("whsec_", 32),
        token("npm_", 36),
        token("pypi-AgEIcHlwaS5vcmc", 60),
        token("glrt-", 20),
        token("glpat-", 20),
        token("gldt-", 20),
        token("GR1348941", 20),
        token("glsa_", 32),
        token("glc_", 60),
        token("nvapi-", 60),
        hexed("dop_v1_", 64),
        hexed("dapi", 32),
        token("ya29.", 80),
        token("GOCSPX-", 28),
        token("1//0", 40),
        token("dckr_pat_", 27),
        token("ATATT3xFfGF0", 60),
        token("hf_", 34),
        token("sk-proj-", 48),
        token("sk-ant-api03-", 60),
        token("r8_", 37),
        token("gsk_", 52),
        token("tskey-auth-", 30),
        hexed("pul-", 40),
        token("xoxb-123456789012-", 24),
        token("ghp_", 36),
        token("github_pat_", 60),
        token("AIza", 35),
        token("lin_api_", 40),
        hexed("shpat_", 32),
        hexed("key-", 32),
        token("NRAK-", 27),
        token("sntrys_", 60),
        hexed("AWS_SECRET_ACCESS_KEY=", 40),
        token(
            "DefaultEndpointsProtocol=https;AccountName=a;AccountKey=",
            86,
        ),
        token(
            "Endpoint=sb://x.net/;SharedAccessKeyName=r;SharedAccessKey=",
            43,
        ),
        token("https://a.blob.core.windows.net/c/b?sv=2022&sp=r&sig=", 43),
        hexed(
            "https://b.s3.amazonaws.com/k?X-Amz-Expires=9&X-Amz-Signature=",
            64,
        ),
        hexed("https://storage.googleapis.com/b/k?X-Goog-Signature=", 128),
        token(
            "https://b.s3.amazonaws.com/k?AWSAccessKeyId=x&Expires=9&Signature=",
            28,
        ),
        token("abc7Q~", 34).clone(),
        (
            "curl -u alice:hunter2 https://x".to_owned(),
            "hunter2".to_owned(),
        ),
        (
            "curl -s --user alice:hunter2 https://x".to_owned(),
            "hunter2".to_owned(),
        ),
        (
            "mysql -h db -u root -phunter2 app".to_owned(),
            "hunter2".to_owned(),
        ),
        ("mysqldump -phunter2 app".to_owned(), "hunter2".to_owned()),
        ("sshpass -p hunter2 ssh x".to_owned(), "hunter2".to_owned()),
        (
            "redis-cli -h r -a hunter2 ping".to_owned(),
            "hunter2".to_owned(),
        ),
        (
            "docker login -u a -p hunter2 r.io".to_owned(),
            "hunter2".to_owned(),
        ),
        (
            "machine x.org login alice password swordfish".to_owned(),
            "swordfish".to_owned(),
        ),
        (
            "openssl rsa -passin pass:hunter2".to_owned(),
            "hunter2".to_owned(),
        ),
        (
            "{\"auths\":{\"r.io\":{\"auth\":\"dXNlcjpwYXNz\"}}}".to_owned(),
            "dXNlcjpwYXNz".to_owned(),
        ),
        (
            "//r.io/:_auth=dXNlcjpwYXNz".to_owned(),
            "dXNlcjpwYXNz".to_owned(),
        ),
        token("Cookie: theme=dark; session=", 32),
        token("Set-Cookie: sid=", 32),
        token("Authorization: ", 32),
        token("authorization: Basic ", 12),
        token("x-api-key: ", 32),
        token("X-Vault-Token: ", 26),
        (format!("https://{}@github.com/o/r.git", l(40)), l(40)),
        (
            "postgres://app:pa/ss1word@db/x".to_owned(),
            "pa/ss1word".to_owned(),
        ),
        (
            "postgres://app:p$a%ss@db:5432/x".to_owned(),
            "p$a%ss".to_owned(),
        ),
        ("password=$ecret1".to_owned(), "$ecret1".to_owned()),
        ("password=pa;ss&w,rd!1".to_owned(), "ss&w,rd!1".to_owned()),
        (
            "password=correcthorse".to_owned(),
            "correcthorse".to_owned(),
        ),
        ("password: 12345678".to_owned(), "12345678".to_owned()),
        (
            "the password is Tr0ub4dor&3 now".to_owned(),
            "Tr0ub4dor".to_owned(),
        ),
        (
            "cannot log in with password hunter22 at all".to_owned(),
            "hunter22".to_owned(),
        ),
        (
            "password: |\n  two words\n  more\nnext: x".to_owned(),
            "two words".to_owned(),
        ),
        (
            "password: >-\n  two words\nnext: x".to_owned(),
            "two words".to_owned(),
        ),
        ("DB_PASS=hunter2".to_owned(), "hunter2".to_owned()),
        ("{\"pass\":\"hunter2\"}".to_owned(), "hunter2".to_owned()),
        ("pwd=hunter2;db=x".to_owned(), "hunter2".to_owned()),
        (
            "labelSelector=password%3Dhunter2&limit=5".to_owned(),
            "hunter2".to_owned(),
        ),
        (
            "{\"password\":\"cut off hunter2".to_owned(),
            "hunter2".to_owned(),
        ),
        ("token1=abcdef99".to_owned(), "abcdef99".to_owned()),
        ("$2b$12$".to_owned() + &l(53), l(53)),
        ("root:$6$salt$".to_owned() + &l(60) + ":1:2", l(60)),
        ("root:$apr1$salt1234$".to_owned() + &l(22), l(22)),
        (
            "AGE-SECRET-KEY-1".to_owned() + &l(58).to_uppercase(),
            l(58).to_uppercase(),
        ),
        token("client-key-data: LS0tLS1CRUdJTiBSU0EgUFJJVkFURS", 80),
        (format!("123456789:AA{}", l(33)), l(33)),
        (l(64), l(64)),
        (format!("aws gave secret {} to me", l(40)), l(40)),
    ];
    kinds.extend(written_otherwise());
    for label in [
        "RSA PRIVATE KEY",
        "OPENSSH PRIVATE KEY",
        "EC PRIVATE KEY",
        "ENCRYPTED PRIVATE KEY",
        "PRIVATE KEY",
        "PGP PRIVATE KEY BLOCK",
    ] {
        let (a, b) = (l(64), l(30));
        for line in ["\n", "\\n"] {
            let block =
                format!("-----BEGIN {label}-----{line}{a}{line}{b}{line}-----END {label}-----");
            kinds.push((block.clone(), b.clone()));
            kinds.push((format!("ssh-privatekey={block}"), b.clone()));
            kinds.push((
                format!("-----BEGIN {label}-----{line}{a}{line}{b}"),
                b.clone(),
            ));
        }
    }
    kinds
}

/// What has no key, sign and value in a row.
fn written_otherwise() -> Vec<(String, String)> {
    let (l, h) = (letters, hex);
    let password = || "hunter22".to_owned();
    let emitted = |text: &str| (text.replace("{}", &password()), password());
    let mut kinds: Vec<_> = [
        "<password>{}</password>",
        "<db:Password type=\"plain\">{}</db:Password>",
        "&lt;passphrase&gt;{}&lt;/passphrase&gt;",
        "<api-key>{}</api-key>",
        "use {} as the password please",
        "using {} as your new root password.",
        "ApiKey(\"{}\")",
        "Config { password: Some(\"{}\"), port: 1 }",
        "openssl enc -aes-256-cbc -k {} -in x",
        "htpasswd -b file bob {}",
        "htpasswd -nb bob {}",
        "htpasswd -n -b -B bob {}",
        "smbclient //h/share -U bob%{}",
        "smbclient //h/share --user=GROUP/bob%{} -c ls",
        "db.example:5432:train:bob:{}",
        "*:*:*:bob:{}",
        "Passwort: {}",
        "Das Passwort lautet {}",
        "contraseña: {}",
        "mot de passe : {}",
        "passphrase = correct {}",
        "passphrase: correct horse {}",
        "password: | {} next: 1",
        "password: >- two {}",
        "kubectl create secret generic s --from-literal=k={}",
        "kubectl create secret generic s --from-literal k={}",
        "aws configure set aws_secret_access_key {}",
    ]
    .map(emitted)
    .into();
    kinds.extend([
        (format!("secret_key_base: {}", h(128)), h(128)),
        (format!("SECRET_KEY_BASE={}", h(64)), h(64)),
        (format!("encryption key {}=", l(43)), l(43)),
        (format!("the master key is {}", h(64)), h(64)),
        (format!("AKIAIOSFODNN7EXAMPLE {}", l(40)), l(40)),
        (format!("AKIAIOSFODNN7EXAMPLE:{}", l(40)), l(40)),
        (format!("Authorization: SSWS 00{}", l(40)), l(40)),
        (format!("sent SSWS 00{} on", l(40)), l(40)),
        (format!("notion secret_{}", l(43)), l(43)),
        (format!("notion ntn_{}", l(46)), l(46)),
    ]);
    kinds
}

/// As a client encodes a query, with `%20` for a space.
fn encoded(text: &str) -> String {
    let one = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'_' | b'-' | b'.' | b'/' => {
            char::from(byte).to_string()
        }
        _ => format!("%{byte:02X}"),
    };
    text.bytes().map(one).collect()
}

/// A text in each of the notations that records have.
fn places(text: &str) -> Vec<(&'static str, String)> {
    let json = |text: &str| serde_json::to_string(text).unwrap();
    let log = serde_json::json!({"level": "info", "msg": format!("begun {text}"), "n": 1});
    let inner = serde_json::json!({"log": log.to_string(), "stream": "stdout"});
    let mut places = vec![
        ("bare", text.to_owned()),
        ("line", format!("2026-11-21T15:00:00Z INFO main: {text}")),
        ("json", log.to_string()),
        ("json in json", inner.to_string()),
        ("message", format!("Error: failed with: {text}")),
        ("quoted", format!("level=info msg={}", json(text))),
    ];
    let query = encoded(&format!("experiment=a,x={text}"));
    let url = format!("/api/v1/pods?labelSelector={query}&limit=500");
    places.push((
        "json of a url",
        serde_json::json!({"requestURI": url}).to_string(),
    ));
    places.push(("url", url));
    let plus = encoded(&format!("a=b,x={text}")).replace("%20", "+");
    places.push(("url in url", format!("/login?next={}", encoded(&query))));
    places.push(("form", format!("/x?q={plus}&y=1")));
    let words: Vec<&str> = text.split_whitespace().collect();
    if words.len() > 1 && !text.contains(['"', '\\', '|']) {
        let list = serde_json::json!({"args": words, "name": "x"}).to_string();
        let inner = serde_json::json!({"log": list.clone()}).to_string();
        places.push(("json of words", list));
        places.push(("json in json of words", inner));
        places.push(("words", format!("running ['{}']", words.join("', '"))));
    }
    if !text.contains('\n') {
        places.push(("list", format!("[\"sh\",\"-c\",{}]", json(text))));
        places.push(("yaml", format!("args:\n- {text}\nnext: 1")));
    }
    places
}

#[test]
fn no_kind_is_left_in_any_place() {
    let mut leaks = Vec::new();
    let mut count = 0;
    for (text, secret) in kinds() {
        for (place, whole) in places(&text) {
            count += 1;
            let clean = redact(&whole);
            let escaped = serde_json::to_string(&secret).unwrap();
            let is_encoded = place.contains("url") || place == "form";
            let seen = [
                clean.contains(&secret),
                clean.contains(escaped.trim_matches('"')),
                is_encoded && clean.contains(&encoded(&secret)),
                is_encoded && clean.contains(&encoded(&encoded(&secret))),
            ];
            if seen.contains(&true) {
                leaks.push(format!("{place}: {whole}\n   -> {clean}"));
            }
            if place.starts_with("json") {
                let whole: Result<serde_json::Value, _> = serde_json::from_str(&clean);
                if whole.is_err() {
                    leaks.push(format!("{place} is no JSON any more: {clean}"));
                }
            }
            let again = redact(&clean);
            if again != clean {
                leaks.push(format!("{place} is not stable: {clean}\n   -> {again}"));
            }
        }
    }
    assert!(
        leaks.is_empty(),
        "{} of {count}:\n{}",
        leaks.len(),
        leaks.join("\n")
    );
}

#[test]
fn a_list_of_arguments_tells_by_its_neighbours() {
    let of = |words: &[&str]| arguments(words.iter().map(|&word| word.to_owned()).collect());
    assert_eq!(
        of(&["serve", "--api-key", "X", "--port", "80"]),
        ["serve", "--api-key", MASK, "--port", "80"]
    );
    assert_eq!(of(&["curl", "-u", "a:b"]), ["curl", "-u", "a:[redacted]"]);
    assert_eq!(of(&["mysql", "-phunter2"]), ["mysql", "-p[redacted]"]);
    assert_eq!(of(&["x", "-token", "abc\"d"])[2], MASK);
    for (words, secret) in [
        (&["X-Auth-Token:", "abcdef9912"][..], 1),
        (&["curl", "-H", "Cookie:", "session=a1b2c3"], 3),
        (&["Authorization:", "Bearer", "a1b2c3d4e5"], 2),
        (&["aws_secret_access_key", "=", "a1b2c3d4"], 2),
        (
            &["machine", "h", "login", "bob", "password", "swordfish"],
            5,
        ),
        (&["x-api-key:", "a1b2c3d4"], 1),
        (&["passcode:", "33663056"], 1),
        (
            &["aws", "configure", "set", "aws_secret_access_key", "a1b2c3"],
            4,
        ),
        (&["the", "password", "is", "Tr0ub4dor"], 3),
        (
            &[
                "encryption",
                "key",
                "aZ3kQ9xLm2Wv7TbR4nYc8HfJ5pDs6GgE1uKiXoAqUwV=",
            ],
            2,
        ),
        (&["docker", "login", "-u", "a", "-p", "a1b2c3"], 5),
    ] {
        let clean = of(words);
        assert_eq!(clean.len(), words.len());
        for (number, (clean, word)) in clean.iter().zip(words).enumerate() {
            if number == secret {
                assert!(clean.contains(MASK) && !clean.contains(word), "{words:?}");
            } else {
                assert_eq!(clean, word, "{words:?}");
            }
        }
    }
    let healthy = [
        "python",
        "train.py",
        "--tokenizer",
        "gpt2",
        "--max-tokens",
        "512",
    ];
    assert_eq!(of(&healthy), healthy);
}

#[test]
fn a_key_tells_what_its_value_is() {
    assert_eq!(value("db-password", "two words"), MASK);
    assert_eq!(value("example.com/api-key", "X"), MASK);
    assert_eq!(value("checksum/secret", "true"), "true");
    assert_eq!(value("password-file", "/etc/x/y"), "/etc/x/y");
    assert_eq!(value("note", "password=hunter2"), "password=[redacted]");
    assert_eq!(value("kubernetes.io/psp", "restricted"), "restricted");
}

#[test]
fn lines_of_a_key_that_come_one_by_one_go() {
    let line = letters(64);
    let emitted = format!("{{\"log\":\"{line}\\n\",\"stream\":\"stdout\"}}");
    assert!(!redact(&emitted).contains(&line));
    for healthy in [
        "/usr/lib/python3/dist/packages/Torch/distributed/Elastic/agent/server/Api0/Something1",
        "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA",
        "ncclCommInitRankConfigWithSomeVeryLongNameThatIsOneSymbolAndHasNoDigitsAtAll",
        "_ZN5torch8autograd13AccumulateGradEvENKUlvE_clEvWithManyLettersOfACppSymbolName",
    ] {
        assert_eq!(redact(healthy), healthy);
    }
}

#[test]
fn what_is_read_otherwise_stays_where_it_is_healthy() {
    for healthy in [
        "45%|####5     | 450/1000 [07:30<09:10,  1.00s/it] 100%",
        "GET /api/v1/pods?labelSelector=app%3Dtrain%2Ctoken%3D&limit=500 200",
        "projects/p/logs/cloudaudit.googleapis.com%2Factivity",
        "{\"finalizers\":[\"a/b\",\"c/d\"],\"verbs\":[\"get\",\"secrets\",\"tokens\"]}",
        "[\"--secret\",\"pod-identity-webhook\",\"--token-file\",\"/var/run/x/token\"]",
        "{\"names\":[\"r.io/x@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef\",\"r.io/x:1\"]}",
        "use <token> and <secret> here",
        "password (optional), token(s), getpass(\"Enter the password\")",
        "references non-existent secret key: password",
        "loading private key: no such file or directory",
        "could not use bert as the password manager",
        "train.c:5432:12: error: x",
        "echo a:*:b",
        "gnu:*:4567:123:GNU:/home/gnu:/bin/bash",
        "openssl req -new -key privkey.pem -keyout x.pem -out cert.csr",
        "the command line specified by the trailer.<token>.command",
        "self.continue_token = Some(answer.continue_token);",
        "openssl version -k",
        "[rank0]: [\"a\", \"b\"] key: | value",
        "NCCL INFO Channel 00/02 : 0 1 2 3",
        "NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, name=python, GPU has fallen off the bus.",
    ] {
        assert_eq!(redact(healthy), healthy);
    }
}

/// How much of the healthy texts in a folder is changed, and how fast they are read.
#[test]
#[ignore = "needs REDACT_TEXTS, a folder of texts without secrets"]
fn healthy_texts_stay() {
    let folder = std::env::var("REDACT_TEXTS").unwrap();
    let (mut words, mut masks, mut bytes) = (0, 0, 0);
    let mut took = std::time::Duration::ZERO;
    for entry in walkdir::WalkDir::new(folder).into_iter().flatten() {
        let Ok(read) = std::fs::read(entry.path()) else {
            continue;
        };
        let mut plain = Vec::new();
        let mut gzip = flate2::read::GzDecoder::new(read.as_slice());
        let whole = std::io::Read::read_to_end(&mut gzip, &mut plain);
        let text = String::from_utf8_lossy(if whole.is_ok() { &plain } else { &read });
        for line in text.lines() {
            let begun = std::time::Instant::now();
            let clean = redact(line);
            took += begun.elapsed();
            bytes += line.len();
            let parts = line.split(|letter: char| !letter.is_alphanumeric());
            words += parts.filter(|word| !word.is_empty()).count();
            if clean != line {
                masks += clean.matches(MASK).count();
                println!("{}: {clean:.300}", entry.path().display());
            }
        }
    }
    println!("{masks} of {words} words, {bytes} bytes in {took:?}");
    assert!(masks * 10_000 < words, "{masks} of {words}");
}
