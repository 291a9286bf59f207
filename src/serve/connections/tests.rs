use axum::Router;
use axum::middleware::from_fn;
use axum::routing::get;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

use super::*;

/// A listener for a few, one of whose answers takes its time.
async fn listen_with(most: usize, share: usize) -> SocketAddr {
    let slow = || async {
        tokio::time::sleep(Duration::from_millis(900)).await;
        "slow"
    };
    let routes = Router::new()
        .route("/", get(|| async { "here" }))
        .route("/slow", get(slow))
        .layer(from_fn(busy))
        .into_make_service_with_connect_info::<Line>();
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let bounded = BoundedListener::of(listener, (most, share), Duration::from_millis(300));
    tokio::spawn(async move { axum::serve(bounded, routes).await });
    address
}

async fn listen(most: usize) -> SocketAddr {
    listen_with(most, most).await
}

/// Another sender than everybody else of these tests.
async fn from_elsewhere(address: SocketAddr) -> TcpStream {
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.2:0".parse().unwrap()).unwrap();
    socket.connect(address).await.unwrap()
}

async fn ask(address: SocketAddr, path: &str) -> String {
    ask_on(TcpStream::connect(address).await.unwrap(), path).await
}

async fn ask_on(mut stream: TcpStream, path: &str) -> String {
    let head = format!("GET {path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    stream.write_all(head.as_bytes()).await.unwrap();
    let mut text = String::new();
    // Who is turned away is closed.
    let _closed = stream.read_to_string(&mut text).await;
    text
}

#[tokio::test]
async fn who_says_nothing_or_is_slow_to_ask_is_let_go() {
    let address = listen(64).await;
    let begun = Instant::now();
    let mut idle = TcpStream::connect(address).await.unwrap();
    let mut slow = TcpStream::connect(address).await.unwrap();
    let dripping = tokio::spawn(async move {
        let mut sent = 0;
        while slow.write_all(b"G").await.is_ok() && sent < 100 {
            sent += 1;
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
        sent
    });
    let mut nothing = Vec::new();
    // Reset or closed.
    let _ended = idle.read_to_end(&mut nothing).await;
    assert!(begun.elapsed() < Duration::from_secs(2));
    assert!(dripping.await.unwrap() < 100);
    // An answer may take as long as it takes.
    assert!(ask(address, "/slow").await.ends_with("slow"));
    // One connection may ask again in time.
    let mut stream = TcpStream::connect(address).await.unwrap();
    for _ in 0..3 {
        let head = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n";
        stream.write_all(head).await.unwrap();
        let mut text = [0; 64];
        assert!(stream.read(&mut text).await.unwrap() > 0);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test]
async fn who_is_idle_makes_room_and_who_is_answered_stays() {
    let address = listen(8).await;
    let answered: Vec<_> = (0..4)
        .map(|_| tokio::spawn(async move { ask(address, "/slow").await }))
        .collect();
    tokio::time::sleep(Duration::from_millis(50)).await;
    let mut idle = Vec::new();
    for _ in 0..20 {
        idle.push(TcpStream::connect(address).await.unwrap());
    }
    assert!(ask(address, "/").await.ends_with("here"));
    for one in answered {
        assert!(one.await.unwrap().ends_with("slow"));
    }
}

/// Who kept all places busy turned everybody away.
#[tokio::test]
async fn one_sender_has_a_share_of_the_places() {
    let address = listen_with(8, 4).await;
    let busy: Vec<_> = (0..20)
        .map(|_| tokio::spawn(async move { ask(address, "/slow").await }))
        .collect();
    tokio::time::sleep(Duration::from_millis(100)).await;
    // Their own next one finds none.
    assert_eq!(ask(address, "/").await, "");
    let other = from_elsewhere(address).await;
    assert!(ask_on(other, "/").await.ends_with("here"));
    let mut answered = 0;
    for one in busy {
        answered += usize::from(one.await.unwrap().ends_with("slow"));
    }
    assert_eq!(answered, 4);
    assert!(ask(address, "/").await.ends_with("here"));
    // Idle ones of a sender who has a share make room for the sender's own, at nobody else's cost.
    let theirs = from_elsewhere(address).await;
    let mut idle = Vec::new();
    for _ in 0..20 {
        idle.push(TcpStream::connect(address).await.unwrap());
    }
    assert!(ask(address, "/").await.ends_with("here"));
    assert!(ask_on(theirs, "/").await.ends_with("here"));
}

#[test]
fn a_network_of_ipv6_is_one_sender() {
    let of = |text: &str| Sender::of(text.parse().unwrap());
    assert_eq!(of("2001:db8:1:2::1"), of("2001:db8:1:2:ffff::9"));
    assert_ne!(of("2001:db8:1:2::1"), of("2001:db8:1:3::1"));
    assert_eq!(of("::ffff:10.0.0.1"), of("10.0.0.1"));
    assert_ne!(of("10.0.0.1"), of("10.0.0.2"));
}
