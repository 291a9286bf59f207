//! Connections: bounded in number, and none stays that says nothing.
//!
//! A connection counts as idle until the headers of a request are complete, so
//! one deadline ends idle ones and those that send their headers slowly. Where
//! all places are taken, whoever was idle longest makes room for who comes. One sender has
//! half of the places: who keeps all of theirs busy turns away nobody but themselves.

use std::collections::BTreeMap;
use std::io;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, HttpBody as _};
use axum::extract::connect_info::Connected;
use axum::extract::{ConnectInfo, Request};
use axum::http::{Extensions, header};
use axum::middleware::Next;
use axum::response::Response;
use axum::serve::{IncomingStream, Listener};
use futures::task::AtomicWaker;
use http_body_util::BodyExt as _;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::{Instant, Sleep};

/// How long a connection may be open without a whole request's headers.
const IDLE: Duration = Duration::from_secs(30);
/// How long nothing of an answer may be taken.
const UNREAD: Duration = Duration::from_secs(60);
/// Connections at once, where the system allows as many.
const MOST: usize = 4_096;
/// Files that the process needs for other things.
const SPARE: usize = 160;

/// What is known of a connection.
#[derive(Debug)]
struct ConnectionActivity {
    /// Requests whose answers are not over; and since when there are none.
    state: Mutex<(usize, Instant)>,
    /// It has to go.
    gone: std::sync::atomic::AtomicBool,
    waker: AtomicWaker,
    sender: Sender,
}

/// Whose a connection is: an address, of IPv6 the network that one subscriber has to themselves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Sender(IpAddr);

impl Sender {
    fn of(address: IpAddr) -> Self {
        /// The part of an address of IPv6 that names the network.
        const NETWORK: u32 = 64;
        Self(match address.to_canonical() {
            IpAddr::V6(address) => {
                let network = address.to_bits() >> NETWORK << NETWORK;
                Ipv6Addr::from_bits(network).into()
            }
            address => address,
        })
    }
}

impl ConnectionActivity {
    fn idle_since(&self) -> Option<Instant> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        (state.0 == 0).then_some(state.1)
    }

    fn end(&self) {
        self.gone.store(true, Ordering::Release);
        self.waker.wake();
    }
}

/// A request that is worked on.
struct ActiveRequest(Arc<ConnectionActivity>);

impl ActiveRequest {
    fn of(pulse: Arc<ConnectionActivity>) -> Self {
        pulse.state.lock().unwrap_or_else(PoisonError::into_inner).0 += 1;
        Self(pulse)
    }
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        *state = (state.0.saturating_sub(1), Instant::now());
        drop(state);
        // The deadline of the next request begins now.
        self.0.waker.wake();
    }
}

/// Everybody who is connected, by number.
#[derive(Debug)]
struct ConnectionTable {
    most: usize,
    /// How many of them one sender may have.
    share: usize,
    next: AtomicU64,
    there: Mutex<BTreeMap<u64, Arc<ConnectionActivity>>>,
}

impl ConnectionTable {
    /// A place for one more; somebody idle makes room for it, one of the sender's own where
    /// these have their share. `None` where all are busy.
    fn admit(self: &Arc<Self>, address: IpAddr) -> Option<ConnectionSlot> {
        let sender = Sender::of(address);
        let mut there = self.there.lock().unwrap_or_else(PoisonError::into_inner);
        let own = there
            .values()
            .filter(|pulse| pulse.sender == sender)
            .count();
        let has_share = own >= self.share;
        if has_share || there.len() >= self.most {
            let idle = there
                .iter()
                .filter(|(_, pulse)| !has_share || pulse.sender == sender)
                .filter_map(|(number, pulse)| Some((pulse.idle_since()?, *number)))
                .min();
            let (_, number) = idle?;
            if let Some(pulse) = there.remove(&number) {
                pulse.end();
            }
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        let pulse = Arc::new(ConnectionActivity {
            state: Mutex::new((0, Instant::now())),
            gone: false.into(),
            waker: AtomicWaker::new(),
            sender,
        });
        there.insert(number, Arc::clone(&pulse));
        Some(ConnectionSlot {
            number,
            pulse,
            among: Arc::clone(self),
        })
    }
}

/// A connection's place among the others.
#[derive(Debug)]
struct ConnectionSlot {
    number: u64,
    pulse: Arc<ConnectionActivity>,
    among: Arc<ConnectionTable>,
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        let there = self.among.there.lock();
        there
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.number);
    }
}

/// A listener whose connections are bounded.
#[derive(Debug)]
pub(super) struct BoundedListener {
    listener: TcpListener,
    everybody: Arc<ConnectionTable>,
    idle: Duration,
}

