//! Lines of machines' logs over the network: syslog (RFC 3164, 5424) over UDP
//! and TCP, with octet counting or a line each (RFC 6587).
//!
//! Nobody acknowledges anything in syslog. What cannot be kept in time is
//! counted as lost and told under coverage.

mod frames;

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::net::{TcpListener, UdpSocket};
use tokio::sync::{Semaphore, mpsc};
use tokio::task::JoinSet;
use whathappened_connectors::node_log::decode_syslog;
use whathappened_model::connector::{Clock, Stop};
use whathappened_model::coverage::{Coverage, Status};
use whathappened_model::time::{Nanos, SECOND};

use super::collect::Intake;
use crate::error::Error;
use frames::Frames;

/// The largest datagram, and the largest message.
const LARGEST: usize = 64 << 10;
/// Messages that wait to be read.
const WAITING: usize = 8_192;
/// Connections at once; further ones are closed.
const CONNECTIONS: usize = 256;
/// A machine may have nothing to say for so long; then its connection is closed.
const IDLE: Duration = Duration::from_secs(600);
/// A message that was begun has to end within this time, and whoever connects has to
/// send one: as long as the head of a request over HTTP may take. When few places are
/// left, whoever is silent for so long makes room.
const UNFINISHED: Duration = Duration::from_secs(30);
/// A line that goes on for longer is none of a log: its connection is closed.
const ENDLESS: usize = 1 << 20;
/// Messages are read together that come within this time,
const TOGETHER: Duration = Duration::from_millis(500);
/// or so many of them.
const LOT: usize = 2_000;

/// A message and who sent it.
type Message = (IpAddr, String);

/// The row of times when nobody listened.
#[must_use]
pub fn row() -> Coverage {
    Coverage {
        would_have_shown: Some(
            "out-of-memory kills, GPU Xid errors, panics and reboots of the machines".to_owned(),
        ),
        ..Coverage::new("syslog", "kernel")
    }
}

/// Sockets that are open.
#[derive(Debug)]
pub struct Sockets {
    udp: UdpSocket,
    tcp: TcpListener,
}

