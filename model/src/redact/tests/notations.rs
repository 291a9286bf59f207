//! How commands, statements, programs and files write a secret; and what looks like that
//! and stays.

use super::super::fields;
use super::*;

fn goes(text: &str, secret: &str) {
    let clean = redact(text);
    assert!(!clean.contains(secret), "{text} -> {clean}");
    assert!(clean.contains(MASK), "{text} -> {clean}");
    assert_eq!(redact(&clean), clean, "not stable: {text}");
}

#[test]
fn the_words_of_a_command_in_an_address_go_as_arguments_do() {
    let of = |words: &[&str]| {
        let words = words.iter().map(|word| {
            let word = word
                .replace(':', "%3A")
                .replace('=', "%3D")
                .replace(' ', "+");
            format!("command={word}")
        });
        words.collect::<Vec<_>>().join("&")
    };
    for words in [
        &["mysql", "-h", "db", "--password", "hunter2x"][..],
        &["mysql", "-uroot", "-phunter2x", "app"],
        &["redis-cli", "-a", "hunter2x", "ping"],
        &["curl", "-u", "bob:hunter2x", "https://x"],
        &["tool", "--api-key", "hunter2x"],
        &["sshpass", "-p", "hunter2x", "ssh", "h"],
        &["ldapsearch", "-x", "-w", "hunter2x"],
        &["kubectl", "--token", "hunter2x", "get", "pods"],
        &[
            "docker",
            "login",
            "-u",
            "bob",
            "-p",
            "hunter2x",
            "r.example",
        ],
        &["sh", "-c", "mysql -phunter2x app"],
        &["curl", "-H", "X-Auth-Token: hunter2xhunter2x", "x"],
    ] {
        let query = of(words);
        for text in [
            format!("/api/v1/namespaces/a/pods/p/exec?{query}&container=main"),
            format!(r#"{{"uri":"/api/v1/namespaces/a/pods/p/exec?{query}&container=main"}}"#),
            format!(
                r#"{{"uri":"/p/exec?{}&container=main"}}"#,
                query.replace('&', r"\u0026")
            ),
        ] {
            goes(&text, "hunter2x");
            let clean = redact(&text);
            // Where a plus is a sign of base64 the value goes on behind it.
            let stays = words[0] == "sh" || clean.contains("container=main");
            assert!(stays, "{text} -> {clean}");
        }
    }
    for text in [
        "/api/v1/namespaces/a/pods/p/exec?command=python&command=train.py&command=--max_tokens&command=4096&container=main",
        "/exec?command=ls&command=-p&command=/data&container=main",
        "/exec?command=tar&command=cf&command=-&command=ckpt",
    ] {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn numbered_words_of_a_command_go_as_arguments_do() {
    goes(
        r#"type=EXECVE msg=audit(1.1:2): argc=3 a0="mysql" a1="--password" a2="hunter2x""#,
        "hunter2x",
    );
    goes(r#"argv[3]="--password" argv[4]="hunter2x""#, "hunter2x");
    for text in [
        r#"argc=3 a0="python" a1="--tokenizer" a2="llama3-8b""#,
        r#"argv[0]="train" argv[1]="--token_count" argv[2]="512""#,
    ] {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn notations_of_keys_and_values_go() {
    for (text, secret) in [
        ("os.environ['DB_PASSWORD'] = 'hunter2x'", "hunter2x"),
        ("[\"password\"] = \"hunter2x\",", "hunter2x"),
        ("[\"password\"]=> string(8) \"hunter2x\"", "hunter2x"),
        ("fs.s3a.secret.key=aZ3kQ9xLm2Wv7TbR", "aZ3kQ9x"),
        ("{\"password\":{\"value\":\"hunter2x\"}}", "hunter2x"),
        ("{\"passwords\":[\"hunter2x\",\"hunter3x\"]}", "hunter3x"),
        ("{&quot;password&quot;:&quot;hunter2x&quot;}", "hunter2x"),
        ("\u{1b}[1mpassword\u{1b}[0m: hunter2x", "hunter2x"),
        ("<add key=\"DbPassword\" value=\"hunter2x\"/>", "hunter2x"),
        (
            "<property value=\"hunter2x\" name=\"password\"/>",
            "hunter2x",
        ),
        ("<password><![CDATA[hunter2x]]></password>", "hunter2x"),
        (
            "{\"ParameterKey\":\"DbPassword\",\"ParameterValue\":\"hunter2x\"}",
            "hunter2x",
        ),
        ("env: [{name: DB_PASSWORD, value: hunter2x}]", "hunter2x"),
        (
            "- name: API_SECRET\n  value: |-\n    hunter2x\n- name: B",
            "hunter2x",
        ),
        ("password = \"\"\"\nhunter2x\n\"\"\"", "hunter2x"),
        ("  ~ password = \"old1\" -> \"hunter2x\"", "hunter2x"),
        ("db_password: str = 'hunter2x'", "hunter2x"),
        ("password `hunter2x` rejected", "hunter2x"),
        ("[1,0]<stderr>:password: hunter2x", "hunter2x"),
        ("SecretStr('hunter2x')", "hunter2x"),
        (
            "Ocp-Apim-Subscription-Key: 0123456789abcdef0123456789abcdef",
            "0123456789abcdef",
        ),
        (
            "x-functions-key: aZ3kQ9xLm2Wv7TbRaZ3kQ9xLm2Wv7TbR",
            "aZ3kQ9x",
        ),
        (
            "api-key: 0123456789abcdef0123456789abcdef",
            "0123456789abcdef",
        ),
        ("requirepass hunter2x", "hunter2x"),
        (
            "\"Cmd\": [\n \"--requirepass\",\n \"hunter2x\"\n]",
            "hunter2x",
        ),
        ("Bearer\taZ3kQ9xLm2Wv7TbR", "aZ3kQ9x"),
    ] {
        goes(text, secret);
    }
}

#[test]
fn accounts_without_a_word_for_the_password_go() {
    for (text, secret) in [
        ("ALTER USER 'app'@'%' IDENTIFIED BY 'hunter2x'", "hunter2x"),
        (
            "CREATE USER a IDENTIFIED WITH sha256_password BY 'hunter2x'",
            "hunter2x",
        ),
        ("app:hunter2x@tcp(db:3306)/x", "hunter2x"),
        (
            "requests.get('https://x', auth=('bob', 'hunter2x'))",
            "hunter2x",
        ),
        ("HTTPBasicAuth('bob', 'hunter2x')", "hunter2x"),
        ("db.auth(\"app\", \"hunter2x\")", "hunter2x"),
        ("skopeo copy --dest-creds=bob:hunter2x a b", "hunter2x"),
        ("skopeo copy --src-creds bob:hunter2x a b", "hunter2x"),
        ("redis AUTH default hunter2x", "hunter2x"),
        (
            "ConvertTo-SecureString \"hunter2x\" -AsPlainText",
            "hunter2x",
        ),
        ("http://h:8086/query?u=a&p=hunter2x&q=x", "hunter2x"),
        (
            "GET /x?PHPSESSID=0123456789abcdef0123456789abcdef",
            "0123456789abcdef",
        ),
        (
            "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"abc\",\"d\":\"4oj6Y0ya7iLe_2HN-e\"}",
            "4oj6Y0ya",
        ),
        (
            "{\\\"kty\\\":\\\"oct\\\",\\\"k\\\":\\\"uesKCLO-pxTZuXOP\\\"}",
            "uesKCLO",
        ),
    ] {
        goes(text, secret);
    }
}

#[test]
fn what_looks_like_them_stays() {
    for text in [
        "secret_santa=1 token_count=512 tokenizer=llama3 max_tokens=4096",
        "password_policy=strict",
        "{\"d\":\"4oj6Y0ya7iLe_2HN\",\"k\":\"top_k_sampling_50\"}",
        "log in with user:pass at the terminal",
        "batch['tokens'] = inputs['tokens']",
        "self.token_ids[\"input\"] = 3",
        "{\"tokens\":[\"the\",\"cat\"],\"token\":{\"value\":\"the\"}}",
        "secret.key: no such file or directory",
        "identified by its uid, the pod was evicted",
        "GET /v1/objects?key=step-000100&code=404",
        "sessionId=4f1c2d3e-1111-2222-3333-444455556666",
        "redis AUTH failed for user default",
        "auth = (a, b)",
        "dial tcp(10.0.0.1:3306): i/o timeout",
        "<span class=\"token\">the</span> &quot;step&quot;: 3",
        "\u{1b}[32mtoken\u{1b}[0m count 512",
        "psk negotiation took 3 ms",
    ] {
        assert_eq!(redact(text), text);
    }
}

#[test]
fn a_secret_goes_on_behind_a_seam() {
    let text = "P password: hunt\nF er2x end";
    let seam = text.find('\n').map(|at| at..at + 3);
    let seams: Vec<_> = seam.into_iter().collect();
    assert_eq!(
        pieces(text, &seams),
        "P password: [redacted]\nF [redacted] end"
    );
    let seams: Vec<_> = std::iter::once(4..7).collect();
    assert_eq!(pieces("step|F 12", &seams), "step|F 12");
}

#[test]
fn every_text_of_a_body_goes() {
    use crate::object::{ObjectBody, Taint};
    let secret = "password=hunter2x";
    let text = || Some(secret.to_owned());
    let mut body = ObjectBody {
        priority_class: text(),
        provider_id: text(),
        tolerations: Some(format!("[{{\"value\":\"{secret}\"}}]")),
        taints: vec![Taint {
            key: "a".to_owned(),
            value: secret.to_owned(),
            effect: "NoSchedule".to_owned(),
            added: None,
        }],
        ..ObjectBody::default()
    };
    body.node_selector.insert("a".to_owned(), secret.to_owned());
    body.node_selector
        .insert("gpu".to_owned(), "a100-80gb".to_owned());
    fields::body(&mut body);
    let shown = serde_json::to_string(&body).unwrap_or_default();
    assert!(!shown.contains("hunter2x"), "{shown}");
    assert!(
        shown.contains("a100-80gb") && shown.contains("NoSchedule"),
        "{shown}"
    );
}

/// Of two words that begin at one place the longer one is heard: a token's must not silence a key's.
#[test]
fn a_token_that_begins_like_a_key_hides_no_key() {
    for text in [
        "secret_value=hunter2x9Qz",
        "SECRET_DATA: hunter2x9Qz",
        "app_secret_1 = \"hunter2x9Qz\"",
        "{\"secret_key\":\"hunter2x9Qz\"}",
    ] {
        assert!(!redact(text).contains("hunter2x9Qz"), "{}", redact(text));
    }
    let (letters, hex) = (
        "aLbH6XtMe9T8sKwrSQvYDuUy",
        "0123456789abcdef0123456789abcdef",
    );
    for token in [
        "secret_aLbH6XtMe9T8sKwrSQvYDuUyPkWn5EqNjZm4JgoBFaL".to_owned(),
        format!("secret_{letters}_{hex}.{letters}ABCD1234"),
    ] {
        let clean = redact(&token).into_owned();
        assert!(!clean.contains(letters) && !clean.contains(hex), "{clean}");
    }
    assert_eq!(redact("secret_santa_list of 24"), "secret_santa_list of 24");
}

#[test]
fn a_value_ends_where_another_key_begins() {
    for parted in ["|", "/"] {
        let text = format!("cfg password=A1b2c3d4e5f6{parted}password: F6g7h8i9j0k1 end");
        goes(&text, "A1b2c3d4e5f6");
        goes(&text, "F6g7h8i9j0k1");
    }
    // The sign at the end of base64 begins no value.
    goes("password=A1b2c3d4e5f6/F6g7h8i9j0k1=", "F6g7h8i9j0k1");
    goes("password=A1b2c3d4e5f6/F6g7h8i9j0k1== x", "F6g7h8i9j0k1");
}
