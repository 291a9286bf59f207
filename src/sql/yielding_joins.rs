//! Statements let others have their turn.

use std::sync::Arc;

use datafusion::common::config::ConfigOptions;
use datafusion::common::tree_node::{Transformed, TransformedResult as _, TreeNode as _};
use datafusion::error::Result;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::ExecutionPlan;
use datafusion::physical_plan::coop::CooperativeExec;

/// Makes joins and recursive queries give way after some batches.
///
/// The engine's own rule counts the batches that tables give. A join can make any number of
/// rows out of one such batch; what only counts them would hold its thread until the very end,
/// and could not be cancelled.
#[derive(Debug)]
pub(super) struct YieldingJoins;

impl PhysicalOptimizerRule for YieldingJoins {
    fn name(&self) -> &'static str {
        "joins_give_way"
    }

    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|plan| {
            let can_multiply = plan.children().len() > 1;
            Ok(if can_multiply {
                Transformed::yes(Arc::new(CooperativeExec::new(plan)) as Arc<dyn ExecutionPlan>)
            } else {
                Transformed::no(plan)
            })
        })
        .data()
    }

    fn schema_check(&self) -> bool {
        true
    }
}
