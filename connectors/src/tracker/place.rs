//! What files mean by where they lie: a tracker's folder has files whose content says nothing of what they are.

use std::sync::LazyLock;

use regex::Regex;

use super::mlflow;
use crate::contract::TextFormat;

/// What a file is by its place.
pub(crate) enum Placed {
    /// Text with a decoder of its own.
    Text(&'static TextFormat),
    /// Of no use here, in words.
    Aside(&'static str),
}

/// `MLflow`'s file store: `EXPERIMENT/RUN/metrics/NAME`, where names may have folders.
static MLFLOW: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?:^|/)(?<folder>(?:.*/)?(?<run>[0-9a-f]{32}))/(?<kind>metrics|params|tags|inputs|outputs|artifacts)/(?<name>.+)$").ok()
});

/// W&B's folder of one run.
static WANDB: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"^(?<folder>(?:.*/)?(?:offline-)?run-\d{8}_\d{6}-[^/]+)/(?<rest>.+)$").ok()
});

fn plain(path: &str) -> String {
    path.replace(['!', '\\'], "/")
}

/// What the file of a path is, where its place says so.
pub(crate) fn by_place(path: &str) -> Option<Placed> {
    let path = &plain(path);
    if let Some(place) = mlflow(path) {
        return match place.kind.as_str() {
            "metrics" => Some(Placed::Text(&mlflow::METRIC)),
            "tags" => Some(Placed::Text(&mlflow::TAG)),
            "params" | "inputs" | "outputs" => {
                Some(Placed::Aside("MLflow's note of a run's settings"))
            }
            // What a program saved there may be anything, a log as well.
            _ => None,
        };
    }
    if is_wandbs_own(path) {
        return Some(Placed::Aside("W&B's log of itself"));
    }
    let found = WANDB.as_ref()?.captures(path)?;
    match found.name("rest")?.as_str() {
        "files/output.log" | "files/wandb-metadata.json" | "files/wandb-summary.json" => None,
        rest if rest.ends_with(".wandb") => None,
        rest if rest.starts_with("logs/") => Some(Placed::Aside("W&B's log of itself")),
        rest if rest.starts_with("files/") && !rest.ends_with(".log") => {
            Some(Placed::Aside("W&B's note of a run's settings"))
        }
        _ => None,
    }
}

/// Whether a file is what W&B links to its log of its latest run.
fn is_wandbs_own(path: &str) -> bool {
    let Some((folder, name)) = path.rsplit_once('/') else {
        return false;
    };
    file(folder) == "wandb" && name.starts_with("debug") && file_ends(name, "log")
}

fn file_ends(name: &str, with: &str) -> bool {
    name.rsplit_once('.').is_some_and(|(_, end)| end == with)
}

/// A file of `MLflow`'s store.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct MlflowPlace {
    /// The run's folder.
    pub(super) folder: String,
    /// The run's id.
    pub(super) run: String,
    pub(super) kind: String,
    /// What the metric or the tag is called.
    pub(super) name: String,
}

/// The place of a file in `MLflow`'s store.
pub(super) fn mlflow(path: &str) -> Option<MlflowPlace> {
    let path = plain(path);
    let found = MLFLOW.as_ref()?.captures(&path)?;
    let part = |name: &str| Some(found.name(name)?.as_str().to_owned());
    Some(MlflowPlace {
        folder: part("folder")?,
        run: part("run")?,
        kind: part("kind")?,
        name: part("name")?,
    })
}

/// The folder of the W&B run that a file is of.
pub(super) fn wandb(path: &str) -> Option<String> {
    let path = plain(path);
    let found = WANDB.as_ref()?.captures(&path)?;
    Some(found.name("folder")?.as_str().to_owned())
}

/// The folder that a file lies in.
pub(super) fn folder(path: &str) -> String {
    let path = plain(path);
    path.rsplit_once('/')
        .map_or_else(String::new, |(folder, _)| folder.to_owned())
}

/// The last part of a path.
pub(super) fn file(path: &str) -> &str {
    path.rsplit(['/', '\\', '!']).next().unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(path: &str) -> &'static str {
        match by_place(path) {
            Some(Placed::Text(format)) => format.words,
            Some(Placed::Aside(words)) => words,
            None => "",
        }
    }

    #[test]
    fn a_place_says_what_a_file_is() {
        let run = "mlruns/9404/a8ff1a3615694dc383c3240bd2701931";
        for (path, is) in [
            (format!("{run}/metrics/eval/loss"), "MLflow's metric"),
            (
                format!("x.tar.gz!{run}/tags/mlflow.runName"),
                "MLflow's tag",
            ),
            (
                format!("{run}/params/lr"),
                "MLflow's note of a run's settings",
            ),
            (format!("{run}/artifacts/train.log"), ""),
            (format!("{run}/meta.yaml"), ""),
            ("metrics/loss".to_owned(), ""),
        ] {
            assert_eq!(words(&path), is, "{path}");
        }
        let run = "wandb/offline-run-20261128_092749-jhufnifj";
        for (path, is) in [
            (format!("{run}/run-jhufnifj.wandb"), ""),
            (format!("{run}/files/output.log"), ""),
            (
                format!("{run}/files/requirements.txt"),
                "W&B's note of a run's settings",
            ),
            (format!("{run}/logs/debug.log"), "W&B's log of itself"),
            (
                "in/wandb/debug-internal.log".to_owned(),
                "W&B's log of itself",
            ),
            ("in/debug.log".to_owned(), ""),
        ] {
            assert_eq!(words(&path), is, "{path}");
        }
        let place =
            mlflow("in/mlruns/1/a8ff1a3615694dc383c3240bd2701931/metrics/train/loss").unwrap();
        assert_eq!(place.folder, "in/mlruns/1/a8ff1a3615694dc383c3240bd2701931");
        assert_eq!(place.name, "train/loss");
        assert_eq!(wandb(&format!("a/{run}/files/x")), Some(format!("a/{run}")));
    }
}
