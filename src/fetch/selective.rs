//! What a question about one run needs of clusters that are too large to be listed in full: the
//! store says what its rows name, the clusters are asked for that, until nothing new is named.

use std::sync::Arc;

use futures::future::join_all;
use whathappened_connectors::cluster::SelectiveList;
use whathappened_core::resolve::{ListedName, Name};
use whathappened_core::shared_fault::SharedFaults;
use whathappened_model::listing::{NameFilter, RelatedNames};
use whathappened_model::time::Nanos;
use whathappened_store::Store;

use super::stored;
use super::writer::StoreWriter;
use crate::case::Rules;
use crate::error::Error;

/// How often more is asked for. A run's rows name its machines and others; those name nothing
/// further that an answer needs.
const ROUNDS: usize = 4;

/// What a cluster is asked about by a name; `None` where it is listed in full.
pub(super) fn filter(name: Option<&Name>) -> Option<Arc<dyn NameFilter>> {
    let filter = ListedName::of(name?)?;
    Some(Arc::new(filter))
}

/// Reads what rows name beside the run; gives how many facts and versions are new.
pub(super) async fn complete(
    store: &mut Store,
    lists: &mut [SelectiveList],
    name: &Name,
    rules: &Arc<Rules>,
    now: Nanos,
) -> Result<u64, Error> {
    let mut new = 0;
    let mut before = None;
    if lists.is_empty() {
        return Ok(new);
    }
    for _ in 0..ROUNDS {
        let needed = needed(store, name, rules)?;
        if before.as_ref() == Some(&needed) {
            break;
        }
        let writer = StoreWriter::new(store, &rules.signals, now);
        let reading = lists.iter_mut().map(|list| {
            let (needed, mut hand) = (&needed, writer.hand());
            async move {
                match needed {
                    Some((related, has_faults)) => {
                        Box::pin(list.related(related, &mut hand)).await;
                        if *has_faults {
                            Box::pin(list.faults(&mut hand)).await;
                        }
                    }
                    None => Box::pin(list.nearest(&mut hand)).await,
                }
            }
        });
        join_all(reading).await;
        new += writer.finish()?;
        before = Some(needed);
    }
    Ok(new)
}

/// What the rows about a name name, and whether others may have seen the same faults; `None`
/// where nothing bears the name.
fn needed(
    store: &Store,
    name: &Name,
    rules: &Arc<Rules>,
) -> Result<Option<(RelatedNames, bool)>, Error> {
    let Some(found) = store.snapshot()?.find(name)? else {
        return Ok(None);
    };
    let related = found.related.clone();
    let case = stored::of_found(found, Vec::new(), Arc::clone(rules))?;
    let has_faults = !SharedFaults::times(&case.graph).is_empty();
    Ok(Some((related, has_faults)))
}
