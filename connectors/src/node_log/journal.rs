//! Records of systemd's journal: `journalctl -o json` and `-o export`.

use serde_json::{Map, Value};

use super::boot::USER_MANAGER;
use super::line::{self, HostLine, LineTime};
use crate::logs::clock::Clock;
use crate::time::Stamp;

/// Reads one record of `-o json`.
///
/// # Errors
/// Says what is wrong with it.
pub(super) fn json(text: &str) -> Result<HostLine, String> {
    let object: Map<String, Value> =
        serde_json::from_str(text).map_err(|error| error.to_string())?;
    read(&|name| object.get(name).and_then(value))
}

/// Reads a record that a log store kept, which may have left out its time.
///
/// # Errors
/// Says what is wrong with it.
pub(super) fn stored_line(fields: &Map<String, Value>, at: Stamp) -> Result<HostLine, String> {
    let get = |name: &str| fields.get(name).and_then(value);
    let stamp = time(&get).unwrap_or(Ok(at))?;
    Ok(host_line(stamp, &get))
}

/// A field: text, bytes as a list of numbers, or the first of several.
fn value(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Array(items) if items.iter().all(Value::is_u64) => {
            let bytes: Vec<u8> = items
                .iter()
                .filter_map(|item| u8::try_from(item.as_u64()?).ok())
                .collect();
            Some(String::from_utf8_lossy(&bytes).into_owned())
        }
        Value::Array(items) => items.first().and_then(self::value),
        _ => None,
    }
}

/// Reads one record of `-o export`: `NAME=value` lines, or `NAME`, the length in
/// eight bytes, the value, where the value is no plain text.
///
/// # Errors
/// Says what is wrong with it.
pub(super) fn export(record: &[u8]) -> Result<HostLine, String> {
    let mut fields: Vec<(&[u8], &[u8])> = Vec::new();
    let mut rest = record;
    while !rest.is_empty() {
        let (field, after) = field(rest).ok_or("a field that is cut off")?;
        fields.push(field);
        rest = after;
    }
    read(&|name| {
        let found = fields.iter().find(|(key, _)| *key == name.as_bytes())?;
        Some(String::from_utf8_lossy(found.1).into_owned())
    })
}

type Field<'r> = (&'r [u8], &'r [u8]);

/// The first field of `bytes`, and what follows it.
fn field(bytes: &[u8]) -> Option<(Field<'_>, &[u8])> {
    let end = memchr::memchr(b'\n', bytes)?;
    let line = &bytes[..end];
    let rest = &bytes[end + 1..];
    if let Some(equals) = memchr::memchr(b'=', line) {
        return Some(((&line[..equals], &line[equals + 1..]), rest));
    }
    let length = u64::from_le_bytes(rest.get(..8)?.try_into().ok()?);
    let length = usize::try_from(length).ok()?;
    let value = rest.get(8..8_usize.checked_add(length)?)?;
    let rest = rest.get(8 + length + 1..)?;
    Some(((line, value), rest))
}

/// Where the record at the start of `bytes` ends: after its blank line.
pub(super) fn export_end(bytes: &[u8]) -> Option<usize> {
    let mut rest = bytes;
    while let Some(&first) = rest.first() {
        if first == b'\n' {
            return Some(bytes.len() - rest.len() + 1);
        }
        rest = field(rest)?.1;
    }
    None
}

fn read(get: &dyn Fn(&str) -> Option<String>) -> Result<HostLine, String> {
    let stamp = time(get).ok_or("a journal record without __REALTIME_TIMESTAMP")??;
    Ok(host_line(stamp, get))
}

/// When it happened, else when the journal got it; `None` where it does not say.
fn time(get: &dyn Fn(&str) -> Option<String>) -> Option<Result<Stamp, String>> {
    let time = get("_SOURCE_REALTIME_TIMESTAMP").or_else(|| get("__REALTIME_TIMESTAMP"))?;
    let micros = time
        .parse::<i64>()
        .map_err(|_| "a journal record whose time is not a number".to_owned());
    Some(micros.and_then(|micros| {
        let lo = micros
            .checked_mul(1_000)
            .ok_or("a journal record whose time is out of range")?;
        Ok(Stamp {
            lo,
            hi: lo.saturating_add(1_000),
        })
    }))
}

