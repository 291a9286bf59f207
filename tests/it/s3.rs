//! An object store to test against.
#![cfg(any(feature = "lake", feature = "object-store"))]

use std::net::TcpListener;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

/// A server that speaks S3: moto (`PyPI`), where it is installed.
pub(crate) struct S3 {
    child: Child,
    endpoint: String,
}

impl S3 {
    pub(crate) fn start() -> Option<Self> {
        let port = TcpListener::bind("127.0.0.1:0")
            .and_then(|free| free.local_addr())
            .unwrap()
            .port();
        let child = Command::new("moto_server")
            .args(["-H", "127.0.0.1", "-p", &port.to_string()])
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .ok()?;
        let s3 = Self {
            child,
            endpoint: format!("http://127.0.0.1:{port}"),
        };
        for _ in 0..300 {
            let bucket = format!("{}/lab", s3.endpoint);
            let made = Command::new("curl")
                .args(["-sf", "-X", "PUT", &bucket])
                .status();
            if made.is_ok_and(|status| status.success()) {
                return Some(s3);
            }
            thread::sleep(Duration::from_millis(100));
        }
        panic!("moto_server does not answer");
    }

    pub(crate) fn env(&self) -> [(&str, &str); 5] {
        [
            ("AWS_ENDPOINT", &self.endpoint),
            ("AWS_ALLOW_HTTP", "true"),
            ("AWS_ACCESS_KEY_ID", "test"),
            ("AWS_SECRET_ACCESS_KEY", "test"),
            ("AWS_REGION", "us-east-1"),
        ]
    }
}

impl Drop for S3 {
    fn drop(&mut self) {
        let _gone = self.child.kill();
        let _reaped = self.child.wait();
    }
}
