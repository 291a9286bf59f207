//! Secrets that are told by the form of what stands around them.

use super::{MASK, redact};
use crate::redact::{Lines, hidden_in_raw, without};

fn goes(text: &str, secret: &str) {
    let clean = redact(text);
    assert!(!clean.contains(secret), "{text} -> {clean}");
    assert!(clean.contains(MASK), "{text} -> {clean}");
    assert_eq!(redact(&clean), clean, "not stable: {text}");
}

#[test]
fn what_stands_beside_its_key_goes() {
    for text in [
        "[('user', 'a'), ('password', 'pearlBasil25')]",
        "OrderedDict([('password', 'pearlBasil25')])",
        "[(b'db_password', b'pearlBasil25')]",
        r#"["password","pearlBasil25"]"#,
        r#"{"args":"[\"password\",\"pearlBasil25\"]"}"#,
        "| password | pearlBasil25 |",
        "│ db_password │ pearlBasil25 │",
        "│ 3 ┃ api_key ┃ pearlBasil25 ┃",
        " password | pearlBasil25",
        "password .............. pearlBasil25",
        "api_key -----> pearlBasil25",
        "passphrase -> pearlBasil25",
        r#"{"value":"pearlBasil25","name":"DB_PASSWORD"}"#,
        r#"{"log":"{\"value\":\"pearlBasil25\",\"name\":\"DB_PASSWORD\"}"}"#,
        r#"[{"value":"1","name":"A"},{"value":"pearlBasil25","name":"X_TOKEN"}]"#,
        "- name: API_TOKEN   value: pearlBasil25",
        "- name: API_TOKEN   value: \"pearlBasil25\"",
        "password: !!str pearlBasil25",
        "password: &pw pearlBasil25",
        "{\"msg\":\"password: &pw !!str pearlBasil25\"}",
        "db_pw=pearlBasil25",
        "user: bob pass: pearlBasil25",
        "{'user': 'bob', 'pass': 'pearlBasil25'}",
        "plink -ssh -pw pearlBasil25 h",
        "keytool -list -storepass pearlBasil25 -keystore k",
        "REDISCLI_AUTH=pearlBasil25 redis-cli ping",
        "client_assertion=pearlBasil25&x=1",
        "Password for 'https://bob@github.com': pearlBasil25",
        "Enter passphrase for key '/home/bob/.ssh/id_rsa': pearlBasil25",
        "[sudo] password for bob: pearlBasil25",
        "connect(password: |\n  pearlBasil25 b\nnext: 1)",
    ] {
        goes(text, "pearlBasil25");
    }
    let hex = "85037d252d47cb8583abb57bcc4a5385";
    goes(&format!("\"routing_key\": \"{hex}\""), hex);
    let key = "2npdjQrO8ds7MlhWhqKwyxckCGIjKzeG";
    goes(&format!("Incorrect API key provided: {key}. See x"), key);
}

