//! Signing in by the word of an identity provider, which this test plays.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use aws_lc_rs::rand::SystemRandom;
use aws_lc_rs::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair as _};
use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

use super::browser::Browser;
use super::{LAB, judge};
use crate::service::Service;

const SECRET: &str = "secret-of-the-client-01";

/// A provider that lets everybody in, as the person whom the test chose.
struct Provider {
    issuer: String,
    person: Arc<Mutex<Value>>,
}

struct State {
    issuer: String,
    keys: EcdsaKeyPair,
    person: Arc<Mutex<Value>>,
    /// What was asked for with the last code.
    asked: BTreeMap<String, String>,
}

impl Provider {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        // Another site than the service's, as providers are.
        let issuer = format!("http://localhost:{port}");
        let person = Arc::new(Mutex::new(Value::Null));
        let mut state = State {
            issuer: issuer.clone(),
            keys: EcdsaKeyPair::generate(&ECDSA_P256_SHA256_FIXED_SIGNING).unwrap(),
            person: Arc::clone(&person),
            asked: BTreeMap::new(),
        };
        std::thread::spawn(move || {
            for stream in listener.incoming().map_while(Result::ok) {
                state.answer(stream);
            }
        });
        Self { issuer, person }
    }

    fn is(&self, person: Value) {
        *self.person.lock().unwrap() = person;
    }
}

impl State {
    fn answer(&mut self, mut stream: TcpStream) {
        let mut reader = BufReader::new(stream.try_clone().unwrap());
        let mut first = String::new();
        reader.read_line(&mut first).unwrap_or_default();
        let (mut length, mut authorization) = (0, String::new());
        for line in reader.by_ref().lines().map_while(Result::ok) {
            if line.is_empty() {
                break;
            }
            let (name, value) = line.split_once(": ").unwrap_or_default();
            match name.to_lowercase().as_str() {
                "content-length" => length = value.parse().unwrap(),
                "authorization" => authorization = value.to_owned(),
                _ => {}
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body).unwrap();
        let target = first.split(' ').nth(1).unwrap_or("/");
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let reply = match path {
            "/.well-known/openid-configuration" => page(
                "200 OK",
                &json!({"issuer": self.issuer, "authorization_endpoint": format!("{}/authorize", self.issuer),
                    "token_endpoint": format!("{}/token", self.issuer), "jwks_uri": format!("{}/keys", self.issuer)}),
            ),
            "/keys" => {
                let point = self.keys.public_key().as_ref();
                page(
                    "200 OK",
                    &json!({"keys": [{"kty": "EC", "crv": "P-256", "kid": "k", "use": "sig",
                        "x": URL_SAFE_NO_PAD.encode(&point[1..33]), "y": URL_SAFE_NO_PAD.encode(&point[33..65])}]}),
                )
            }
            "/authorize" => {
                self.asked = pairs(query);
                let (back, state) = (&self.asked["redirect_uri"], &self.asked["state"]);
                format!(
                    "HTTP/1.1 303 See Other\r\nlocation: {back}?code=code-1&state={state}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
                )
            }
            "/token" => self.token(&authorization, &String::from_utf8(body).unwrap()),
            _ => page("404 Not Found", &json!({})),
        };
        stream.write_all(reply.as_bytes()).ok();
    }

    fn token(&self, authorization: &str, body: &str) -> String {
        let sent = pairs(body);
        let client = STANDARD.encode(format!("whathappened:{SECRET}"));
        let challenge = URL_SAFE_NO_PAD.encode(Sha256::digest(sent["code_verifier"].as_bytes()));
        let is_right = sent["code"] == "code-1"
            && sent["grant_type"] == "authorization_code"
            && sent["redirect_uri"] == self.asked["redirect_uri"]
            && authorization == format!("Basic {client}")
            && self.asked["code_challenge"] == challenge
            && self.asked["code_challenge_method"] == "S256";
        if !is_right {
            return page("400 Bad Request", &json!({"error": "invalid_grant"}));
        }
        #[expect(
            clippy::disallowed_methods,
            reason = "a provider's tokens are of now, and the service has a clock of its own"
        )]
        let now = SystemTime::now()
            .duration_since(UNIX_EPOCH)
            .unwrap()
            .as_secs();
        let mut claims = json!({"iss": self.issuer, "aud": "whathappened", "iat": now, "exp": now + 300,
            "nonce": self.asked["nonce"], "sub": "u-1"});
        for (name, value) in self
            .person
            .lock()
            .unwrap()
            .as_object()
            .into_iter()
            .flatten()
        {
            claims[name] = value.clone();
        }
        let part = |value: &Value| URL_SAFE_NO_PAD.encode(value.to_string());
        let text = format!(
            "{}.{}",
            part(&json!({"alg": "ES256", "kid": "k"})),
            part(&claims)
        );
        let signature = self
            .keys
            .sign(&SystemRandom::new(), text.as_bytes())
            .unwrap();
        let token = format!("{text}.{}", URL_SAFE_NO_PAD.encode(signature.as_ref()));
        page(
            "200 OK",
            &json!({"access_token": "a", "token_type": "Bearer", "id_token": token}),
        )
    }
}

