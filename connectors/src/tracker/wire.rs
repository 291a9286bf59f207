//! Fields of a protobuf message, without a schema: only a few of the trackers' messages matter here.

use prost::bytes::Buf as _;
use prost::encoding::{DecodeContext, WireType, decode_key, decode_varint, skip_field};

/// What a field holds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Value<'b> {
    /// A whole number, or one of an enumeration.
    Varint(u64),
    /// A double.
    Fixed64(u64),
    /// A float.
    Fixed32(u32),
    /// A text, a message, or packed numbers.
    Bytes(&'b [u8]),
}

impl<'b> Value<'b> {
    #[expect(
        clippy::cast_possible_wrap,
        reason = "protobuf writes negative numbers as their two's complement"
    )]
    pub(super) fn int(self) -> i64 {
        match self {
            Self::Varint(number) | Self::Fixed64(number) => number as i64,
            Self::Fixed32(number) => i64::from(number),
            Self::Bytes(_) => 0,
        }
    }

    pub(super) fn double(self) -> f64 {
        match self {
            Self::Fixed64(bits) => f64::from_bits(bits),
            Self::Fixed32(bits) => plain(f32::from_bits(bits)),
            Self::Varint(_) | Self::Bytes(_) => 0.0,
        }
    }

    pub(super) fn bytes(self) -> &'b [u8] {
        match self {
            Self::Bytes(bytes) => bytes,
            _ => &[],
        }
    }

    pub(super) fn text(self) -> String {
        String::from_utf8_lossy(self.bytes()).into_owned()
    }
}

/// A float as people write it: 0.0001 and not 0.00009999999747378752.
pub(super) fn plain(value: f32) -> f64 {
    value
        .to_string()
        .parse()
        .unwrap_or_else(|_| f64::from(value))
}

/// Shows each field of a message.
///
/// # Errors
/// Says why the bytes are no message.
pub(super) fn each_field<'b>(
    message: &'b [u8],
    mut show: impl FnMut(u32, Value<'b>),
) -> Result<(), String> {
    let mut rest = message;
    while !rest.is_empty() {
        let (field, wire) = decode_key(&mut rest).map_err(decode_error)?;
        let value = match wire {
            WireType::Varint => Value::Varint(decode_varint(&mut rest).map_err(decode_error)?),
            WireType::SixtyFourBit if rest.len() >= 8 => Value::Fixed64(rest.get_u64_le()),
            WireType::ThirtyTwoBit if rest.len() >= 4 => Value::Fixed32(rest.get_u32_le()),
            WireType::SixtyFourBit | WireType::ThirtyTwoBit => return Err(cut()),
            WireType::LengthDelimited => {
                let length = decode_varint(&mut rest).map_err(decode_error)?;
                let length = usize::try_from(length).map_err(|_| cut())?;
                let (bytes, after) = rest.split_at_checked(length).ok_or_else(cut)?;
                rest = after;
                Value::Bytes(bytes)
            }
            WireType::StartGroup | WireType::EndGroup => {
                skip_field(wire, field, &mut rest, DecodeContext::default())
                    .map_err(decode_error)?;
                continue;
            }
        };
        show(field, value);
    }
    Ok(())
}

#[expect(
    clippy::needless_pass_by_value,
    reason = "`map_err` gives the error away"
)]
fn decode_error(error: prost::DecodeError) -> String {
    format!("no protobuf message: {error}")
}

fn cut() -> String {
    "a protobuf message that is cut off".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(message: &[u8]) -> Result<Vec<(u32, Value<'_>)>, String> {
        let mut found = Vec::new();
        each_field(message, |field, value| found.push((field, value)))?;
        Ok(found)
    }

    #[test]
    fn fields_come_as_they_stand() {
        let message = [
            0x08, 0x96, 0x01, 0x12, 0x02, b'h', b'i', 0x1d, 0, 0, 0x80, 0x3f,
        ];
        let found = fields(&message).unwrap();
        assert_eq!(found[0], (1, Value::Varint(150)));
        assert_eq!(found[1].1.text(), "hi");
        assert!((found[2].1.double() - 1.0).abs() < f64::EPSILON);
        assert_eq!(plain(1e-4).to_string(), "0.0001");
        assert!(plain(f32::NAN).is_nan() && plain(f32::NEG_INFINITY) < 0.0);
        let negative = [
            0x08, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01,
        ];
        assert_eq!(fields(&negative).unwrap()[0].1.int(), -1);
    }

    #[test]
    fn what_is_no_message_is_refused() {
        for message in [
            &[0x12, 0x7f, b'x'][..],
            &[0x00, 0x01],
            &[0x08],
            &[0x0d, 0x00],
            &[0x0b, 0x0b, 0x0b],
            &[
                0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01,
            ],
        ] {
            assert!(fields(message).is_err(), "{message:?}");
        }
    }
}
