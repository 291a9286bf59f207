//! Keys whose letters fell otherwise than most: what tells a key from a path and a name is a matter of chance.

use super::*;

const BASE64: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/// A key of so many letters, from a number.
fn key(number: u64, count: usize) -> String {
    let mut state = number;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = state;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    };
    let mut letter = || char::from(BASE64[usize::try_from(next() % 64).unwrap()]);
    (0..count).map(|_| letter()).collect()
}

/// One in a hundred and forty was left: few digits, or many slashes.
#[test]
fn a_bare_key_of_base64_is_known_however_its_letters_fell() {
    let known = "Oornkr/vsXqVGQGVqgsoPLbIqwTbPvOoMDFhZO1BAMPfk//SygHcXxCIl0J5rcLm";
    assert_eq!(redact(&format!("0/1: {known}")), format!("0/1: {MASK}"));
    let left = (0..10_000_u64)
        .map(|number| key(number << 8, 64))
        .filter(|key| redact(&format!("failed: {key} x")).contains(&key[24..40]));
    let left: Vec<String> = left.collect();
    assert!(left.len() < 10, "{} of 10000: {left:?}", left.len());
}

#[test]
fn long_names_and_paths_are_no_keys() {
    for text in [
        "src/main/java/com/example/training/TrainingJobControllerReconciliationLoopTest2",
        "org/apache/spark/sql/execution/datasources/v2/parquet/ParquetPartitionReaderFactory",
        "TransformerEncoderLayerWithRelativePositionEmbeddingsAndGatedLinearUnits2Large",
        "mnt/data/Datasets/ImageNet/Train/ILSVRC2012/Images/Class0001/Sample00001234567",
        "aws/bedrock/Claude/Sonnet/Finetune/Run/A/B/C/D/E/F/G/H/I/J/K/L/M/N/O/P/Q/R/S1",
    ] {
        assert_eq!(redact(text), text);
    }
}