#[test]
fn what_stands_beside_a_word_that_is_no_key_stays() {
    for text in [
        "| token | count |",
        "| password | status | routing_key |",
        "│ token │ 512 │",
        "fields = ('password', 'email')",
        r#"["password","username"]"#,
        r#"["token","gpt2"]"#,
        "grep password | sha256sum",
        "tokens .......... 512",
        "token ............ done",
        r#"{"value":"512","name":"MAX_TOKENS"}"#,
        r#"{"value":"x","name":"A"},{"name":"DB_PASSWORD"}"#,
        r#"{"value":"a1b2c3d4","name":"DB_PASSWORD_ID"}"#,
        r#"{"name":"IMAGE","value":"lab/x:1"}],"image":"y","name":"cloud-credential-operator""#,
        "- name: TOKEN_PATH value: /var/run/secrets/x/token",
        "a token value: 0.5",
        "pass: 3/10",
        "pass: test_module1::test_a",
        "pass: 4f0a36c4-7264-4802-b1ca-c0bc9a38ca26",
        "forward pass: 12.5ms, pass: epoch100, pass=2",
        "drew 12 pW, pw: 12.5, n_pw=12",
        "routing_key: default",
        "routing_key=tasks.train.gpu-7",
        "routing_key='lab.train-7f9c8d6b5-x2x4z'",
        "{\"pass\":\"ok\"} test_pass: ok, pass@10: 0.71",
        "product key: NVIDIA-A100-SXM4-80GB",
        "token -> 0x7f3a12bc",
        "server_key: 0123456789abcdef0123456789abcdef01234567",
        "tokens: 512",
        "Password for bob: authentication failed",
        "password: (hidden)",
        "Invalid API key provided.",
        "a seed phrase is twelve words",
        "license key is missing",
    ] {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn every_value_of_a_secret_object_goes() {
    for text in [
        r#"{"apiVersion":"v1","data":{"db":"cGVhcmw="},"kind":"Secret"}"#,
        r#"{"kind":"Secret","metadata":{"name":"x"},"data":{"db":"cGVhcmw="}}"#,
        r#"{"a":"{\"kind\":\"Secret\",\"data\":{\"db\":\"cGVhcmw=\"}}"}"#,
        r#"{"stringData":{"db":"cGVhcmw="},"immutable":true}"#,
        r#"{"kind":"SecretList","items":[{"data":{"db":"cGVhcmw="}}]}"#,
        "apiVersion: v1\ndata:\n  prod.conf: cGVhcmw=\nkind: Secret\n",
        "kind: Secret\ndata:\n  prod.conf: cGVhcmw=\ntype: Opaque",
        "{\"a\":\"kind: Secret\\nstringData:\\n  prod.conf: cGVhcmw=\\n\"}",
        "apiVersion: v1 kind: Secret data:   prod.conf: cGVhcmw= type: Opaque",
    ] {
        goes(text, "cGVhcmw=");
    }
    let clean = redact(r#"{"kind":"Secret","data":{"a":"eA==","b":"eQ=="},"type":"Opaque"}"#);
    let parsed: serde_json::Value = serde_json::from_str(&clean).unwrap();
    assert_eq!(parsed["data"], serde_json::json!({"a": MASK, "b": MASK}));
    assert_eq!(parsed["type"], "Opaque");
    for text in [
        r#"{"kind":"ConfigMap","data":{"a":"x1"}}"#,
        r#"{"metadata":{"name":"x1"},"kind":"Secret"}"#,
        r#"{"kind":"SecretList","metadata":{"name":"x1"}}"#,
        "kind: Secret\nmetadata:\n  name: x1\n",
        r#"{"involvedObject":{"kind":"Secret","name":"db"},"data":{"a":"x1"}}"#,
        r#"{"kind":"SecretProviderClass","data":{"a":"x1"}}"#,
        "kind: ConfigMap\ndata:\n  a: x1",
        "kind: Secret is not found, data: none",
    ] {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn a_key_in_one_line_goes_to_its_end() {
    let line = "axjBQUxUvSuLyZCEABQJ3GBoWSp9JdIxCcbZFexAL9qrcYRoEhRxgc4N900ja4XY";
    for (text, tail) in [
        (
            format!("PuTTY-User-Key-File-3: ssh-rsa Private-Lines: 2 {line} i12Ws Private-MAC: 00"),
            "i12Ws",
        ),
        (
            format!("(python -----BEGIN RSA PRIVATE KEY----- {line} {line} Mp0c4N9) total-vm:1kB"),
            "Mp0c4N9",
        ),
    ] {
        goes(&text, tail);
        goes(&text, &line[..20]);
    }
    let told = format!("-----BEGIN RSA PRIVATE KEY----- {line} was cut here");
    assert!(redact(&told).ends_with("was cut here"));
    assert!(redact("Private-Lines: 2 x Private-MAC: 00").ends_with("Private-MAC: 00"));
}

#[test]
fn commands_are_told_secrets() {
    for text in [
        "snmpwalk -v3 -u bob -A pearlBasil25 -X y h",
        "snmpget -v3 -u bob -A aa -X pearlBasil25 h",
        "ipmitool -I lanplus -H bmc -U admin -P pearlBasil25 power status",
        "sqlcmd -S db -U sa -P pearlBasil25 -Q x",
        "ssh-keygen -t rsa -N 'pearlBasil25' -f k",
        "mongo -u a -p pearlBasil25 --authenticationDatabase admin",
        r#"["mongo","-u","a","-p","pearlBasil25"]"#,
        "http -a bob:pearlBasil25 GET x",
        r#"["http","-a","bob:pearlBasil25"]"#,
        "curl -b 'session=pearlBasil25' https://x",
        "curl -u a:pearlBasil25 --cookie s=xyz https://x",
        "mc config host add lab http://minio:9000 admin pearlBasil25",
        "echo 'pearlBasil25' | sudo -S reboot",
        "sudo -S reboot <<< pearlBasil25",
        "echo \"root:pearlBasil25\" | chpasswd",
        "chpasswd <<< 'root:pearlBasil25'",
        "expect -c 'send \"pearlBasil25\\r\"' # password",
        "expect \"Password:\" { send \"pearlBasil25\\r\" }",
        "jdbc:oracle:thin:scott/pearlBasil25@//db:1521/x",
        "sqlplus -s scott/pearlBasil25@db",
        "/x?q='password'+=>+'pearlBasil25'",
        "/x?q=docker+login+-u+bob+-p+'pearlBasil25'+r.io",
    ] {
        goes(text, "pearlBasil25");
    }
    for text in [
        "echo 'done' | sudo tee /x",
        "curl -b cookies.txt https://x",
        "http - the protocol, -a is an option",
        "ssh-keygen -t ed25519 -N '' -f k",
        "ipmitool -I lanplus -H bmc -U admin power status",
        "expect \"ready\" then send \"yes\\r\"",
        "mongo is up, -p is a port",
        "jdbc:oracle:thin:@//db:1521/x",
        "rsync -a -p /a /b; snmpwalk -v2c h",
        "https://discuss.pytorch.org/t/how-to-train-a-model-on-8-gpus/12345",
    ] {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn tokens_and_hashes_known_by_their_form_go() {
    let any = "kfnx4csAkR2oohBKLD6jYPNZb6y1iTq7";
    let hex = "efcb683f06f56e5643beb65c4c7a22b0";
    let words = "kayak basil jolly ivory ivory viola waltz haven pearl grove xenon basil";
    for (text, secret) in [
        (format!("https://conda.example/t/{any}/lab/linux-64"), any),
        (format!("got rnd_{any} from"), any),
        (format!("got re_F3gQ5gQy_{any} from"), any),
        (format!("got xoxc-1234567890123-1234567890123-{hex}"), hex),
        (format!("vercel_blob_rw_5EsYdQ4pgzbqSC7r_{any}"), any),
        (format!("AQ.Ab8RN6_{any}"), any),
        (format!("csk-{any}{any}"), any),
        (format!("got dose{hex} from"), hex),
        (format!("AAAANSn34Yv:APA91b{any}{any}"), any),
        (format!("pbkdf2_sha256$260000$salt1234${any}="), any),
        (format!("pbkdf2:sha256:600000$salt1234${any}"), any),
        (
            format!("Authorization: Digest username=\"bob\", uri=\"/\", response=\"{hex}\""),
            hex,
        ),
        (format!("seed phrase: {words}"), words),
        ("license key: I2FY5-BH4LF-VBMPM-KJU36".to_owned(), "BH4LF"),
    ] {
        goes(&text, secret);
    }
    let id = "FnKxKk3nIJCSBbI7zMbVLTjYN7TxmhrRApqcQgQbO4vR41GSAkVfHy2I0ikekCWpYvwXuynkdvEA";
    for text in [
        format!("x-amz-id-2: {id}"),
        format!("'HostId': '{id}'"),
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJd8s0WbX3nVtYw8RkLs2JdNhGfPcUo5TeXiWaZy9vBn a@lab"
            .to_owned(),
        "store_feature_re_x re_abc rnd_state=12 dose of 12 mg csk-1 AQ.x".to_owned(),
        "/t/0123 vercel_blob_rw_ :APA91 response=\"ok\"".to_owned(),
    ] {
        assert_eq!(redact(&text), text);
        assert_eq!(Lines::default().hidden(&text), None);
    }
}

#[test]
fn values_on_lines_of_their_own_go() {
    let emitted = |lines: &[&str]| -> Vec<String> {
        let mut before = Lines::default();
        let one = |line: &&str| match before.hidden(line) {
            Some(hidden) => without(line, line, hidden).0,
            None => redact(line).into_owned(),
        };
        lines.iter().map(one).collect()
    };
    for (lines, at, clean) in [
        (
            &["- name: DB_PASSWORD", "  value: pearlBasil25", "x"][..],
            1,
            "  value: [redacted]",
        ),
        (
            &["\"name\": \"API_TOKEN\",", "\"value\": \"pearlBasil25\""],
            1,
            "\"value\": \"[redacted]\"",
        ),
        (
            &[
                "kind: Secret",
                "metadata:",
                "  name: x",
                "data:",
                "  a.b: eHl6",
            ],
            4,
            "  a.b: [redacted]",
        ),
        (
            &["kind: Secret", "apiVersion: v1", "data:", "  a.b: x1"],
            3,
            "  a.b: [redacted]",
        ),
        (
            &["apiVersion: v1", "data:", "  a.b: cGVhcmw0", "kind: Secret"],
            2,
            "  a.b: [redacted]",
        ),
        (
            &["connect(password: |", "  pearl basil", "next: 1)"],
            1,
            "  [redacted]",
        ),
        (
            &["    password: !!str |", "      pearl basil", "    next: 1)"],
            1,
            "      [redacted]",
        ),
    ] {
        let found = emitted(lines);
        assert_eq!(found[at], clean);
        for (number, line) in lines.iter().enumerate().filter(|(number, _)| *number != at) {
            assert_eq!(&found[number], line);
        }
    }
    let healthy = [
        "- name: TOKEN_FILE",
        "  value: /var/run/x",
        "- name: MAX_TOKENS",
        "  value: \"512\"",
        "- name: token",
        "  image: a1b2c3d4e5",
        "apiVersion: v1",
        "data:",
        "  config.yaml: debug",
        "kind: ConfigMap",
        "kind: Secret",
        "---",
        "data:",
        "  a: x1",
        "- apiVersion: v1",
        "  kind: Secret",
        "- apiVersion: v1",
        "  kind: ConfigMap",
        "  data:",
        "    a: x1",
    ];
    assert_eq!(emitted(&healthy), healthy);
}

#[test]
fn what_stands_before_or_below_its_key_goes() {
    for text in [
        "- value: pearlBasil25\n  name: DB_PASSWORD",
        "env: - value: pearlBasil25   name: DB_PASSWORD",
        r#"{"log":"- value: pearlBasil25\n  name: DB_PASSWORD"}"#,
        "- name: DB_PASSWORD\n  # the password\n  value: pearlBasil25",
        "- name: DB_PASSWORD   # the password   value: pearlBasil25",
        "- name: API_SECRET   value: |-     pearlBasil25 - name: B",
        "{\n  \"password\":\n    \"pearlBasil25\"\n}",
        r#"{"log":"{\n  \"password\":\n    \"pearlBasil25\"\n}"}"#,
        "Args:\n  --user\n  a\n  --password\n  pearlBasil25",
        r#"{"m":"Args:\n  --password\n  pearlBasil25"}"#,
        "args: - --user=a - --password - pearlBasil25 - --x",
        r#"{"m":"[\n  \"--requirepass\",\n  \"pearlBasil25\"\n]"}"#,
        r#"Db { password: Secret("pearlBasil25") }"#,
        r#"{"m":"Db { password: Secret(\"pearlBasil25\") }"}"#,
        "Db {\n  password: Some(\n    \"pearlBasil25\",\n  ),\n}",
        r#"{"m":"Db {\n  password: Some(\n    \"pearlBasil25\",\n  )"}"#,
        r#"{password,"pearlBasil25"}"#,
        r#"{password,<<"pearlBasil25">>}"#,
        "userPassword:: cGVhcmxCYXNpbDI1",
        "type=EXECVE\targc=3\ta0=\"mysql\"\ta1=\"--password\"\ta2=\"pearlBasil25\"",
        r#"{"\u0070assword":"pearlBasil25"}"#,
        "a1 LOGIN bob pearlBasil25",
        "> PASS pearlBasil25",
    ] {
        let secret = if text.contains("::") {
            "cGVhcmxCYXNpbDI1"
        } else {
            "pearlBasil25"
        };
        goes(text, secret);
    }
}

#[test]
fn headers_and_tokens_go_whole() {
    let long = "P84pzjTPQblkgWa6NHAEU88vexLUCjJK3Pu2tjrTQ69GlxDZxf0Q-yI38qa_PCGfIa98acNH";
    for (before, after) in [
        ("read sl.u.", " from disk"),
        ("v4.local.", ""),
        ("v2.public.", " end"),
    ] {
        goes(&format!("{before}{long}{after}"), &long[long.len() - 20..]);
    }
    for text in [
        r#"Authorization: OAuth oauth_token="X0sBx5IVb7BOw42N6iF0D172w36", oauth_nonce="1""#,
        r#"{"h":"Authorization: OAuth oauth_token=\"X0sBx5IVb7BOw42N6iF0D172w36\", oauth_nonce=\"1\""}"#,
    ] {
        goes(text, "X0sBx5IVb7BOw42N6iF0D172w36");
    }
    goes(
        "PRIVATE-TOKEN: XEpaanaypYWDeNvnAxMR",
        "XEpaanaypYWDeNvnAxMR",
    );
    goes(
        r#"cohere.Client("1U1PKLhC41Qi78ANKxLSoKDRHmQaA8dmW0EqJjxI")"#,
        "1U1PKLhC41Qi78ANKxLSoKDRHmQaA8dmW0EqJjxI",
    );
}

/// A plus is a space in what follows the address of a request, which an audit record keeps
/// by itself.
#[test]
fn a_query_without_its_address_is_read_with_spaces() {
    for text in [
        "labelSelector=the+password+for+bob+is+pearlBasil25.",
        "labelSelector=sshpass+-ppearlBasil25+ssh+h",
        "labelSelector=mysql+-uroot+-ppearlBasil25+-h+db",
        "labelSelector=snmp-server+community+pearlBasil25+RO",
        "labelSelector=argv%5B3%5D%3D%22--password%22+argv%5B4%5D%3D%22pearlBasil25%22",
        "a?x=%7B%26quot%3Bpassword%26quot%3B%3A%26quot%3BpearlBasil25%26quot%3B%7D",
        "a?x=%1B%5B1mpassword%1B%5B0m%3A%20pearlBasil25",
    ] {
        goes(text, "pearlBasil25");
    }
    for text in [
        "labelSelector=app+in+%28a%2Cb%29",
        "x=1+2",
        "sum=AbCd+EfGh/12",
    ] {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn what_only_looks_like_a_key_before_its_value_stays() {
    for text in [
        "- value: 3\n  name: BATCH_SIZE",
        "the value: high name: token refresh",
        "  --token\n      Bearer token for authentication to the API server",
        "password:\n  \"the password is wrong\"",
        "\"token\":\n    \"name\": 1",
        "std::password::Error",
        "PASS tests/model_test.py",
        "> PASS src/a.test.js",
        "a1 LOGIN failed for 3 users",
        "docker-client(\"unix:///var/run/docker.sock\")",
        "openssl.org/docs and sl.example",
        "v4.local.example.org",
    ] {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn a_value_on_the_line_below_goes_where_each_line_is_a_record() {
    for (lines, secret) in [
        (
            vec![
                "args:",
                "- --user=a",
                "- --password",
                "- pearlBasil25",
                "- --x",
            ],
            3,
        ),
        (vec!["  --password", "  pearlBasil25"], 1),
        (vec!["    \"--requirepass\",", "    \"pearlBasil25\""], 1),
        (vec!["  \"password\":", "    \"pearlBasil25\""], 1),
        (
            vec!["  password: Some(", "    \"pearlBasil25\",", "  ),"],
            1,
        ),
        (
            vec![
                "- name: DB_PASSWORD",
                "  # the password",
                "  value: pearlBasil25",
            ],
            2,
        ),
        (
            vec![
                "- name: API_SECRET",
                "  value: |-",
                "    pearlBasil25",
                "- name: B",
            ],
            2,
        ),
        (vec!["password = \"\"\"", "pearlBasil25", "\"\"\""], 1),
        (
            vec![
                "Content-Disposition: form-data; name=\"password\"",
                "",
                "pearlBasil25",
            ],
            2,
        ),
    ] {
        let mut before = Lines::default();
        for (number, line) in lines.iter().enumerate() {
            let hidden = before.hidden(line);
            let clean = match hidden {
                Some(hidden) => without(line, line, hidden).0,
                None => redact(line).into_owned(),
            };
            if number == secret {
                assert!(!clean.contains("pearlBasil25"), "{lines:?}: {clean}");
            } else {
                assert_eq!(clean, *line, "{lines:?}");
            }
        }
    }
    let healthy = [
        "usage: tool --password",
        "  the password of the store",
        "retrying with token:",
        "INFO rank 3 of gpu-17a is ready",
        "password:",
        "  \"the password is wrong\"",
        "waiting for the secret,",
        "worker-7b2 joined",
    ];
    let mut before = Lines::default();
    for line in healthy {
        assert_eq!(before.hidden(line), None, "{line}");
    }
}

#[test]
fn what_goes_from_a_message_goes_from_its_raw_text() {
    let message = "ValueError: bad settings: password:\nTr0ub4dor3xKq\ndone";
    let raw = "2026-11-20T10:00:00Z stderr F ValueError: bad settings: password:\n2026-11-20T10:00:00Z stderr F Tr0ub4dor3xKq\n2026-11-20T10:00:00Z stderr F done";
    let clean = redact(message);
    assert!(!clean.contains("Tr0ub4dor3xKq"), "{clean}");
    let hidden = hidden_in_raw(message, &clean, raw.to_owned());
    assert!(!hidden.contains("Tr0ub4dor3xKq"), "{hidden}");
    assert!(
        hidden.ends_with("F done") && hidden.contains("bad settings"),
        "{hidden}"
    );
}

#[test]
fn beside_a_user_a_short_word_is_a_password() {
    goes(
        "cannot log in: user: bob, pass: qlwkejrhtzui",
        "qlwkejrhtzui",
    );
    goes("user=bob pass=qlwkejrhtzui host=db", "qlwkejrhtzui");
    let steps = "step 3: pass: backward, user code in train.py";
    assert_eq!(redact(steps), steps);
}
