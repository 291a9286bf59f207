//! The logs of programs on cloud instances, in a folder that was put under the instance's name:
//! `trainer-vm-5/train.log`.

use std::collections::HashMap;

use super::identity::Pods;
use super::lone_log::Lines;
use super::task::TaskKind;
use crate::evidence::SpillError;
use crate::symbols::Symbol;

/// Gives lines that name no pod, job or machine to the instance whose name a folder on the way
/// to their file bears, the innermost first. Where several instances have that name, none of
/// them gets the lines.
///
/// # Errors
/// When the evidence cannot be read back.
pub(super) fn adopt(all: &mut Lines<'_>) -> Result<(), SpillError> {
    let instances = instances(all.pods);
    if instances.is_empty() {
        return Ok(());
    }
    let mut owners: HashMap<Symbol, Option<u32>> = HashMap::new();
    all.give(|row, symbols| {
        if row.node.is_some() || row.instance.is_some() {
            return None;
        }
        *owners.entry(row.file()).or_insert_with(|| {
            let path = symbols.name(row.file()).rsplit(['/', '\\', '!']);
            // The file's own name says what it is, not of what.
            path.skip(1)
                .filter_map(|folder| symbols.find(folder))
                .find_map(|folder| instances.get(&folder).copied().flatten())
        })
    })?;
    for (file, owner) in owners {
        let owner = owner.and_then(|owner| all.pods.all.get_mut(owner as usize));
        if let Some(one) = owner {
            one.log_files.insert(file);
        }
    }
    Ok(())
}

/// Instances by name, none where several share it.
fn instances(pods: &Pods) -> HashMap<Symbol, Option<u32>> {
    let mut found: HashMap<Symbol, Option<u32>> = HashMap::new();
    for (number, one) in (0..).zip(&pods.all) {
        if one.kind == TaskKind::Instance && one.name.is_some() {
            found
                .entry(one.name)
                .and_modify(|other| *other = None)
                .or_insert(Some(number));
        }
    }
    found
}
