//! Whose request is being answered: of the few places of those who hold a case in memory, one caller may have half, so that
//! whoever asks much makes only themselves wait.

use tokio::sync::OwnedSemaphorePermit;

use super::own_places::OwnPlaces;

tokio::task_local! {
    static CALLER: String;
}

/// Does something for a caller.
pub(super) async fn for_caller<F: Future>(caller: String, work: F) -> F::Output {
    CALLER.scope(caller, work).await
}

/// The same work for a task of its own, done for whom this task works, if for anybody.
pub(super) fn carry<F: Future>(work: F) -> impl Future<Output = F::Output> {
    let caller = CALLER.try_with(String::clone).ok();
    async move {
        match caller {
            Some(caller) => for_caller(caller, work).await,
            None => work.await,
        }
    }
}

/// The turns of all callers.
#[derive(Debug)]
pub(super) struct Turns(OwnPlaces);

impl Turns {
    /// Half of so many places for each.
    pub(super) fn of(places: usize) -> Self {
        Self(OwnPlaces::half_of(places))
    }

    /// Waits for a turn of the caller that this task works for; `None` where it works for none in particular.
    pub(super) async fn turn(&self) -> Option<OwnedSemaphorePermit> {
        let caller = CALLER.try_with(String::clone).ok()?;
        self.0.of(&caller).acquire_owned().await.ok()
    }
}
