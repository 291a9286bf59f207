//! The case that all tables read, and what is worked out from it at most once.

use std::sync::{Arc, OnceLock};

use futures::future::BoxFuture;
use tokio::sync::OnceCell;
use whathappened_core::evidence::{EvidenceRow, Row};

use super::column::reported;
use super::functions::AnswerSource;
use crate::answer::Answer;
use crate::case::Case;
use crate::error::Error;
use crate::report::{self, Question};

/// A case and what statements made of it so far.
#[derive(Debug)]
pub(super) struct SharedCase {
    pub(super) case: Arc<Case>,
    order: OnceLock<Vec<EvidenceRow>>,
    everything: OnceCell<Answer>,
}

impl SharedCase {
    pub(super) fn new(case: Arc<Case>) -> Self {
        Self {
            case,
            order: OnceLock::new(),
            everything: OnceCell::new(),
        }
    }

    /// Numbers of all facts in order of (time, id); those without a time last.
    pub(super) fn order(&self) -> &[EvidenceRow] {
        self.order.get_or_init(|| {
            let rows = self.case.graph.evidence.rows();
            let key = |row: &Row| (reported(row.time).is_none(), row.time.lo, row.id);
            let mut order: Vec<EvidenceRow> = rows.numbers().collect();
            order.sort_by_cached_key(|number| rows.get(*number).map(key));
            order
        })
    }

    /// What happened to everything in the input; explained when first asked for.
    pub(super) async fn everything(&self) -> Result<&Answer, Error> {
        let explain = || report::with_survived(&self.case);
        self.everything.get_or_try_init(explain).await
    }
}

impl AnswerSource for SharedCase {
    fn about(self: Arc<Self>, name: String) -> BoxFuture<'static, Result<Answer, Error>> {
        Box::pin(async move {
            let question = Question {
                name,
                ..Question::default()
            };
            report::answer(&self.case, &question).await
        })
    }
}
