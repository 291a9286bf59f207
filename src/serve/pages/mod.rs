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
mod search;
mod sessions;
mod sql;
mod visit;

use std::sync::Arc;

use axum::Router;
use axum::middleware::{from_fn, from_fn_with_state};
use axum::routing::{get, post};
use tokio::sync::{Mutex, Semaphore};
use whathappened_connectors::connector::Stop;

use self::sessions::Sessions;
use super::Service;

pub use self::sessions::Secrets;

/// What the pages share.
pub struct Pages {
    sessions: Sessions,
    /// Held by whoever explains what nobody explained yet: once at a time is enough.
    explaining: Arc<Mutex<()>>,
    /// Places of those who wait for news.
    followers: Arc<Semaphore>,
    /// Ends whoever waits for news.
    stop: Stop,
}

/// Pages that follow a run at once.
const FOLLOWERS: usize = 200;

impl Default for Pages {
    fn default() -> Self {
        Self {
            sessions: Sessions::default(),
            explaining: Arc::default(),
            followers: Arc::new(Semaphore::new(FOLLOWERS)),
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
        .route("/fleet", get(fleet::get))
        .route("/sql", get(sql::get))
        .route("/sql/catalogue", get(catalogue::get))
        .layer(from_fn_with_state(Arc::clone(service), guard::guard));
    Router::new()
        .route("/login", get(login::form).post(login::sign_in))
        .route("/logout", post(login::sign_out))
        .route("/assets/{name}", get(assets::get))
        .merge(guarded)
        .layer(from_fn(guard::policy))
}
