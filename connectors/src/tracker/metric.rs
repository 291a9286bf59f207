//! What a curve is of, by its name: every framework and every person has names of their own.

/// What a curve shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Metric {
    /// The loss that is trained on.
    Loss,
    /// A loss of another part: a sum over an epoch, or of evaluation.
    OtherLoss,
    /// The norm of the gradient.
    GradientNorm,
    LearningRate,
    /// Work in a second.
    Throughput,
}

impl Metric {
    /// Whether a value that is no number says that the training went wrong.
    pub(super) fn may_diverge(self) -> bool {
        matches!(self, Self::Loss | Self::GradientNorm)
    }
}

/// What a curve of a name shows; `None` where it is of no use here.
///
/// Names as Hugging Face's Trainer (`train/loss`, `train/grad_norm`, `train/learning_rate`,
/// `train_samples_per_second`), Megatron (`lm loss`, `grad-norm`, `learning-rate`,
/// `throughput`), Lightning (`train_loss`, `lr-AdamW`) and `DeepSpeed` (`Train/Samples/train_loss`,
/// `Train/Samples/lr`) write them.
pub(super) fn metric(name: &str) -> Option<Metric> {
    let name = name.to_lowercase();
    let words: Vec<&str> = name
        .split(|sign: char| !sign.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty())
        .collect();
    let has = |any: &[&str]| words.iter().any(|word| any.contains(word));
    let is_of_evaluation = has(&["eval", "val", "valid", "validation", "test", "dev"]);
    if has(&["loss", "nll", "perplexity", "ppl"]) && !has(&["scale", "scaler", "scaling"]) {
        // A sum that is written once at the end is no curve.
        let is_sum = name == "train/train_loss" || has(&["epoch", "best", "min"]);
        return Some(if is_of_evaluation || is_sum {
            Metric::OtherLoss
        } else {
            Metric::Loss
        });
    }
    if has(&["grad", "gradient", "gradients", "gnorm"]) && (has(&["norm", "gnorm"])) {
        return Some(Metric::GradientNorm);
    }
    if has(&["lr"]) || has(&["learning"]) && has(&["rate"]) {
        return Some(Metric::LearningRate);
    }
    let is_rate = has(&["throughput", "tps", "tflops"])
        || has(&["per"]) && has(&["s", "sec", "second"])
        || ["/s", "/sec"].iter().any(|end| name.ends_with(end));
    (is_rate && !is_of_evaluation).then_some(Metric::Throughput)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frameworks_have_names_of_their_own() {
        for (name, kind) in [
            ("train/loss", Some(Metric::Loss)),
            ("lm loss", Some(Metric::Loss)),
            ("Train/Samples/train_loss", Some(Metric::Loss)),
            ("loss", Some(Metric::Loss)),
            ("train/train_loss", Some(Metric::OtherLoss)),
            ("eval/loss", Some(Metric::OtherLoss)),
            ("val_loss", Some(Metric::OtherLoss)),
            ("train_loss_epoch", Some(Metric::OtherLoss)),
            ("loss-scale", None),
            ("total_loss", Some(Metric::Loss)),
            ("grad-norm", Some(Metric::GradientNorm)),
            ("train/grad_norm", Some(Metric::GradientNorm)),
            ("learning-rate", Some(Metric::LearningRate)),
            ("lr-AdamW/pg1", Some(Metric::LearningRate)),
            ("throughput", Some(Metric::Throughput)),
            ("tokens_per_sec", Some(Metric::Throughput)),
            ("train/train_samples_per_second", Some(Metric::Throughput)),
            ("eval/samples_per_second", None),
            ("train/epoch", None),
            ("layers/s/weight", None),
            ("glossary", None),
        ] {
            assert_eq!(metric(name), kind, "{name}");
        }
    }
}