impl Sockets {
    /// Listens on UDP and TCP.
    ///
    /// # Errors
    /// When the address cannot be used.
    pub async fn open(address: &str) -> Result<Self, Error> {
        let failed = |error| Error::cannot_listen("[serve.syslog] listen", address, &error);
        let tcp = TcpListener::bind(address).await.map_err(failed)?;
        // Of one port where the system chose it.
        let udp = UdpSocket::bind(tcp.local_addr().map_err(failed)?).await;
        Ok(Self {
            udp: udp.map_err(failed)?,
            tcp,
        })
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> Option<std::net::SocketAddr> {
        self.tcp.local_addr().ok()
    }

    /// Takes messages until `stop`; what came is kept then.
    pub async fn run(self, intake: Intake, clock: Clock, stop: Stop) {
        let (to, from) = mpsc::channel(WAITING);
        let mut all = JoinSet::new();
        all.spawn(datagrams(self.udp, to.clone(), stop.clone()));
        all.spawn(connections(self.tcp, to, stop));
        keep(from, &intake, &clock).await;
        all.shutdown().await;
    }
}

fn count(transport: &'static str, outcome: &'static str, lines: u64) {
    metrics::counter!("whathappened_syslog_lines_total", "transport" => transport, "outcome" => outcome)
        .increment(lines);
}

async fn datagrams(socket: UdpSocket, to: mpsc::Sender<Message>, stop: Stop) {
    let mut buffer = vec![0; LARGEST];
    loop {
        let got = tokio::select! {
            () = stop.cancelled() => return,
            got = socket.recv_from(&mut buffer) => got,
        };
        let (length, from) = match got {
            Ok(got) => got,
            Err(error) => {
                tracing::warn!(%error, "a datagram was not received");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let message = frames::text(buffer.get(..length).unwrap_or_default());
        // Nobody is made to wait on UDP: the system would drop it without a word.
        match to.try_send((from.ip(), message)) {
            Ok(()) => count("udp", "received", 1),
            Err(_) => count("udp", "lost", 1),
        }
    }
}

async fn connections(listener: TcpListener, to: mpsc::Sender<Message>, stop: Stop) {
    let places = Arc::new(Semaphore::new(CONNECTIONS));
    let mut open = JoinSet::new();
    loop {
        let got = tokio::select! {
            () = stop.cancelled() => break,
            got = listener.accept() => got,
            Some(_) = open.join_next() => continue,
        };
        let Ok((stream, from)) = got else {
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            tracing::warn!(from = %from.ip(), "too many syslog connections: closing one");
            continue;
        };
        let (to, stop, places) = (to.clone(), stop.clone(), Arc::clone(&places));
        open.spawn(async move {
            let patience = Patience {
                idle: IDLE,
                unfinished: UNFINISHED,
                places: &places,
            };
            connection(stream, from.ip(), to, stop, &patience).await;
            drop(place);
        });
    }
    while open.join_next().await.is_some() {}
}

/// How long a connection is waited for.
struct Patience<'p> {
    idle: Duration,
    unfinished: Duration,
    places: &'p Semaphore,
}

impl Patience<'_> {
    /// Since the last whole message, or since it was opened.
    fn left(&self, heard: bool, waits: bool) -> Duration {
        let crowded = self.places.available_permits() < CONNECTIONS / 2;
        match heard && !waits && !crowded {
            true => self.idle,
            false => self.unfinished,
        }
    }
}

async fn connection<S: AsyncRead + Unpin>(
    mut stream: S,
    from: IpAddr,
    to: mpsc::Sender<Message>,
    stop: Stop,
    patience: &Patience<'_>,
) {
    let mut frames = Frames::new(LARGEST);
    let mut buffer = vec![0; 16 << 10];
    let mut last = tokio::time::Instant::now();
    let mut heard = false;
    loop {
        let until = last + patience.left(heard, frames.waits());
        let got = tokio::select! {
            () = stop.cancelled() => break,
            got = tokio::time::timeout_at(until, stream.read(&mut buffer)) => got,
        };
        let Ok(Ok(length @ 1..)) = got else { break };
        let waited = frames.waits();
        frames.take(buffer.get(..length).unwrap_or_default());
        // A message's time begins with its first byte.
        if !waited {
            last = tokio::time::Instant::now();
        }
        while let Some(message) = frames.next() {
            // The rest of a line that is too long is part of the one that was begun.
            if !frames.is_skipping() {
                last = tokio::time::Instant::now();
            }
            heard = true;
            count("tcp", "received", 1);
            // Here the sender waits.
            if to.send((from, message)).await.is_err() {
                return;
            }
        }
        if frames.passed() > ENDLESS {
            tracing::warn!(%from, "a line of syslog does not end: closing its connection");
            break;
        }
    }
    if let Some(rest) = frames.rest() {
        count("tcp", "received", 1);
        // Nobody takes it only where all is over.
        let _over = to.send((from, rest)).await;
    }
}

/// Reads what came and keeps it, until nobody sends any more.
async fn keep(mut from: mpsc::Receiver<Message>, intake: &Intake, clock: &Clock) {
    let mut lot = Vec::with_capacity(LOT);
    while from.recv_many(&mut lot, LOT).await > 0 {
        // Those that come together are read together: repetitions become bursts.
        let until = tokio::time::Instant::now() + TOGETHER;
        while lot.len() < LOT {
            let left = LOT - lot.len();
            match tokio::time::timeout_at(until, from.recv_many(&mut lot, left)).await {
                Ok(1..) => {}
                Ok(0) | Err(_) => break,
            }
        }
        let now = clock();
        let lines = lot.len() as u64;
        let read = std::mem::take(&mut lot);
        let work = move || read_all(read, now);
        let observations = match tokio::task::spawn_blocking(work).await {
            Ok(observations) => observations,
            Err(panic) => std::panic::resume_unwind(panic.into_panic()),
        };
        if observations.is_empty() {
            continue;
        }
        // A store that is busy is tried a few times; the queue holds what comes meanwhile.
        let mut tried = intake.keep(observations.clone(), Vec::new()).await;
        for _ in 0..3 {
            if tried.is_ok() {
                break;
            }
            tokio::time::sleep(Duration::from_millis(500)).await;
            tried = intake.keep(observations.clone(), Vec::new()).await;
        }
        if let Err(why) = tried {
            count("any", "not_kept", lines);
            tracing::warn!(%why, lines, "lines of syslog were lost");
            lost(intake, now, lines).await;
        }
    }
}

fn read_all(lot: Vec<Message>, now: Nanos) -> Vec<whathappened_model::observation::Observation> {
    let mut by_sender: BTreeMap<IpAddr, Vec<String>> = BTreeMap::new();
    for (from, message) in lot {
        by_sender.entry(from).or_default().push(message);
    }
    let each = by_sender.into_iter();
    each.flat_map(|(from, lines)| decode_syslog(&lines, &from.to_string(), now).observations)
        .collect()
}

/// The row of lines that were lost, once the store takes something again.
async fn lost(intake: &Intake, now: Nanos, lines: u64) {
    let minute = now.div_euclid(60 * SECOND);
    let gap = Coverage {
        asked_from: Some(minute * 60 * SECOND),
        asked_to: Some(now),
        status: Status::Truncated,
        detail: Some(format!(
            "{lines} lines could not be stored in time and are lost"
        )),
        ..row()
    };
    let key = format!("syslog|lost|{minute:020}");
    if let Err(why) = intake.keep(Vec::new(), vec![(key, gap)]).await {
        tracing::warn!(%why, "the loss of lines could not be recorded either");
    }
}

#[cfg(test)]
mod tests;
