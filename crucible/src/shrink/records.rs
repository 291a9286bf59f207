//! Fewer looks, files and records.

use std::collections::BTreeSet;

use crate::observe::{File, Recorded, truth_of};
use crate::times::View;

/// Whether it still fails.
type Still<'a> = dyn FnMut(&[View]) -> bool + 'a;

/// A look of which only these files were written.
fn with(view: &View, files: Vec<File>) -> View {
    let observers = view.recorded.truth.observers.clone();
    View {
        moment: view.moment,
        case: std::rc::Rc::clone(&view.case),
        recorded: Recorded {
            truth: truth_of(&view.case, &files, observers),
            files,
        },
    }
}

/// Leaves out looks that it does not take.
pub(super) fn fewer_views(views: &mut Vec<View>, still: &mut Still<'_>) {
    let mut at = views.len();
    while at > 0 {
        at -= 1;
        let mut less = views.clone();
        less.remove(at);
        if !less.is_empty() && still(&less) {
            *views = less;
        }
    }
}

/// Leaves out files, each from all looks.
pub(super) fn fewer_files(views: &mut Vec<View>, still: &mut Still<'_>) {
    let paths: BTreeSet<String> = views
        .iter()
        .flat_map(|view| &view.recorded.files)
        .map(|file| file.path.clone())
        .collect();
    for path in paths.into_iter().rev() {
        let less: Vec<View> = views
            .iter()
            .map(|view| {
                let mut files = view.recorded.files.clone();
                files.retain(|file| file.path != path);
                with(view, files)
            })
            .collect();
        let is_empty = less.iter().any(|view| view.recorded.files.is_empty());
        if !is_empty && still(&less) {
            *views = less;
        }
    }
}

/// Halves, quarters and so on of each file's records are left out.
pub(super) fn fewer_records(views: &mut [View], still: &mut Still<'_>) {
    for at in 0..views.len() {
        let count = views.get(at).map_or(0, |view| view.recorded.files.len());
        for file in 0..count {
            fewer_of(views, (at, file), still);
        }
    }
    for view in views {
        view.recorded.files.retain(|file| !file.records.is_empty());
    }
}

fn length(views: &[View], (view, file): (usize, usize)) -> usize {
    let file = views
        .get(view)
        .and_then(|view| view.recorded.files.get(file));
    file.map_or(0, |file| file.records.len())
}

fn fewer_of(views: &mut [View], of: (usize, usize), still: &mut Still<'_>) {
    let mut size = length(views, of).div_ceil(2);
    while size > 0 {
        let mut from = 0;
        while from < length(views, of) {
            let mut less = views.to_vec();
            if let Some(view) = less.get_mut(of.0) {
                let mut files = view.recorded.files.clone();
                if let Some(file) = files.get_mut(of.1) {
                    let to = (from + size).min(file.records.len());
                    file.records.drain(from..to);
                }
                *view = with(view, files);
            }
            if still(&less) {
                views.clone_from_slice(&less);
            } else {
                from += size;
            }
        }
        size /= 2;
    }
}
