//! Socket Mode against a server on loopback that plays Slack.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use futures::future::BoxFuture;
use futures::{FutureExt as _, SinkExt as _, StreamExt as _};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{mpsc, watch};
use tokio_tungstenite::tungstenite::Message;
use tokio_tungstenite::{WebSocketStream, accept_async};

use super::*;
use crate::Api;

/// What comes to a server that plays Slack, in order.
type Sockets = mpsc::Receiver<WebSocketStream<TcpStream>>;

/// Answers `apps.connections.open` with its own address, then hands over the
/// socket that is opened there.
async fn slack() -> (String, Sockets) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (found, sockets) = mpsc::channel(8);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let found = found.clone();
            tokio::spawn(async move {
                let mut start = [0; 4];
                while stream.peek(&mut start).await.unwrap() < 4 {}
                if &start == b"GET " {
                    let socket = accept_async(stream).await.unwrap();
                    let _closed = found.send(socket).await;
                    return;
                }
                let mut request = vec![0; 4096];
                let length = stream.read(&mut request).await.unwrap();
                let request = String::from_utf8_lossy(&request[..length]).to_lowercase();
                let body = if request.contains("authorization: bearer xapp-ours") {
                    json!({"ok": true, "url": format!("ws://{address}/link?ticket=secret")})
                } else {
                    json!({"ok": false, "error": "invalid_auth"})
                };
                let body = body.to_string();
                let head = format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
                    body.len()
                );
                stream.write_all((head + &body).as_bytes()).await.unwrap();
            });
        }
    });
    (format!("http://{address}/api/"), sockets)
}

/// Notes what it is given; a command is answered, `slow` takes too long and
/// `lost` cannot be taken down.
#[derive(Default)]
struct Recorder(Mutex<Vec<String>>);

impl Handler for Recorder {
    fn take(&self, envelope: Envelope) -> BoxFuture<'_, Option<Value>> {
        async move {
            self.0.lock().unwrap().push(envelope.id.clone());
            match envelope.payload["text"].as_str() {
                Some("slow") => std::future::pending().await,
                Some("lost") => None,
                _ => Some(json!({"text": "working"})),
            }
        }
        .boxed()
    }
}

struct Running {
    noted: Arc<Recorder>,
    stop: watch::Sender<bool>,
    standing: watch::Receiver<bool>,
    ended: tokio::task::JoinHandle<()>,
}

fn run(address: &str, token: &str) -> Running {
    let api = Arc::new(Api::new(address, token.to_owned().into()).unwrap());
    let noted = Arc::new(Recorder::default());
    let times = SocketTimes {
        greeting: Duration::from_secs(2),
        ping: Duration::from_millis(100),
        silence: Duration::from_millis(600),
        acknowledge: Duration::from_millis(200),
        pause: Duration::from_millis(5),
        overlap: Duration::from_secs(5),
    };
    let mode = SocketMode::new(api, Arc::clone(&noted) as Arc<dyn Handler>, times);
    let (stop, stopping) = watch::channel(false);
    let (tell, standing) = watch::channel(false);
    let ended = tokio::spawn(async move { mode.run(stopping, &tell).await });
    Running {
        noted,
        stop,
        standing,
        ended,
    }
}

async fn greet(sockets: &mut Sockets) -> WebSocketStream<TcpStream> {
    let next = tokio::time::timeout(Duration::from_secs(10), sockets.recv());
    let mut socket = next.await.unwrap().unwrap();
    say(
        &mut socket,
        json!({"type": "hello", "num_connections": 1, "connection_info": {"app_id": "A1"}}),
    )
    .await;
    socket
}

async fn say(socket: &mut WebSocketStream<TcpStream>, frame: Value) {
    socket.send(Message::text(frame.to_string())).await.unwrap();
}

fn envelope(id: &str, kind: &str, text: &str) -> Value {
    json!({
        "envelope_id": id, "type": kind, "payload": {"text": text},
        "accepts_response_payload": kind == "slash_commands",
    })
}

