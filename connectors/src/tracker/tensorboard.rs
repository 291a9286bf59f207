//! `TensorBoard`'s event files: `events.out.tfevents.SECONDS.HOST.PID.N`.
//!
//! A file is a sequence of `TFRecord`s (tensorflow `core/lib/io/record_writer.cc`): length (8 bytes), its masked
//! CRC-32C, the bytes, and their masked CRC-32C. Each holds a `tensorflow.Event` (tensorflow `core/util/event.proto`)
//!
//! ```text
//! Event      { 1: double wall_time, 2: int64 step, 3: string file_version, 5: Summary, 7: SessionLog }
//! Summary    { 1: repeated Value { 1: string tag, 2: float simple_value, 8: TensorProto } }
//! Tensor     { 1: DataType dtype, 4: bytes content, 5: floats, 6: doubles, 7: ints, 10: int64s }
//! SessionLog { 1: START = 1 | STOP = 2 | CHECKPOINT = 3, 2: string checkpoint_path }
//! ```
//!
//! Writers keep records back for up to two minutes, so the file of a program that was killed lacks the last of them.

use crc::{CRC_32_ISCSI, Crc, Table};

use super::curves::Curves;
use super::emit::{Run, seconds};
use super::place::{file, folder};
use super::wire::{Value, each_field, plain};
use crate::contract::{FormatOutput, Framer, Options, RecordFormat, RecordReader, Step};
use crate::event::Origin;
use crate::redact::redact;

/// The format of event files.
pub(super) const FORMAT: RecordFormat = RecordFormat {
    words: "TensorBoard's events",
    is: is_event_file,
    framer: || Box::new(TfRecords),
    reader: |name, _: &Options| Box::new(Events::new(name)),
};

static CRC: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_ISCSI);

/// Length and its checksum.
const HEAD: usize = 12;

/// The checksum of the bytes.
const TAIL: usize = 4;

fn masked(bytes: &[u8]) -> u32 {
    const MASK: u32 = 0xa282_ead8;
    CRC.checksum(bytes).rotate_right(15).wrapping_add(MASK)
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    let four = bytes.get(at..at + 4)?;
    Some(u32::from_le_bytes(four.try_into().ok()?))
}

/// The length of the record that begins here, where its checksum is right.
fn length(bytes: &[u8]) -> Option<usize> {
    let length = bytes.get(..8)?;
    if number(bytes, 8)? != masked(length) {
        return None;
    }
    usize::try_from(u64::from_le_bytes(length.try_into().ok()?)).ok()
}

/// The checksum of the first length tells; it is a version of some twenty bytes.
fn is_event_file(head: &[u8]) -> bool {
    length(head).is_some()
}

/// Takes `TFRecord`s apart.
struct TfRecords;

impl Framer for TfRecords {
    fn next(&mut self, bytes: &[u8], _: u64) -> Step {
        if bytes.len() < HEAD {
            return Step::Need(HEAD);
        }
        let Some(length) = length(bytes) else {
            return Step::Lost("the length of a record is damaged".to_owned());
        };
        let Some(whole) = length.checked_add(HEAD + TAIL) else {
            return Step::Lost("a record is longer than memory".to_owned());
        };
        let Some(record) = bytes
            .get(HEAD..HEAD + length)
            .filter(|_| bytes.len() >= whole)
        else {
            return Step::Need(whole);
        };
        if number(bytes, HEAD + length) == Some(masked(record)) {
            Step::Piece {
                bytes: HEAD..HEAD + length,
                whole,
                begins: true,
                ends: true,
            }
        } else {
            Step::Bad(whole, "a record whose checksum is wrong".to_owned())
        }
    }
}

/// Reads the events of one file.
struct Events {
    run: Run,
    file: Origin,
    curves: Curves,
    is_identified: bool,
}

impl Events {
    fn new(name: &str) -> Self {
        let host = host(file(name));
        let folder = folder(name);
        Self {
            run: Run {
                tracker: "TensorBoard",
                identity: host.clone().unwrap_or_default(),
                series: folder.clone(),
                folder,
                host,
                ..Run::default()
            },
            file: Origin {
                file: redact(name).into(),
                line: 0,
            },
            curves: Curves::default(),
            is_identified: false,
        }
    }
}

/// The machine's or the pod's name in an event file's name.
fn host(file: &str) -> Option<String> {
    let (_, rest) = file.split_once("tfevents.")?;
    let (time, rest) = rest.split_once('.')?;
    let digits = |part: &str| !part.is_empty() && part.bytes().all(|one| one.is_ascii_digit());
    if !digits(time) {
        return None;
    }
    let rest = rest.strip_suffix(".v2").unwrap_or(rest);
    let mut parts: Vec<&str> = rest.split('.').collect();
    // A process and a counter follow, but for tensorboardX.
    if let [before @ .., process, counter] = parts.as_slice()
        && digits(process)
        && digits(counter)
        && before.iter().any(|part| !digits(part))
    {
        parts = before.to_vec();
    }
    Some(parts.join(".")).filter(|host| !host.is_empty())
}

#[derive(Default)]
struct Event<'b> {
    wall_time: f64,
    step: i64,
    summary: Option<&'b [u8]>,
    session: Option<&'b [u8]>,
}

impl RecordReader for Events {
    fn record(&mut self, record: &[u8], number: u64, found: &mut FormatOutput) {
        match self.event(record, number, found) {
            Ok(true) => found.records += 1,
            Ok(false) => {
                found.records += 1;
                found.irrelevant += 1;
            }
            Err(why) => found.rejected.push((number, why)),
        }
    }

