//! Killed at any moment of collecting: nothing acknowledged is lost, nothing is double.

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader, Read as _};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use super::api_server::ApiServer;
use super::audit;
use super::service::{Service, TOKEN, configure, events, push, sql};

/// How often it is killed.
const KILLS: u64 = 200;
/// Deletions in one body that is pushed.
const PUSHED: usize = 5;

/// Numbers that look random and are the same every time.
fn random(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Pushes deletions to whoever listens, and notes what was acknowledged.
fn pusher(
    address: &Mutex<Option<String>>,
    over: &AtomicBool,
    next: &AtomicUsize,
    acknowledged: &Mutex<BTreeSet<String>>,
) {
    while !over.load(Ordering::Relaxed) {
        let Some(to) = address.lock().unwrap().clone() else {
            std::thread::sleep(Duration::from_millis(2));
            continue;
        };
        let from = next.fetch_add(PUSHED, Ordering::Relaxed);
        let names: Vec<String> = (from..from + PUSHED).map(|n| format!("p-{n}")).collect();
        // One that is not acknowledged is not pushed again: it may be there or not.
        match push(&to, "kubernetes-audit", &audit(&names), TOKEN) {
            Some((200, _)) => acknowledged.lock().unwrap().extend(names),
            _ => std::thread::sleep(Duration::from_millis(5)),
        }
    }
}

#[test]
fn killed_at_any_moment_of_collecting() {
    let server = ApiServer::start();
    configure(&server);
    // The list is acknowledged before anything happens: from then on only the
    // cursor leads to what happens.
    let service = Service::start(&server);
    server.wait_for_watch();
    std::thread::sleep(Duration::from_millis(500));
    service.kill();
    let address = Arc::new(Mutex::new(None));
    let over = Arc::new(AtomicBool::new(false));
    let (next, acknowledged) = (Arc::<AtomicUsize>::default(), Arc::<Mutex<_>>::default());
    let pushers: Vec<_> = (0..2)
        .map(|_| {
            let (address, over) = (Arc::clone(&address), Arc::clone(&over));
            let (next, acknowledged) = (Arc::clone(&next), Arc::clone(&acknowledged));
            std::thread::spawn(move || pusher(&address, &over, &next, &acknowledged))
        })
        .collect();
    let mut listened = 0;
    for seed in 0..KILLS {
        let mut child = Service::spawn(&server);
        let stderr = child.stderr.take().unwrap();
        let reported = Arc::clone(&address);
        let reading = std::thread::spawn(move || {
            let mut reader = BufReader::new(stderr);
            let mut line = String::new();
            while reader.read_line(&mut line).is_ok_and(|read| read > 0) {
                if let Some(at) = line.strip_prefix("listening on http://") {
                    *reported.lock().unwrap() = Some(at.trim().to_owned());
                    break;
                }
                line.clear();
            }
            let mut rest = Vec::new();
            drop(reader.read_to_end(&mut rest));
        });
        // Spread over starting, listing, watching and writing.
        let lives = 20 + random(seed) % 800;
        for _ in 0..lives / 20 {
            server.happen(1);
            std::thread::sleep(Duration::from_millis(20));
        }
        child.kill().unwrap();
        child.wait().unwrap();
        reading.join().unwrap();
        listened += u64::from(address.lock().unwrap().take().is_some());
    }
    over.store(true, Ordering::Relaxed);
    for pusher in pushers {
        pusher.join().unwrap();
    }
    assert!(
        listened > KILLS / 10,
        "it hardly ever got to listen: {listened}"
    );
    // Whoever comes next goes on where the dead were.
    let all = server.happen(1) as u64;
    let service = Service::start(&server);
    let began = std::time::Instant::now();
    while events(&server).1 < all {
        assert!(
            began.elapsed() < Duration::from_secs(120),
            "{:?} of {all}",
            events(&server)
        );
        std::thread::sleep(Duration::from_millis(300));
    }
    assert_eq!(service.stop(), Some(0));
    assert_eq!(events(&server), (all, all), "lost or double");
    let rows = sql(
        &server,
        "SELECT pod, count(*) AS n FROM events WHERE source_kind = 'kubernetes_audit' GROUP BY pod",
    );
    let rows = rows.as_array().unwrap();
    let twice: Vec<_> = rows.iter().filter(|row| row["n"] != 1).collect();
    assert!(twice.is_empty(), "double: {twice:?}");
    let there: BTreeSet<&str> = rows.iter().filter_map(|row| row["pod"].as_str()).collect();
    let acknowledged = acknowledged.lock().unwrap();
    assert!(
        acknowledged.len() > 10,
        "hardly anything was pushed: {}",
        acknowledged.len()
    );
    let lost: Vec<_> = acknowledged
        .iter()
        .filter(|name| !there.contains(name.as_str()))
        .collect();
    assert!(lost.is_empty(), "acknowledged and lost: {lost:?}");
    println!(
        "{KILLS} kills, {listened} while it listened: {all} events, {} deletions acknowledged of {} pushed",
        acknowledged.len(),
        next.load(Ordering::Relaxed)
    );
}
