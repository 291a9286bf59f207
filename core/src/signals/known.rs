//! What a signal may say of itself: classes, lanes and changes of an instance that there are.

use super::error::{SignalError, did_you_mean};
use super::expand::rule_error;
use super::file::Signal;
use super::ruleset::SignalInfo;
use super::traits::{INSTANCE_CHANGES, LANES, MachineEventKind, SignalClass, lane};

/// Refuses classes and lanes that there are not: they would say nothing.
pub(super) fn known_traits(info: &SignalInfo, signal: &Signal) -> Result<(), SignalError> {
    let classes = || SignalClass::ALL.into_iter().map(|(_, name)| name);
    let unknown = signal
        .is
        .iter()
        .find(|class| SignalClass::parse(class).is_none());
    if let Some(class) = unknown {
        let near = did_you_mean(class, classes());
        let problem = format!("there is no class {class:?}{near}");
        return Err(rule_error(&info.file, &info.written, "is", &problem));
    }
    known_lane(&info.file, &info.written, signal.lane.as_deref())?;
    let instance = signal.instance.as_deref();
    if let Some(change) = instance.filter(|change| !INSTANCE_CHANGES.contains(change)) {
        let near = did_you_mean(change, INSTANCE_CHANGES.into_iter());
        let problem = format!("{change:?} is nothing that becomes of an instance{near}");
        return Err(rule_error(&info.file, &info.written, "instance", &problem));
    }
    Ok(())
}

/// Refuses a lane that there is not.
pub(super) fn known_lane(file: &str, written: &str, word: Option<&str>) -> Result<(), SignalError> {
    let Some(unknown) = word.filter(|word| lane(word).is_none()) else {
        return Ok(());
    };
    let near = did_you_mean(unknown, LANES.into_iter().map(MachineEventKind::as_str));
    let problem = format!("there is no lane {unknown:?}{near}");
    Err(rule_error(file, written, "lane", &problem))
}
