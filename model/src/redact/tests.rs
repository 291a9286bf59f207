//! What goes and, as important, what stays.

mod attacked;
mod chance;
mod notations;
mod structure;

use super::*;

#[test]
fn secrets_go() {
    let jwt = "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl";
    let hex = "0123456789abcdef0123456789abcdef01234567";
    for (text, secret) in [
        (format!("Authorization: Bearer {jwt}"), jwt),
        ("curl -H 'authorization: Basic dXNlcjpwYXNz'".to_owned(), "dXNlcjpwYXNz"),
        ("\"Authorization\":[\"Bearer abc123def456\"]".to_owned(), "abc123def456"),
        (format!("got {jwt} here"), jwt),
        ("key AKIAIOSFODNN7EXAMPLE.".to_owned(), "AKIAIOSFODNN7EXAMPLE"),
        ("aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY".to_owned(), "wJalrXUtnFEMI/K7"),
        ("AWS_SECRET_ACCESS_KEY=wJalrXUtnFEMI".to_owned(), "wJalrXUtnFEMI"),
        ("\"private_key\": \"-----BEGIN PRIVATE KEY-----\\nMIIEvQ\\n-----END PRIVATE KEY-----\\n\"".to_owned(), "MIIEvQ"),
        ("-----BEGIN RSA PRIVATE KEY-----\nMIIEvQ\n".to_owned(), "MIIEvQ"),
        ("redis://user:hunter2@redis:6379/0".to_owned(), "hunter2"),
        ("postgres://:hunter2@db/x".to_owned(), "hunter2"),
        ("password=hunter2&x=1".to_owned(), "hunter2"),
        ("Password: hunter".to_owned(), "hunter"),
        ("{\"db_password\":\"hun\\\"ter 2\"}".to_owned(), "ter 2"),
        ("{\"password\":12345678}".to_owned(), "12345678"),
        ("{\"a\":\"{\\\"token\\\":\\\"abcdef99\\\"}\"}".to_owned(), "abcdef99"),
        ("{\"name\":\"DB_PASSWORD\",\"value\":\"hunter2\"}".to_owned(), "hunter2"),
        ("{\\\"name\\\":\\\"API_TOKEN_V2\\\",\\\"value\\\":\\\"hunter2\\\"}".to_owned(), "hunter2"),
        ("- name: DB_PASSWORD\n  value: hunter2\n".to_owned(), "hunter2"),
        ("--token abc123 --x".to_owned(), "abc123"),
        ("[\"--db-password\",\"hunter2\"]".to_owned(), "hunter2"),
        ("xoxb-123456789012-abcdef".to_owned(), "123456789012"),
        ("https://hooks.slack.com/services/T000/B000/XXXX".to_owned(), "XXXX"),
        ("ghp_0123456789abcdefghij0123456789abcdef".to_owned(), "0123456789abcdefghij"),
        ("OPENAI sk-proj-0123456789abcdefghijkl".to_owned(), "0123456789abcdefghijkl"),
        (format!("wandb login {hex}"), hex),
        (format!("WANDB_API_KEY={hex}"), hex),
        ("api_key: \"zzz\"".to_owned(), "zzz"),
        ("auth:token=abc".to_owned(), "abc"),
        ("refresh token=abc".to_owned(), "abc"),
        ("Args:\n      -H\n      X-Api-Key:\n      abc123def\n".to_owned(), "abc123def"),
        ("Fastly-Key: AbCdEfGhIjKlMnOpQrStUvWx".to_owned(), "AbCdEfGhIjKl"),
        ("bindpw hunter2ldap".to_owned(), "hunter2ldap"),
        ("bind_pw = \"hunter2ldap\"".to_owned(), "hunter2ldap"),
        ("dsn=root:hunter2@tcp(db:3306)/x".to_owned(), "hunter2"),
        ("args:\n- X-Auth-Token:\n- aZ3kQ9xLm2Wv7TbR\n- -x".to_owned(), "aZ3kQ9xLm2Wv7TbR"),
    ] {
        let clean = redact(&text);
        assert!(!clean.contains(secret), "{text} -> {clean}");
        assert!(clean.contains("[redacted]"), "{text} -> {clean}");
        assert_eq!(redact(&clean), clean, "not stable: {text}");
    }
}