fn host_line(stamp: Stamp, get: &dyn Fn(&str) -> Option<String>) -> HostLine {
    let message = get("MESSAGE").unwrap_or_default();
    let number = |name: &str| get(name)?.parse::<usize>().ok();
    let program = match get("_TRANSPORT").as_deref() {
        Some("kernel") => Some("kernel".to_owned()),
        _ => get("SYSLOG_IDENTIFIER").or_else(|| get("_COMM")),
    };
    let pid = get("_PID").or_else(|| get("SYSLOG_PID"));
    let of_user = pid.is_none()
        && program.as_deref() == Some("systemd")
        && (get("_SYSTEMD_USER_UNIT").is_some() || get("USER_UNIT").is_some());
    let program = if of_user {
        Some(USER_MANAGER.to_owned())
    } else {
        program
    };
    HostLine {
        host: get("_HOSTNAME"),
        program,
        pid,
        unit: unit(get),
        facility: number("SYSLOG_FACILITY").and_then(line::facility),
        severity: number("PRIORITY").and_then(line::severity),
        boot_id: get("_BOOT_ID"),
        ..HostLine::new(LineTime::Clock(Clock::Full(stamp)), &message)
    }
}

/// The unit that a record is about, else that of the process which wrote it. A session or a slice is no service, and what
/// somebody asks for with `sudo` is not about the unit that they signed in through.
fn unit(get: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let about = get("UNIT").or_else(|| get("USER_UNIT"));
    let own = || {
        let unit = get("_SYSTEMD_USER_UNIT").or_else(|| get("_SYSTEMD_UNIT"))?;
        let asks = get("SYSLOG_IDENTIFIER").is_some_and(|name| name == "sudo" || name == "su");
        (unit.ends_with(".service") && !asks).then_some(unit)
    };
    about.or_else(own)
}

#[cfg(test)]
mod tests {
    use super::super::boot;
    use super::*;

    #[test]
    fn json_and_export_say_the_same() {
        let emitted = json(
            r#"{"__REALTIME_TIMESTAMP":"1795274427123456","_HOSTNAME":"gpu-7","_TRANSPORT":"kernel","PRIORITY":"3","SYSLOG_FACILITY":"0","_BOOT_ID":"b1","MESSAGE":"NVRM: x"}"#,
        )
        .unwrap();
        assert_eq!(emitted.program.as_deref(), Some("kernel"));
        assert_eq!(emitted.severity.as_deref(), Some("err"));
        assert_eq!(
            emitted.when,
            LineTime::Clock(Clock::Full(
                Stamp::parse("2026-11-21T15:20:27.123456Z").unwrap()
            ))
        );
        let mut record = b"__CURSOR=s=1;i=2\n__REALTIME_TIMESTAMP=1795274427123456\n_HOSTNAME=gpu-7\n_TRANSPORT=kernel\nPRIORITY=3\nSYSLOG_FACILITY=0\n_BOOT_ID=b1\nMESSAGE\n".to_vec();
        record.extend(7_u64.to_le_bytes());
        record.extend(b"NVRM: x\n");
        assert_eq!(export(&record).unwrap(), emitted);
        let whole = record.len() + 1;
        record.extend(b"\n__CURSOR=s=2\n");
        assert_eq!(export_end(&record), Some(whole));
    }

    #[test]
    fn a_users_own_systemd_is_not_the_machines() {
        let emitted = |more: &str| {
            let text = format!(
                r#"{{"__REALTIME_TIMESTAMP":"1795274427123456","SYSLOG_IDENTIFIER":"systemd","MESSAGE":"Reached target Shutdown."{more}}}"#
            );
            json(&text).unwrap()
        };
        assert!(boot::is_end(&emitted("")));
        assert!(boot::is_end(&emitted(r#","_PID":"1""#)));
        assert!(!boot::is_end(&emitted(r#","_PID":"4321""#)));
        assert!(!boot::is_end(&emitted(
            r#","_SYSTEMD_USER_UNIT":"init.scope""#
        )));
    }

    #[test]
    fn what_is_no_record_is_refused() {
        assert!(json("{}").is_err());
        assert!(json("{").is_err());
        assert!(json(r#"{"__REALTIME_TIMESTAMP":"99999999999999999999"}"#).is_err());
        assert!(export(b"MESSAGE\n\x09\0\0\0\0\0\0\0x").is_err());
        let bytes = json(r#"{"__REALTIME_TIMESTAMP":"1","MESSAGE":[104,105]}"#).unwrap();
        assert_eq!(bytes.message, "hi");
    }
}