    fn finish(&mut self, found: &mut FormatOutput) {
        let curves = self.curves.finish();
        self.run
            .curves(&curves, &self.file, &mut found.observations);
    }
}

impl Events {
    /// Takes an event; says whether it was of use.
    fn event(
        &mut self,
        record: &[u8],
        number: u64,
        found: &mut FormatOutput,
    ) -> Result<bool, String> {
        let mut event = Event::default();
        each_field(record, |field, value| match field {
            1 => event.wall_time = value.double(),
            2 => event.step = value.int(),
            5 => event.summary = Some(value.bytes()),
            7 => event.session = Some(value.bytes()),
            _ => {}
        })?;
        let time = seconds(event.wall_time);
        if !self.is_identified {
            // The first event is of the moment in which the file was made.
            let first = event.wall_time.to_bits();
            self.run.identity = format!("{} {first:x}", self.run.identity);
            self.is_identified = true;
        }
        let Some(time) = time else {
            return Err("an event without a time".to_owned());
        };
        let mut is_of_use = false;
        if let Some(session) = event.session {
            let (mut status, mut path) = (0, String::new());
            each_field(session, |field, value| match field {
                1 => status = value.int(),
                2 => path = value.text(),
                _ => {}
            })?;
            if status == 3 {
                let origin = Origin {
                    line: number,
                    ..self.file.clone()
                };
                let saved = self.run.checkpoint(event.step, time, &path, origin);
                found.observations.push(saved);
                is_of_use = true;
            }
        }
        let mut values = Vec::new();
        each_field(event.summary.unwrap_or_default(), |field, value| {
            if field == 1 {
                values.push(value.bytes());
            }
        })?;
        for value in values {
            if let Some((tag, scalar)) = scalar(value)? {
                self.curves.value(number, event.step, time, &tag, scalar);
                is_of_use = true;
            }
        }
        Ok(is_of_use)
    }
}

/// The name and the value of a summary that is one number.
fn scalar(summary: &[u8]) -> Result<Option<(String, f64)>, String> {
    let (mut tag, mut simple, mut tensor) = (String::new(), None, None);
    each_field(summary, |field, value| match field {
        1 => tag = value.text(),
        2 => simple = Some(value.double()),
        8 => tensor = Some(value.bytes()),
        _ => {}
    })?;
    let value = match (simple, tensor) {
        (Some(simple), _) => Some(simple),
        (None, Some(tensor)) => of_tensor(tensor)?,
        (None, None) => None,
    };
    Ok(value.map(|value| (tag, value)))
}

/// The number that a tensor is, where it is one.
fn of_tensor(tensor: &[u8]) -> Result<Option<f64>, String> {
    const FLOAT: i64 = 1;
    const DOUBLE: i64 = 2;
    const INT32: i64 = 3;
    const INT64: i64 = 9;
    let (mut kind, mut content): (i64, &[u8]) = (0, &[]);
    let mut numbers = Vec::new();
    each_field(tensor, |field, value| match field {
        1 => kind = value.int(),
        4 => content = value.bytes(),
        5..=7 | 10 => numbers.push((field, value)),
        _ => {}
    })?;
    if let [(field, value)] = numbers.as_slice() {
        return Ok(listed(*field, *value));
    }
    if !numbers.is_empty() {
        return Ok(None);
    }
    let double = |bytes: &[u8]| Some(f64::from_le_bytes(bytes.try_into().ok()?));
    let float = |bytes: &[u8]| Some(plain(f32::from_le_bytes(bytes.try_into().ok()?)));
    let int = |bytes: &[u8]| Some(f64::from(i32::from_le_bytes(bytes.try_into().ok()?)));
    #[expect(clippy::cast_precision_loss, reason = "a curve is drawn, not counted")]
    let long = |bytes: &[u8]| Some(i64::from_le_bytes(bytes.try_into().ok()?) as f64);
    Ok(match kind {
        FLOAT => float(content),
        DOUBLE => double(content),
        INT32 => int(content),
        INT64 => long(content),
        _ => None,
    })
}

/// The one number of a field that may hold several, packed.
#[expect(clippy::cast_precision_loss, reason = "a curve is drawn, not counted")]
fn listed(field: u32, value: Value<'_>) -> Option<f64> {
    let packed = value.bytes();
    match (field, packed) {
        (5 | 6, []) => Some(value.double()),
        (7 | 10, []) => Some(value.int() as f64),
        (5, packed) => Some(plain(f32::from_le_bytes(packed.try_into().ok()?))),
        (6, packed) => Some(f64::from_le_bytes(packed.try_into().ok()?)),
        (_, packed) => {
            let mut rest = packed;
            let one = prost::encoding::decode_varint(&mut rest).ok()?;
            rest.is_empty().then(|| Value::Varint(one).int() as f64)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::host;

    #[test]
    fn a_file_s_name_has_the_host() {
        for (file, is) in [
            (
                "events.out.tfevents.1764321000.train-7b-worker-0.1.0",
                Some("train-7b-worker-0"),
            ),
            (
                "events.out.tfevents.1764321000.gpu-7.lab.example.4711.2.v2",
                Some("gpu-7.lab.example"),
            ),
            ("events.out.tfevents.1764321000.vm", Some("vm")),
            ("events.out.tfevents.1764321000.10.0.0.7", Some("10.0.0.7")),
            ("events.out.tfevents.vm", None),
            ("events", None),
        ] {
            assert_eq!(host(file).as_deref(), is, "{file}");
        }
    }
}
