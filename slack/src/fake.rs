//! A server on loopback that says what a test wants it to say.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use serde_json::Value;
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::{TcpListener, TcpStream};

/// Status, headers, body.
pub(crate) type Reply = (u16, Vec<(&'static str, String)>, String);

/// A request as it came.
#[derive(Clone, Debug, Default)]
pub(crate) struct ReceivedRequest {
    pub(crate) path: String,
    headers: BTreeMap<String, String>,
    pub(crate) body: Vec<u8>,
}

impl ReceivedRequest {
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).map_or("", String::as_str)
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }

    pub(crate) fn form(&self, name: &str) -> String {
        url::form_urlencoded::parse(&self.body)
            .find(|(key, _)| key == name)
            .map(|(_, value)| value.into_owned())
            .unwrap_or_default()
    }
}

pub(crate) struct Fake {
    address: String,
    asked: Arc<Mutex<Vec<ReceivedRequest>>>,
}

impl Fake {
    pub(crate) async fn start(
        answer: impl Fn(&ReceivedRequest) -> Reply + Send + Sync + 'static,
    ) -> Self {
        Self::start_with_url(move |asked, _| answer(asked)).await
    }

    pub(crate) async fn start_with_url(
        answer: impl Fn(&ReceivedRequest, &str) -> Reply + Send + Sync + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::new(Mutex::new(Vec::new()));
        let fake = Self {
            address: address.clone(),
            asked: Arc::clone(&asked),
        };
        let answer = Arc::new(answer);
        tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let (asked, answer, address) =
                    (Arc::clone(&asked), Arc::clone(&answer), address.clone());
                tokio::spawn(async move {
                    let mut stream = BufReader::new(stream);
                    while let Some(request) = read(&mut stream).await {
                        let (code, headers, body) = answer(&request, &address);
                        asked.lock().unwrap().push(request);
                        let mut head = format!("HTTP/1.1 {code} X\r\n");
                        for (name, value) in headers {
                            head.push_str(&format!("{name}: {value}\r\n"));
                        }
                        head.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
                        if stream.write_all(head.as_bytes()).await.is_err() {
                            return;
                        }
                    }
                });
            }
        });
        fake
    }

    pub(crate) fn url(&self) -> &str {
        &self.address
    }

    /// All requests so far, in the order they were answered.
    pub(crate) fn asked(&self) -> Vec<ReceivedRequest> {
        self.asked.lock().unwrap().clone()
    }
}

async fn read(from: &mut BufReader<TcpStream>) -> Option<ReceivedRequest> {
    let mut line = String::new();
    from.read_line(&mut line).await.ok()?;
    let target = line.split_whitespace().nth(1)?;
    let mut asked = ReceivedRequest {
        path: target.split('?').next()?.to_owned(),
        ..ReceivedRequest::default()
    };
    loop {
        let mut header = String::new();
        from.read_line(&mut header).await.ok()?;
        let Some((name, value)) = header.trim().split_once(':') else {
            break;
        };
        asked
            .headers
            .insert(name.to_lowercase(), value.trim().to_owned());
    }
    let length = asked.header("content-length").parse().unwrap_or(0);
    asked.body = vec![0; length];
    from.read_exact(&mut asked.body).await.ok()?;
    Some(asked)
}