/// The next frame of text that the other side sends.
async fn heard(socket: &mut WebSocketStream<TcpStream>) -> Value {
    let next = async {
        loop {
            match socket.next().await.unwrap().unwrap() {
                Message::Text(text) => return serde_json::from_str(&text).unwrap(),
                _ => continue,
            }
        }
    };
    tokio::time::timeout(Duration::from_secs(5), next)
        .await
        .unwrap()
}

#[tokio::test]
async fn requests_are_acknowledged_in_time() {
    let (address, mut sockets) = slack().await;
    let running = run(&address, "xapp-ours");
    let mut socket = greet(&mut sockets).await;
    say(&mut socket, envelope("1", "slash_commands", "run-7")).await;
    assert_eq!(
        heard(&mut socket).await,
        json!({"envelope_id": "1", "payload": {"text": "working"}})
    );
    say(&mut socket, envelope("2", "events_api", "slow")).await;
    say(&mut socket, json!(["no frame"])).await;
    say(&mut socket, json!({"type": "news"})).await;
    say(&mut socket, envelope("3", "interactive", "lost")).await;
    say(&mut socket, envelope("4", "something_new", "")).await;
    // Nothing waits for the slow one, and what was lost is not acknowledged.
    assert_eq!(heard(&mut socket).await, json!({"envelope_id": "4"}));
    assert_eq!(heard(&mut socket).await, json!({"envelope_id": "2"}));
    assert!(*running.standing.borrow());
    running.stop.send(true).unwrap();
    running.ended.await.unwrap();
    let noted = running.noted.0.lock().unwrap().clone();
    assert_eq!(noted.len(), 4, "{noted:?}");
}

#[tokio::test]
async fn a_renewed_connection_overlaps_the_old_one() {
    let (address, mut sockets) = slack().await;
    let running = run(&address, "xapp-ours");
    let mut old = greet(&mut sockets).await;
    say(
        &mut old,
        json!({"type": "disconnect", "reason": "refresh_requested"}),
    )
    .await;
    let mut new = greet(&mut sockets).await;
    // Both are served.
    say(&mut old, envelope("late", "events_api", "")).await;
    assert_eq!(heard(&mut old).await, json!({"envelope_id": "late"}));
    say(&mut new, envelope("next", "events_api", "")).await;
    assert_eq!(heard(&mut new).await, json!({"envelope_id": "next"}));
    drop(running.stop);
}

#[tokio::test]
async fn a_connection_that_breaks_or_falls_silent_is_opened_again() {
    let (address, mut sockets) = slack().await;
    let running = run(&address, "xapp-ours");
    drop(greet(&mut sockets).await);
    // This one hears nothing, and so answers no ping.
    let silent = greet(&mut sockets).await;
    let mut third = greet(&mut sockets).await;
    say(
        &mut third,
        json!({"type": "disconnect", "reason": "too_many_websockets"}),
    )
    .await;
    let mut fourth = greet(&mut sockets).await;
    say(&mut fourth, envelope("1", "events_api", "")).await;
    assert_eq!(heard(&mut fourth).await, json!({"envelope_id": "1"}));
    drop(silent);
    running.stop.send(true).unwrap();
    running.ended.await.unwrap();
}

#[tokio::test]
async fn a_token_that_is_refused_is_tried_again_and_stops_at_once() {
    let (address, _sockets) = slack().await;
    let running = run(&address, "xapp-other");
    tokio::time::sleep(Duration::from_millis(100)).await;
    assert!(!*running.standing.borrow());
    running.stop.send(true).unwrap();
    tokio::time::timeout(Duration::from_secs(2), running.ended)
        .await
        .unwrap()
        .unwrap();
}

/// Without the feature `tls` it is refused at once.
#[tokio::test]
async fn a_secure_address_is_spoken_to_securely_or_not_at_all() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
    });
    whathappened_http::choose_encryption();
    let address = format!("wss://127.0.0.1:{port}/link").into();
    let handler: Arc<dyn Handler> = Arc::new(Recorder::default());
    let opened = connection::Connection::open(&address, SocketTimes::default(), handler);
    let Err(why) = opened.await else {
        panic!("no TLS is spoken there");
    };
    assert!(!why.is_empty() && !why.contains("/link"), "{why}");
}