impl BoundedListener {
    pub(super) fn new(listener: TcpListener) -> Self {
        let most = files().map_or(MOST, |files| {
            files.saturating_sub(SPARE).max(files / 2).clamp(16, MOST)
        });
        // Half: of a proxy before the service come the connections of everybody.
        Self::of(listener, (most, most / 2), IDLE)
    }

    fn of(listener: TcpListener, (most, share): (usize, usize), idle: Duration) -> Self {
        let everybody = ConnectionTable {
            most,
            share,
            next: AtomicU64::new(0),
            there: Mutex::default(),
        };
        Self {
            listener,
            everybody: Arc::new(everybody),
            idle,
        }
    }
}

/// How many files this process may have open.
fn files() -> Option<usize> {
    let limits = std::fs::read_to_string("/proc/self/limits").ok()?;
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"))?;
    line.split_whitespace().next()?.parse().ok()
}

impl Listener for BoundedListener {
    type Io = Io;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Io, SocketAddr) {
        loop {
            let (stream, address) = Listener::accept(&mut self.listener).await;
            let Some(place) = self.everybody.admit(address.ip()) else {
                tracing::warn!(
                    "all {} connections, or the {} of one sender, are in use: {address} is refused",
                    self.everybody.most,
                    self.everybody.share
                );
                continue;
            };
            let io = Io {
                stream,
                place,
                patience: self.idle,
                idle: None,
                unread: None,
            };
            return (io, address);
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection that ends when it says nothing for long.
#[derive(Debug)]
pub(super) struct Io {
    stream: TcpStream,
    place: ConnectionSlot,
    patience: Duration,
    idle: Option<Pin<Box<Sleep>>>,
    unread: Option<Pin<Box<Sleep>>>,
}

fn late(why: &str) -> io::Error {
    io::Error::new(io::ErrorKind::TimedOut, why)
}

impl Io {
    /// Whether it was idle for too long, or has to make room.
    fn is_over(&mut self, context: &mut Context<'_>) -> bool {
        let pulse = &self.place.pulse;
        pulse.waker.register(context.waker());
        if pulse.gone.load(Ordering::Acquire) {
            return true;
        }
        let Some(since) = pulse.idle_since() else {
            return false;
        };
        let end = since + self.patience;
        let idle = self
            .idle
            .get_or_insert_with(|| Box::pin(tokio::time::sleep_until(end)));
        if idle.deadline() != end {
            idle.as_mut().reset(end);
        }
        idle.as_mut().poll(context).is_ready()
    }

    /// An answer of which nothing is taken ends the connection.
    fn taken<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.unread = None;
            return written;
        }
        let unread = self
            .unread
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(UNREAD)));
        match unread.as_mut().poll(context) {
            Poll::Ready(()) => Poll::Ready(Err(late("the client does not read the response"))),
            Poll::Pending => written,
        }
    }
}

impl AsyncRead for Io {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        if self.is_over(context) {
            return Poll::Ready(Err(late("no request was sent")));
        }
        Pin::new(&mut self.stream).poll_read(context, buffer)
    }
}

impl AsyncWrite for Io {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(context, bytes);
        self.taken(context, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(context, pieces);
        self.taken(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

/// The connection that a request came by, and from where.
#[derive(Clone, Debug)]
pub(super) struct Line(Arc<ConnectionActivity>, IpAddr);

impl Line {
    /// The address of whoever sent a request; of a proxy before the service, its own.
    pub(super) fn sender(extensions: &Extensions) -> Option<IpAddr> {
        let line = extensions.get::<ConnectInfo<Self>>()?;
        Some(line.0.1.to_canonical())
    }
}

impl Connected<IncomingStream<'_, BoundedListener>> for Line {
    fn connect_info(stream: IncomingStream<'_, BoundedListener>) -> Self {
        Self(
            Arc::clone(&stream.io().place.pulse),
            stream.remote_addr().ip(),
        )
    }
}

/// While a request is worked on and its answer is sent, its connection is not idle.
pub(super) async fn busy(request: Request, next: Next) -> Response {
    let line = request.extensions().get::<ConnectInfo<Line>>();
    let Some(busy) = line.map(|line| ActiveRequest::of(Arc::clone(&line.0.0))) else {
        return next.run(request).await;
    };
    let mut response = next.run(request).await;
    // Its length is not known any more once something is held with it.
    if let Some(length) = response.body().size_hint().exact() {
        let headers = response.headers_mut();
        headers
            .entry(header::CONTENT_LENGTH)
            .or_insert_with(|| length.into());
    }
    response.map(|body| {
        Body::new(body.map_frame(move |frame| {
            let _until_it_is_sent = &busy;
            frame
        }))
    })
}

#[cfg(test)]
mod tests;
