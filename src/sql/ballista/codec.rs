//! How plans that read a lake are written for Ballista's scheduler and executors.

use std::sync::Arc;

use ballista_core::serde::BallistaPhysicalExtensionCodec;
use datafusion::error::{DataFusionError, Result};
use datafusion::execution::TaskContext;
use datafusion::physical_plan::ExecutionPlan;
use datafusion_proto::physical_plan::{PhysicalExtensionCodec, PhysicalProtoConverterExtension};

use crate::error::Error;
use crate::sql::StoredTables;
use crate::sql::stored::{LakeRead, Lakes, Reading};

/// What the bytes of a node of ours begin with.
const OURS: &[u8] = b"whathappened/lake/1\n";

/// Ballista's own nodes, and the one that reads a lake.
#[derive(Debug)]
pub(super) struct Codec {
    theirs: BallistaPhysicalExtensionCodec,
    lakes: Arc<dyn Lakes>,
}

impl Codec {
    /// For whoever runs plans.
    pub(super) fn reading(lakes: Arc<dyn Lakes>) -> Self {
        Self {
            theirs: BallistaPhysicalExtensionCodec::default(),
            lakes,
        }
    }

    /// For whoever hands plans on.
    pub(super) fn passing() -> Self {
        Self::reading(Arc::new(Nowhere))
    }
}

/// The scheduler has no lake.
#[derive(Debug)]
struct Nowhere;

impl Lakes for Nowhere {
    fn open(&self, reading: &Reading) -> std::result::Result<Arc<StoredTables>, Error> {
        Err(Error::halted(
            format!("{} is not read here", reading.lake),
            "start executors with: whathappened ballista executor",
        ))
    }
}

impl PhysicalExtensionCodec for Codec {
    fn try_decode(
        &self,
        buf: &[u8],
        inputs: &[Arc<dyn ExecutionPlan>],
        ctx: &TaskContext,
        proto_converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let Some(text) = buf.strip_prefix(OURS) else {
            return self.theirs.try_decode(buf, inputs, ctx, proto_converter);
        };
        let [input] = inputs else {
            return Err(DataFusionError::Internal(
                "a reading of a lake has one input".to_owned(),
            ));
        };
        let reading: Reading = serde_json::from_slice(text)
            .map_err(|error| DataFusionError::External(error.into()))?;
        let read = LakeRead::new(Arc::clone(input), reading, Arc::clone(&self.lakes))?;
        Ok(Arc::new(read))
    }

    fn try_encode(
        &self,
        node: Arc<dyn ExecutionPlan>,
        buf: &mut Vec<u8>,
        proto_converter: &dyn PhysicalProtoConverterExtension,
    ) -> Result<()> {
        let Some(read) = node.downcast_ref::<LakeRead>() else {
            return self.theirs.try_encode(node, buf, proto_converter);
        };
        buf.extend_from_slice(OURS);
        serde_json::to_writer(buf, read.reading())
            .map_err(|error| DataFusionError::External(Box::new(error)))
    }
}
