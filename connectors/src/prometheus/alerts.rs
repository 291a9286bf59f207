//! Which alerts fired about whom, where nobody in particular is asked about: for
//! whoever asks again and again.

use super::Prometheus;
use super::cover::Measured;
use super::emit::{DeathTimes, Emitter, alert};
use super::names::Names;
use super::plan::Plan;
use super::selector::selector;
use crate::connector::FetchRequest;
use crate::coverage::Coverage;
use crate::event::{Event, Origin};
use crate::log_store::Span;
use crate::observation::Observation;
use crate::sink::Sink;
use crate::time::Nanos;

impl Prometheus {
    /// The alerts of the window, of all machines and pods that they name. A window
    /// that overlaps the one before gives the same facts again.
    pub(super) async fn alerts(
        &self,
        fetch_request: &FetchRequest,
        sink: &mut (dyn Sink + Send),
    ) -> Vec<Coverage> {
        let mut measured = Measured::of(fetch_request, &Plan::default());
        let span = fetch_request
            .window
            .from
            .zip(fetch_request.window.to)
            .map(|(from, to)| Span { from, to })
            .filter(|span| span.from < span.to);
        let Some(span) = span else {
            return vec![measured.nobody(&self.name)];
        };
        let who = [selector(&["kube_node_info", "node_uname_info"], &[])];
        let fired = selector(&alert::METRICS, &[]);
        let (who, fired) = futures::join!(
            self.api.series(&who, span, fetch_request.deadline),
            self.api.samples(&fired, span, fetch_request.deadline)
        );
        // Without who is who an alert would be of an address, not of its machine.
        match (who, fired) {
            (Ok((who, mut warnings)), Ok(fired)) => {
                let mut names = Names::default();
                for labels in &who {
                    names.learn(labels);
                }
                let emitter = Emitter {
                    names: &names,
                    moments: &DeathTimes {
                        unknown: true,
                        ..DeathTimes::default()
                    },
                    origin: Origin {
                        file: self.name.as_str().into(),
                        line: 0,
                    },
                    observed: Some(fetch_request.now),
                    from: Some(span.from),
                };
                let mut emitted = emitter.emit(&fired.series);
                emitted.retain(
                    |one| matches!(one, Observation::Event(event) if is_whole(event, span.from)),
                );
                warnings.extend(fired.warnings);
                measured.note(true, warnings.into_iter().collect(), Vec::new());
                measured.emitted(&emitted);
                if !emitted.is_empty() {
                    sink.observe(emitted);
                }
            }
            (who, fired) => {
                let failures = who.err().into_iter().chain(fired.err());
                measured.note(false, Default::default(), failures.collect());
            }
        }
        measured.of_alerts(&self.name, fetch_request.now)
    }
}

/// Whether an alert is of somebody, and bears the same id in each window: one
/// that fired before the window began does where it is told since when.
fn is_whole(event: &Event, from: Nanos) -> bool {
    let named = event.entities.node.is_some() || event.entities.pod.is_some();
    named && (event.time.lo > from || event.attribute("active_since").is_some())
}
