//! Signing in by the word of an identity provider that others wrote, where npm has it (`.ci/scripts`).

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};

use super::browser::Browser;
use super::{judge, oidc};

struct Provider(Child);

impl Drop for Provider {
    fn drop(&mut self) {
        self.0.kill().ok();
        self.0.wait().ok();
    }
}

fn free() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

/// Starts it from a folder that leads to what npm installed.
fn start(folder: &tempfile::TempDir, service: &str) -> Option<(Provider, String)> {
    let modules = super::accessible::of_npm("")?;
    if !modules.join("oidc-provider").exists() || Command::new("node").arg("-v").output().is_err() {
        whathappened_loopback::skipped("no oidc-provider of npm's: nobody else signs anybody in");
        return None;
    }
    let script = folder.path().join("provider.mjs");
    std::fs::write(&script, include_str!("provider.mjs")).unwrap();
    std::os::unix::fs::symlink(modules, folder.path().join("node_modules")).unwrap();
    let address = free();
    let port = address.rsplit(':').next().unwrap();
    let mut child = Command::new("node")
        .arg(script)
        .args([port, &format!("http://{service}/login/oidc/callback")])
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let issuer = crate::service::address_of(&mut child, "ready ");
    Some((Provider(child), issuer))
}

#[test]
fn a_provider_of_others_signs_people_in() {
    let folder = tempfile::tempdir().unwrap();
    let own = free();
    let Some((_provider, issuer)) = start(&folder, &own) else {
        return;
    };
    let service = oidc::service(&issuer, &own, "scopes = ['email', 'groups']");
    let base = service.base();
    for (person, path, told, sees) in [
        ("ada", "/x/gpt2-small-7f3", "oidc:ada@lab.example", true),
        ("bob", "/x/gpt2-small-7f3", "oidc:bob@lab.example", false),
        ("eve", "/login/oidc/callback", "none of the groups", false),
    ] {
        let Some(mut browser) = Browser::start() else {
            return;
        };
        let opened = browser.open(&format!("{base}/x/gpt2-small-7f3"));
        judge(&opened, &base, "/login");
        browser.eval("document.querySelector('a.button').click()");
        browser.until("document.querySelector('input[name=login]') !== null");
        browser.eval(&format!(
            "document.querySelector('input[name=login]').value = '{person}'; \
             document.querySelector('input[name=password]').value = 'x'; document.querySelector('form').submit()"
        ));
        browser.until(
            "location.hostname === 'localhost' && document.querySelector('input[name=login]') === null \
             && document.querySelector('form') !== null",
        );
        // That the service may know who it is.
        browser.eval("document.querySelector('form').submit()");
        browser.until(&format!(
            "location.origin === '{base}' && location.pathname === '{path}' && document.body.innerText.includes('{told}')"
        ));
        assert_eq!(browser.text().contains("Evidence"), sees, "{person}");
    }
}
