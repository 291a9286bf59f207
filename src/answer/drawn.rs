//! What only pictures show: how pods lived, and how the work went. It is no part of the JSON form.

use std::collections::BTreeMap;

use whathappened_model::time::Nanos;

/// What a picture of an answer shows beside it.
#[derive(Clone, Debug, Default)]
pub struct Drawn {
    /// Pods of the run that leads.
    pub lives: Vec<Life>,
    /// Values over time.
    pub curves: Vec<Curve>,
    /// Records behind rows of the timeline by their ids, where a page has to do without the input.
    pub records: BTreeMap<String, DrawnRecord>,
}

/// A record as it was read.
#[derive(Clone, Debug)]
pub struct DrawnRecord {
    /// File and line.
    pub place: String,
    /// Its text; nothing where it has none of its own.
    pub raw: Option<String>,
}

/// How one pod lived.
#[derive(Clone, Debug)]
pub struct Life {
    /// Its name.
    pub pod: String,
    /// Where it was.
    pub node: Option<String>,
    /// Its rank in the gang.
    pub rank: Option<i32>,
    /// Its states, one after another: which, from when, and until when where an end is known.
    pub states: Vec<(LifeState, Nanos, Option<Nanos>)>,
}

/// In which state a pod is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LifeState {
    /// It was made and has no machine yet.
    Waiting,
    /// It was made and does not run yet; since when it has a machine, no record says.
    Pending,
    /// It has a machine and does not run yet.
    Starting,
    /// Its main container runs.
    Running,
    /// It runs and its work does not get on.
    Stuck,
    /// Its main container ended and is to be started again.
    Restarting,
    /// Somebody asked for its end.
    Terminating,
    /// It is there; in which state, no record says.
    There,
}

/// Values of one kind over time.
#[derive(Clone, Debug)]
pub struct Curve {
    /// What is drawn: `Loss`.
    pub title: &'static str,
    /// Its unit, where it has one.
    pub unit: String,
    /// Whose values they are.
    pub of: String,
    /// Values with their times; without a value where the line is broken.
    pub points: Vec<(Nanos, Option<f64>)>,
    /// A value that it must not pass, such as a limit of memory.
    pub limit: Option<f64>,
    /// Whether 0 belongs into the picture.
    pub from_zero: bool,
}
