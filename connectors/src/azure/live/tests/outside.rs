//! What is outside Azure Resource Manager: the login service, the metadata
//! service, `az`. The library insists on https and on the addresses it knows, so
//! its connections are led to loopback here.

use std::ffi::OsStr;
use std::future::Future;
use std::io;
use std::os::unix::process::ExitStatusExt as _;
use std::pin::Pin;
use std::process::{ExitStatus, Output};
use std::sync::Arc;

use azure_core::http::headers::Headers;
use azure_core::http::{AsyncRawResponse, Body, HttpClient, Method, Request, Transport};
use azure_identity::Executor;
use serde_json::json;

use whathappened_loopback::{Fake, Reply};

/// Leads all requests to `fake`; the host asked for is in a header.
pub(super) fn through(fake: &Fake) -> Transport {
    Transport::new(Arc::new(Redirected {
        to: fake.url(),
        client: reqwest::Client::builder().no_proxy().build().unwrap(),
    }))
}

#[derive(Debug)]
struct Redirected {
    to: String,
    client: reqwest::Client,
}

impl HttpClient for Redirected {
    fn execute_request<'s, 'r, 'f>(
        &'s self,
        request: &'r Request,
    ) -> Pin<Box<dyn Future<Output = azure_core::Result<AsyncRawResponse>> + Send + 'f>>
    where
        's: 'f,
        'r: 'f,
    {
        Box::pin(async move {
            let url = request.url();
            let query = url.query().unwrap_or_default();
            let to = format!("{}{}?{query}", self.to, url.path());
            let mut led = match request.method() {
                Method::Post => self.client.post(to),
                _ => self.client.get(to),
            };
            for (name, value) in request.headers().iter() {
                led = led.header(name.as_str(), value.as_str());
            }
            let host = url.host_str().unwrap_or_default();
            led = led.header("x-meant-for", format!("{}://{host}", url.scheme()));
            if let Body::Bytes(bytes) = request.body() {
                led = led.body(bytes.clone());
            }
            let answer = led.send().await.unwrap();
            let status = answer.status().as_u16();
            let body = answer.bytes().await.unwrap();
            Ok(AsyncRawResponse::from_bytes(
                status.into(),
                Headers::default(),
                body,
            ))
        })
    }
}

/// A login service that gives tokens for an hour: `token-1`, `token-2`, …
pub(super) fn login() -> Fake {
    let given = std::sync::atomic::AtomicUsize::new(0);
    Fake::start(move |_| {
        let n = given.fetch_add(1, std::sync::atomic::Ordering::SeqCst) + 1;
        Reply::Json(
            200,
            json!({"token_type": "Bearer", "expires_in": 315_360_000, "access_token": format!("token-{n}")}),
        )
    })
}

/// `az` as it ends.
pub(super) fn az(code: i32, stdout: &str, stderr: &str) -> Arc<dyn Executor> {
    Arc::new(AzCli(Output {
        status: ExitStatus::from_raw(code << 8),
        stdout: stdout.into(),
        stderr: stderr.into(),
    }))
}

#[derive(Debug)]
struct AzCli(Output);

impl Executor for AzCli {
    fn run<'s, 'p, 'a, 'b, 'f>(
        &'s self,
        _program: &'p OsStr,
        args: &'a [&'b OsStr],
    ) -> Pin<Box<dyn Future<Output = io::Result<Output>> + Send + 'f>>
    where
        's: 'f,
        'p: 'f,
        'a: 'f,
        'b: 'f,
    {
        let command = args.last().map(|text| text.to_string_lossy().into_owned());
        Box::pin(async move {
            assert!(command.unwrap().contains("az account get-access-token"));
            Ok(self.0.clone())
        })
    }
}
