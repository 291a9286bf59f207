use super::{LineTime, parse};
use crate::logs::clock::Clock;
use crate::time::Stamp;

fn parts(line: &str) -> (String, String, String, String) {
    let line = parse(line).unwrap();
    let text = |part: Option<String>| part.unwrap_or_default();
    (
        text(line.host),
        text(line.program),
        text(line.pid),
        line.message,
    )
}

#[test]
fn every_form_of_syslog_and_journal_gives_host_program_and_text() {
    for line in [
        "Nov 21 15:20:27 gpu-7 sshd[77]: hello there",
        "Nov 21 15:20:27.123456 gpu-7 sshd[77]: hello there",
        "<38>Nov 21 15:20:27 gpu-7 sshd[77]: hello there",
        "2026-11-21T15:20:27+0000 gpu-7 sshd[77]: hello there",
        "2026-11-21T15:20:27.5+00:00 gpu-7 sshd[77]: hello there",
        "Sat 2026-11-21 15:20:27 UTC gpu-7 sshd[77]: hello there",
        "1795274427.123456 gpu-7 sshd[77]: hello there",
        "[   12.123456] gpu-7 sshd[77]: hello there",
        "<38>1 2026-11-21T15:20:27.003Z gpu-7 sshd 77 - - hello there",
        r#"<38>1 2026-11-21T15:20:27.003Z gpu-7 sshd 77 ID [a@1 b="]\""][c] hello there"#,
        "- 1795274427 2026.11.21 gpu-7 Nov 21 15:20:27 gpu-7/gpu-7 sshd(pam)[77]: hello there",
    ] {
        let want = ("gpu-7", "sshd", "77", "hello there");
        let want = (
            want.0.to_owned(),
            want.1.to_owned(),
            want.2.to_owned(),
            want.3.to_owned(),
        );
        assert_eq!(parts(line), want, "{line}");
    }
}

#[test]
fn every_form_of_dmesg_gives_the_kernels_text() {
    for line in [
        "[   12.123456] NVRM: hello",
        "<6>[   12.123456] NVRM: hello",
        "[   12.123456] [ T1946] NVRM: hello",
        "kern  :warn  : [   12.123456] NVRM: hello",
        "kern  :warn  : 2026-11-21T15:20:27,123456+00:00 NVRM: hello",
        "2026-11-21T15:20:27,123456+00:00 NVRM: hello",
        "[Sat Nov 21 15:20:27 2026] NVRM: hello",
        "kernel: [   12.123456] NVRM: hello",
        "NVRM: hello",
        "Nov 21 15:20:27 gpu-7 kernel: [   12.123456] NVRM: hello",
        "Nov 21 15:20:27 kernel: NVRM: hello",
    ] {
        let (_, program, _, message) = parts(line);
        assert_eq!(
            (program.as_str(), message.as_str()),
            ("kernel", "NVRM: hello"),
            "{line}"
        );
    }
    let named =
        parse("[Sun Dec  1 14:54:40 2024] gpu-7 kernel: mlx5_core 0000:5c:00.0: x").unwrap();
    assert_eq!(named.host.as_deref(), Some("gpu-7"));
    assert_eq!(
        named.when,
        LineTime::Clock(Clock::NoZone(Stamp::parse("2024-12-01T14:54:40Z").unwrap()))
    );
    // The process is the one spoken of, not the one that speaks.
    assert_eq!(parts("[1.5] python3[7]: segfault at 0").1, "kernel");
    assert_eq!(parts("[1.5] systemd[1]: Shutting down.").1, "systemd");
}

#[test]
fn levels_are_read() {
    let line = parse("<11>Nov 21 15:20:27 gpu-7 app: x").unwrap();
    assert_eq!(
        (line.facility.as_deref(), line.severity.as_deref()),
        (Some("user"), Some("err"))
    );
    let line = parse("kern  :crit  : [1.25] x").unwrap();
    assert_eq!(line.severity.as_deref(), Some("crit"));
    assert_eq!(
        line.when,
        LineTime::Uptime {
            nanos: 1_250_000_000,
            width: 10_000_000
        }
    );
}

#[test]
fn lines_of_programs_are_none_of_a_host() {
    for line in [
        "step 5 loss 2.1",
        "[2026-11-21 15:20:27,783] [INFO] x",
        "[rank0]: Traceback (most recent call last):",
        "{\"msg\":\"x\"}",
        "[INFO] x",
        "",
    ] {
        assert_eq!(parse(line), None, "{line}");
    }
}