fn page(status: &str, body: &Value) -> String {
    let body = body.to_string();
    format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
}

fn pairs(text: &str) -> BTreeMap<String, String> {
    let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    pairs
        .map(|(name, value)| (name.to_owned(), decoded(value)))
        .collect()
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        match byte {
            b'+' => bytes.push(b' '),
            b'%' => {
                let digits = [rest.next().unwrap(), rest.next().unwrap()];
                let digits = String::from_utf8(digits.to_vec()).unwrap();
                bytes.push(u8::from_str_radix(&digits, 16).unwrap());
            }
            byte => bytes.push(byte),
        }
    }
    String::from_utf8(bytes).unwrap()
}

/// A service whose people a provider knows; the provider has to know its address before it starts.
pub(super) fn service(issuer: &str, address: &str, more: &str) -> Service {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let store = at("store");
    let (code, _, err) = crate::whathappened(&["import", LAB, "--store", &store]);
    assert_eq!(code, Some(0), "{err}");
    std::fs::write(at("secret"), SECRET).unwrap();
    let config = format!(
        "[serve]\npublic_url = 'http://{address}'\n[serve.oidc]\nissuer = '{issuer}'\nclient_id = 'whathappened'\n\
         client_secret_file = '{}'\ntitle = 'the lab'\n{more}\n\
         [[serve.oidc.group]]\nname = 'platform'\n\
         [[serve.oidc.group]]\nname = 'strangers'\nnamespaces = ['no-such-namespace']\nrights = ['ask']\n",
        at("secret"),
    );
    Service::at(address, &store, &config, &["--no-fetch"], folder, &[])
}

fn with(provider: &Provider) -> Service {
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap().to_string();
    drop(free);
    service(&provider.issuer, &address, "")
}

#[test]
fn a_sign_in_is_of_one_browser_and_one_person() {
    let provider = Provider::start();
    let service = with(&provider);
    assert_eq!(service.get("/fleet", &[]).status, 303);
    let form = service.get("/login?next=%2Ffleet", &[]).text();
    assert!(form.contains("Sign in with the lab"), "{form}");
    let begun = service.get("/login/oidc?next=%2Ffleet", &[]);
    assert_eq!(begun.status, 303, "{}", begun.text());
    assert!(
        begun.head.contains("httponly; samesite=lax"),
        "{}",
        begun.head
    );
    // What nobody began leads nowhere.
    for path in [
        "/login/oidc/callback?code=code-1&state=made-up",
        "/login/oidc/callback",
        "/login/oidc/callback?error=access_denied&state=x",
    ] {
        let told = service.get(path, &["cookie: whathappened-sign-in=x"]);
        assert_eq!(told.status, 403, "{path}: {}", told.text());
        assert!(!told.head.contains("whathappened="), "{}", told.head);
    }
}

