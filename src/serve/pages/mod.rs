//! The pages: what the API answers, for people in a browser.
//!
//! A file a page; `guard` lets callers through, by a session that `login` begins, and says what
//! a browser may load; `visit` is what each page knows of its reader.

mod assets;
mod catalogue;
mod experiment;
mod fleet;
mod follow;
mod guard;
mod home;
mod incident;
mod login;
mod node;
mod oidc;
mod record;
mod search;
mod sessions;
mod sql;
mod visit;

use std::sync::Arc;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{get, post};
use tokio::sync::{Mutex, OwnedSemaphorePermit, Semaphore};
use whathappened_model::connector::Stop;

use self::experiment::Standing;
use self::sessions::Sessions;
use super::kept::Kept;
use super::own_places::OwnPlaces;
use super::{CallerQuestion, Service};
use crate::access::Access;
use crate::render::site::AnswerPage;

pub(super) use self::oidc::{check as check_provider, is_safe_address};
pub use self::sessions::Secrets;

/// What the pages share.
pub struct Pages {
    sessions: Sessions,
    /// People who are at the identity provider.
    sign_ins: oidc::SignIns,
    /// Held by whoever explains what nobody explained yet: once at a time is enough.
    explaining: Arc<Mutex<()>>,
    /// Places of those who wait for news.
    followers: Arc<Semaphore>,
    /// Those of each caller, so that one of them leaves places to the others.
    of_callers: OwnPlaces,
    /// Those that may look for news at once, where that takes long: whoever follows a run does not stand in
    /// the way of who asks.
    looks: Semaphore,
    /// How experiments stood when they were looked at last.
    standing: Kept<CallerQuestion, Standing>,
    /// Pages of experiments, as they are until the store is another.
    experiments: Kept<CallerQuestion, Arc<AnswerPage>>,
    /// Pages of incidents, by their ids and what a reader may see.
    incidents: Kept<(String, Access), Arc<AnswerPage>>,
    /// Ends whoever waits for news.
    stop: Stop,
}

/// Pages that follow a run at once.
const FOLLOWERS: usize = 200;

/// Of them, those whose runs are read at once: half of the places of those who hold a case.
const LOOKS: usize = 2;

impl Default for Pages {
    fn default() -> Self {
        Self {
            sessions: Sessions::default(),
            sign_ins: oidc::SignIns::default(),
            explaining: Arc::default(),
            followers: Arc::new(Semaphore::new(FOLLOWERS)),
            of_callers: OwnPlaces::half_of(FOLLOWERS),
            looks: Semaphore::new(LOOKS),
            standing: Kept::in_bytes(1 << 20),
            experiments: Kept::in_bytes(48 << 20),
            incidents: Kept::in_bytes(24 << 20),
            stop: Stop::default(),
        }
    }
}

// Who is signed in is nobody's business.
impl std::fmt::Debug for Pages {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pages").finish_non_exhaustive()
    }
}

impl Pages {
    /// Pages whose sessions have such ids, until `stop`.
    #[must_use]
    pub fn new(secrets: Secrets, stop: Stop) -> Self {
        Self {
            sessions: Sessions::new(secrets),
            stop,
            ..Self::default()
        }
    }

    /// Something that nobody can guess.
    fn secret(&self) -> std::io::Result<[u8; 32]> {
        self.sessions.secret()
    }

    /// A place for a page of a caller that waits for news, if there is one.
    fn follow(&self, caller: &str) -> Option<FollowerPlace> {
        let own = self.of_callers.of(caller).try_acquire_owned().ok()?;
        let all = Arc::clone(&self.followers).try_acquire_owned().ok()?;
        Some(FollowerPlace {
            _own: own,
            _all: all,
        })
    }
}

/// Held by a page that waits for news.
struct FollowerPlace {
    _own: OwnedSemaphorePermit,
    _all: OwnedSemaphorePermit,
}

/// The pages' part of the listener.
pub(super) fn router(service: &Arc<Service>) -> Router<Arc<Service>> {
    let guarded = Router::new()
        .route("/", get(home::get))
        .route("/search", get(search::get))
        .route("/suggest", get(search::suggest))
        .route("/x/{name}", get(experiment::get))
        .route("/x/{name}/follow", get(follow::get))
        .route("/i/{id}", get(incident::get))
        .route("/node/{name}", get(node::get))
        .route("/record/{id}", get(record::get))
        .route("/fleet", get(fleet::get))
        .route("/sql", get(sql::get))
        .route("/sql/catalogue", get(catalogue::get))
        .layer(from_fn_with_state(Arc::clone(service), guard::guard));
    Router::new()
        .route("/login", get(login::form).post(login::sign_in))
        .route("/login/oidc", get(oidc::begin))
        .route("/login/oidc/callback", get(oidc::back_from))
        .route("/logout", post(login::sign_out))
        .route("/assets/{name}", get(assets::get))
        .merge(guarded)
        .layer(from_fn(guard::policy))
}
