//! Waits for what an object store is asked, from threads that may wait.

use std::sync::{LazyLock, mpsc};

use tokio::runtime::{Builder, Runtime};

use crate::error::StoreError;

/// Threads that speak to object stores; there is more waiting than working.
const THREADS: usize = 2;

/// They go on while a thread of another runtime waits for them.
static RUNTIME: LazyLock<std::io::Result<Runtime>> = LazyLock::new(|| {
    Builder::new_multi_thread()
        .worker_threads(THREADS)
        .thread_name("lake")
        .enable_all()
        .build()
});

/// Waits for `work`, which goes on in threads of its own.
pub(super) fn wait<T: Send + 'static>(
    work: impl Future<Output = Result<T, StoreError>> + Send + 'static,
) -> Result<T, StoreError> {
    let runtime = RUNTIME
        .as_ref()
        .map_err(|error| StoreError::elsewhere("starting threads", error))?;
    let (sender, receiver) = mpsc::channel();
    runtime.spawn(async move {
        // Whoever asked may be gone.
        let _gone = sender.send(work.await);
    });
    receiver
        .recv()
        .unwrap_or_else(|_| Err(StoreError::elsewhere("the lake", "its thread ended early")))
}