#[test]
fn a_provider_that_does_not_answer_is_told_of() {
    let closed = TcpListener::bind("127.0.0.1:0").unwrap();
    let issuer = format!("http://{}", closed.local_addr().unwrap());
    drop(closed);
    let free = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap().to_string();
    drop(free);
    let service = service(&issuer, &address, "");
    let told = service.get("/login/oidc", &[]);
    assert_eq!(told.status, 502, "{}", told.text());
    assert!(
        told.text()
            .contains("the identity provider could not be asked")
            && told.text().contains("name=\"token\""),
        "{}",
        told.text()
    );
    // Whoever sets it up need not try to sign in to see it.
    let config = service.folder.path().join("config.toml");
    std::fs::write(
        &config,
        format!("[serve]\npublic_url = 'http://{address}'\n[serve.oidc]\nissuer = '{issuer}'\nclient_id = 'w'\n[[serve.oidc.group]]\nname = '*'\n"),
    )
    .unwrap();
    let (code, out, err) = crate::whathappened(&["doctor", "--config", config.to_str().unwrap()]);
    assert_eq!(code, Some(4), "{err}");
    assert!(
        out.contains("[serve.oidc]: signing in with the identity provider does not work"),
        "{out}"
    );
}

#[test]
fn groups_say_what_a_person_sees() {
    let provider = Provider::start();
    let service = with(&provider);
    let base = service.base();
    let Some(mut browser) = Browser::start() else {
        return;
    };
    provider.is(json!({"email": "ada@lab.example", "groups": ["platform", "chess"]}));
    let opened = browser.open(&format!("{base}/x/gpt2-small-7f3"));
    judge(&opened, &base, "/login");
    browser.eval("document.querySelector('a.button').click()");
    browser.until("location.pathname === '/x/gpt2-small-7f3' && document.readyState === 'complete' && document.body.innerText.includes('Evidence')");
    assert!(
        browser.text().contains("oidc:ada@lab.example"),
        "{}",
        browser.text()
    );
    assert_eq!(
        browser.eval("document.cookie"),
        "",
        "scripts cannot read it"
    );
    let trail = std::fs::read_to_string(service.folder.path().join("store/audit.ndjson")).unwrap();
    assert!(
        trail.contains("oidc:ada@lab.example") && !trail.contains("code-1"),
        "{trail}"
    );

    // The same address again has been used.
    browser.open(&format!(
        "{base}/login/oidc/callback?code=code-1&state=again"
    ));
    assert!(
        browser.text().contains("another browser"),
        "{}",
        browser.text()
    );

    // Who may see little sees little.
    browser.open(&format!("{base}/x/gpt2-small-7f3"));
    browser.forget();
    browser.eval("document.querySelector('form.leave').requestSubmit()");
    browser.loaded("signing out");
    provider.is(json!({"email": "bob@lab.example", "groups": ["strangers"]}));
    browser.open(&format!("{base}/login?next=%2F"));
    browser.eval("document.querySelector('a.button').click()");
    browser.until("document.body.innerText.includes('oidc:bob@lab.example')");
    browser.open(&format!("{base}/x/gpt2-small-7f3"));
    assert!(!browser.text().contains("Evidence"), "{}", browser.text());
    browser.open(&format!("{base}/sql?q=SELECT%201"));
    assert!(
        browser.text().contains("is not allowed"),
        "{}",
        browser.text()
    );

    // Who is in no group, or whose token is not for us, is not let in.
    for (person, told) in [
        (
            json!({"email": "eve@lab.example", "groups": ["chess"]}),
            "none of the groups",
        ),
        (
            json!({"groups": ["platform"], "aud": "other"}),
            "is for another client",
        ),
        (
            json!({"groups": ["platform"], "nonce": "other"}),
            "is of another sign-in",
        ),
        (
            json!({"groups": ["platform"], "iss": "http://localhost:1"}),
            "another issuer made it",
        ),
        (
            json!({"groups": ["platform"], "exp": 1000}),
            "has expired by this machine",
        ),
    ] {
        browser.call("Network.clearBrowserCookies", &json!({}));
        provider.is(person.clone());
        browser.open(&format!("{base}/login"));
        browser.eval("document.querySelector('a.button').click()");
        browser.until(&format!(
            "location.pathname === '/login/oidc/callback' && document.body.innerText.includes('{told}')"
        ));
        browser.open(&format!("{base}/fleet"));
        assert!(
            browser.text().contains("Sign in"),
            "{person}: {}",
            browser.text()
        );
    }
}