#[test]
fn json_stays_json() {
    for text in [
        r#"{"password":12345678,"b":"x"}"#,
        r#"{"env":[{"name":"DB_PASSWORD","value":"hunter2"}],"c":{"token":"ab\"c"}}"#,
    ] {
        serde_json::from_str::<serde_json::Value>(&redact(text)).unwrap();
    }
}

#[test]
fn what_is_no_secret_stays() {
    for text in [
        "key-value store, key-0123, object key-of-the-room",
        "INFO train step=10 loss=4.1667 tokens_per_s=95530 rank=0",
        "{\"serviceAccountToken\":{\"expirationSeconds\":3607,\"path\":\"token\"}}",
        "{\"name\":\"kube-api-access-x\",\"projected\":{\"sources\":[{\"serviceAccountToken\":{}}]}}",
        "{\"secret\":{\"secretName\":\"default-token-abc12\"}}",
        "{\"name\":\"DB_PASSWORD\",\"valueFrom\":{\"secretKeyRef\":{\"name\":\"db\",\"key\":\"password\"}}}",
        "{\"name\":\"MAX_TOKENS_PER_BATCH\",\"value\":\"4096\"}",
        "{\"name\":\"TOKENIZERS_PARALLELISM\",\"value\":\"false\"}",
        "sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef",
        "4f0a36c4-7264-4802-b1ca-c0bc9a38ca26",
        "MountVolume.SetUp failed for volume \"x\" : secret \"db-password\" not found",
        "couldn't find key password in Secret research/db",
        "invalid token: signature is invalid",
        "https://registry.local:5000/team/image@sha256:0123",
        "rbac.authorization.k8s.io/v1",
        "Bearer authentication failed",
        "object-\"openshift-multus\"/\"multus-secret\": Failed to watch *v1.Secret: x",
        "arn:aws:secretsmanager:us-east-1:123837392027:secret:stratus-red-team-1",
        "--tls-secret=pod-identity-webhook",
        "{\"name\":\"STATS_PASSWORD_FILE\",\"value\":\"/var/lib/x/password1\"}",
        "task-0123456789abcdefghijklmnop",
        "commit 0123456789abcdef0123456789abcdef01234567",
        "password=$(DB_PASSWORD) token=<unset>",
        "volumes:\n- secret:\n    secretName: x-1\n- token:\n- default-token-abc12\npassword:\n  key1: x",
        "max_token=512 secret_count=3",
        "wandb: Run data is saved locally in /w/wandb/run-20261121",
    ] {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn odd_text_does_no_harm() {
    for text in [
        "password",
        "token=",
        "secret\u{fffd}=é",
        "://",
        "éAKIA",
        "password=é",
        "--token é",
    ] {
        let _text = redact(text);
    }
}

#[test]
fn what_an_audit_record_says_of_its_request_is_read_decoded() {
    use crate::event::{Event, EventId, SourceKind};
    use crate::observation::Observation;
    use crate::time::Stamp;

    let query = "labelSelector=experiment%3Dcanary%2Cx%3Dmysql%20-u%20x%20-phunter2&limit=5";
    let agent = "curl/8 (amqp%3A//u%3Ahunter2%40mq)";
    let kind = SourceKind::KubernetesAudit;
    let mut event = Event::new(EventId::of(&["x"]), "k8s.audit.delete", Stamp::OPEN, kind);
    event.set_attribute("selector", Some(query));
    event.set_attribute("user_agent", Some(agent));
    event.raw = redact(&format!("{{\"requestURI\":\"/api/v1/pods?{query}\"}}")).into_owned();
    let mut emitted = Observation::Event(Box::new(event));
    observation(&mut emitted);
    let Observation::Event(event) = emitted else {
        panic!("{emitted:?}");
    };
    let clean = "labelSelector=experiment%3Dcanary%2Cx%3Dmysql%20-u%20x%20-p[redacted]&limit=5";
    assert_eq!(event.attribute("selector"), Some(clean));
    assert_eq!(
        event.attribute("user_agent"),
        Some("curl/8 (amqp%3A//u%3A[redacted]%40mq)")
    );
    assert!(!event.raw.contains("hunter2"));
}

#[test]
fn a_sign_in_hexadecimal_digits_ends_a_word() {
    for (text, secret) in [
        ("x%3Dsk_live_0123456789abcdef", "0123456789abcdef"),
        ("x%3DAKIAIOSFODNN7EXAMPLE", "IOSFODNN7"),
        (
            "x%3dghp_0123456789abcdefghij0123456789abcdef",
            "0123456789abcdef",
        ),
        (
            "x%253Dhf_0123456789abcdefghijABCDEFGHIJ",
            "0123456789abcdef",
        ),
        (
            "%24%32b%2412%240123456789012345678901",
            "0123456789012345678901",
        ),
        ("contrase%C3%B1a%3A+hunter2%2C", "hunter2"),
    ] {
        let clean = redact(text);
        assert!(!clean.contains(secret), "{text} -> {clean}");
    }
    // Half a sign, half a letter, no sign at all.
    for text in ["100%", "%3", "%zz", "%C3 %FF%fe", "5%25", "é%3Dé", "%"] {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn odd_lists_do_no_harm() {
    for text in [
        "[\"password",
        "[\"a\",",
        "[\"a\",\"",
        "[\"password:\",\"é",
        "['a', \"b\"]",
        "[\\\"a\\\",\\\"token\\\"",
        "[\\",
        "[ \"a\" , \"password\" , \"b\" ]",
    ] {
        let clean = redact(text).into_owned();
        assert_eq!(redact(&clean), clean, "{text}");
    }
    let list = "[\"--password\",\"a\",\"x-api-key:\",\"b1c2d3\",[\"Cookie:\",\"s=abcdef\"]]";
    let clean = redact(list);
    let parsed: serde_json::Value = serde_json::from_str(&clean).unwrap();
    assert_eq!(
        parsed,
        serde_json::json!(["--password", MASK, "x-api-key:", MASK, ["Cookie:", MASK]])
    );
}

#[test]
fn long_hostile_texts_end() {
    for part in [
        "password=x ",
        "password_",
        "%41",
        "[\"password\",",
        "\"x-api-key:\",\"a1b2c3d4\",",
        "<password>",
        "passphrase: | a ",
        "password:\\n",
        "password...",
        "| password | a ",
        "('password', 'x', ",
        "{\"value\":\"x\",\"name\":\"token",
        "\"kind\":\"Secret",
        "\"kind\":\"Secret\",\"data\":{\"a\":[",
        "kind: Secret\ndata:\n",
        "data:\n  kind: Secret data: ",
        "stringData:{'a':'",
        "http -a curl -b ",
        "echo a:b | expect -c send ",
        "seed phrase a license key ",
        "?a=b+\"c\"+",
        "password: !a &b ",
    ] {
        let text = format!("[{}", part.repeat((1 << 20) / part.len()));
        let begun = std::time::Instant::now();
        let _clean = redact(&text);
        assert!(begun.elapsed().as_secs() < 20, "{part}");
    }
}

/// So many letters that chance might have made.
fn made(letters: &str, length: usize) -> String {
    let letters: Vec<char> = letters.chars().collect();
    (0..length)
        .map(|at| letters[(at * 7 + at * at * 3 + 5) % letters.len()])
        .collect()
}

#[test]
fn tokens_of_many_vendors_go() {
    let hex = |length| made("0123456789abcdef", length);
    let small = |length| made("abcdefghijklmnopqrstuvwxyz0123456789", length);
    let any = |length| made("abcdefghijkLMNOPQRSTUVWXYZ0123456789", length);
    let large = |length| made("ABCDEFGHIJKLMNOPQRSTUVWXYZ234567", length);
    let uuid = format!("{}-{}-4{}-8{}-{}", hex(8), hex(4), hex(3), hex(3), hex(12));
    let forms: Vec<(&str, String)> = vec![
        ("ABSK", any(100)),
        ("GOOG1", large(56)),
        ("LTAI", any(20)),
        ("AQVN", any(36)),
        ("K10", format!("{}::server:{}", hex(64), hex(32))),
        ("sha256~", any(43)),
        ("dt0c01.", format!("{}.{}", large(24), large(64))),
        ("fo1_", any(43)),
        ("fm2_", any(80)),
        ("v1.0-", format!("{}-{}", hex(24), hex(146))),
        ("HRKU-", any(36)),
        ("nfp_", any(36)),
        ("sb_secret_", any(31)),
        ("AKCp", any(69)),
        ("CLOJARS_", small(60)),
        ("oy2", small(43)),
        ("CCIPAT_", format!("{}_{}", any(22), hex(40))),
        ("bkua_", small(40)),
        ("squ_", hex(40)),
        ("sgp_", hex(40)),
        ("API-", large(26)),
        ("PMAK-", format!("{}-{}", hex(24), hex(34))),
        ("rdme_", small(70)),
        ("pnu_", any(36)),
        ("ico-", any(32)),
        ("KGAT_", hex(32)),
        ("lsv2_pt_", format!("{}_{}", hex(32), hex(10))),
        ("sk_", hex(48)),
        ("pcsk_", format!("{}_{}", any(6), any(60))),
        ("jina_", any(60)),
        ("tvly-", any(36)),
        ("p8e-", small(32)),
        ("pat", format!("{}.{}", any(14), hex(64))),
        ("pat-na1-", uuid.clone()),
        ("ATTA", hex(64)),
        ("sk.eyJ", format!("{}.{}", any(60), any(22))),
        ("shippo_live_", hex(40)),
        ("EZAK", any(54)),
        ("lin_oauth_", hex(64)),
        ("pdus+", any(30)),
        ("EAAA", any(60)),
        ("access-production-", uuid.clone()),
        (
            "access_token$production$",
            format!("{}${}", small(16), hex(32)),
        ),
        (
            "A3-",
            format!(
                "{}-{}-{}-{}-{}",
                large(6),
                large(11),
                large(5),
                large(5),
                large(5)
            ),
        ),
        ("Authorization: Splunk ", uuid.clone()),
        ("authorization: GenieKey ", uuid),
        ("KAGGLE_KEY=", hex(32)),
        (
            "{\"username\":\"ann\",\"key\":\"",
            format!("{}\"}}", hex(32)),
        ),
        (
            "{\\\"username\\\": \\\"ann\\\", \\\"key\\\": \\\"",
            format!("{}\\\"}}", hex(32)),
        ),
        (
            "{\"key\":\"",
            format!("{}\",\"username\":\"ann\"}}", hex(32)),
        ),
        ("FERNET_KEY: ", format!("{}=", any(43))),
        ("fernet key is ", format!("{}=", any(43))),
        ("Unseal Key 1: ", format!("{}=", any(43))),
        ("PresharedKey = ", format!("{}=", any(43))),
        ("aes-256 with key ", format!("{}=", any(43))),
        ("kubeadm join --certificate-key ", hex(64)),
        (
            "machine a.example login ann password ",
            "qwlrmxzkvbnt".to_owned(),
        ),
        (
            "machine a.example\n  login ann\n  password ",
            "qwlrmxzkvbnt".to_owned(),
        ),
        (
            "machine a.example\\n  login ann\\n  password ",
            "qwlrmxzkvbnt".to_owned(),
        ),
        (
            "machine a.example\\nlogin ann\\npassword ",
            "qwlrmxzkvbnt".to_owned(),
        ),
    ];
    for (before, secret) in forms {
        for text in [
            format!("{before}{secret}"),
            format!("told {before}{secret} to all"),
        ] {
            let clean = redact(&text);
            let core: String = secret.chars().skip(3).take(9).collect();
            assert!(!clean.contains(&core), "{text} -> {clean}");
            assert!(clean.contains(MASK), "{text} -> {clean}");
            assert_eq!(redact(&clean), clean, "not stable: {text}");
        }
    }
}

#[test]
fn what_looks_like_a_vendors_token_and_is_none_stays() {
    for text in [
        "pat-123 sk_x api-server API-SERVER-IS-DOWN k10 k10s sha256~ pnu_x eaaa",
        "SHA256:uNiVztksCsDhcc0u9e8BrrQXVUpKZIDTMczCvj3tD2s host key of gpu-7",
        "aes encryption is on, cipher aes-256-gcm, hmac-sha256 verified ok",
        "{\"username\":\"system:node:gpu-7\",\"key\":\"node.kubernetes.io/not-ready\"}",
        "{\"key\":\"nvidia.com/gpu\",\"operator\":\"Exists\"}",
        "the kubelet took 12 s to decode the desk and the peek of week 12",
        "rpa_ jina_ e2b_ nfp_ API-2024-11 fo1_ access-production-cluster",
        "v1.0-rc1 pat.0 sat.1 A3-HIGHGPU-8G a3-megagpu-8g",
        "machine gpu-7 user ann password authentication failed",
    ] {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn secrets_of_commands_and_of_texts_in_digits_go() {
    for (text, secret) in [
        (
            "crates token cio0123456789abcdefghijABCDEFGHIJkl",
            "abcdefghij",
        ),
        (
            "see tk-us-0123456789abcdefghijABCDEFGHIJ0123456789abcdefgh now",
            "abcdefghij",
        ),
        (
            "FLWSECK_TEST-0123456789abcdef0123456789abcdef-X",
            "89abcdef0123",
        ),
        (
            "mailchimp 0123456789abcdef0123456789abcdef-us12",
            "89abcdef0123",
        ),
        (
            "discord bot MTAxMjM0NTY3ODkwMTIzNDU2.Gx1y2z.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKL",
            "klmnopqrst",
        ),
        (
            "[client.admin]\n\tkey = AQDSUzdmZ0yZJhAAX3EXlX6Hl6dfVRLDdpaTsw==",
            "ZJhAAX3EXl",
        ),
        (
            "echo hunter2x | docker login -u a --password-stdin r.io",
            "hunter2x",
        ),
        (
            "printf '%s' 'hunter2x' | podman login -u a --password-stdin r.io",
            "hunter2x",
        ),
        (
            "docker login -u a --password-stdin r.io <<< hunter2x",
            "hunter2x",
        ),
        (r#"net use Z: \\h\s /user:bob hunter2x"#, "hunter2x"),
        ("7z x -phunter2x a.7z", "hunter2x"),
        ("zip -P hunter2x a.zip b", "hunter2x"),
        (
            "AWS_SECRET_ACCESS_KEY=/XTcHad15Jkm/qVbRsDTaKZSceBVbGpGqs1A9xQz",
            "qVbRsDTa",
        ),
        (
            "mc alias set lab http://minio:9000 admin hunter2x",
            "hunter2x",
        ),
        ("credentials=abcDEF0123456789abcDEF0123", "DEF0123456789"),
        (
            "git clone https://0123456789abcdefghijABCDEFGHIJ0123456789:x-oauth-basic@github.com/o/r.git",
            "abcdefghij",
        ),
        ("redis://:hunter2x@redis:6379/0", "hunter2x"),
        (r#"{"msg":"password=a\u0026hunter2x"}"#, "hunter2x"),
        (
            r#"{"log":"{\"msg\":\"password=a\\u0026hunter2x\"}"}"#,
            "hunter2x",
        ),
        ("/x?q=mysql+-u+root+-phunter2x", "hunter2x"),
        (
            r#"running ['redis-cli', "it's", '-a', 'hunter2x', 'ping']"#,
            "hunter2x",
        ),
    ] {
        let clean = redact(text);
        assert!(!clean.contains(secret), "{text} -> {clean}");
        assert!(clean.contains(MASK), "{text} -> {clean}");
        assert_eq!(redact(&clean), clean, "not stable: {text}");
    }
    for text in [
        "took 55.356µs in token validation, token=55.356µs, auth_token: 12ms",
        "echo ready | grep --line-buffered ready",
        "zip files are unpacked, 7z is not there, gzip -P",
        "the discord between rank 1 and rank 2, mailchimp is down",
        "a cio scheduler, tk-us-east is a region, tk-eu-west-1",
        r#"{"msg":"a \u003c b \u0026\u0026 c \u003e d"}"#,
        "net use is 12 GB, alias set for x",
    ] {
        assert_eq!(redact(text), text);
    }
}
