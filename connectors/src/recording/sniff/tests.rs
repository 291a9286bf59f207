use super::*;

#[test]
fn names_do_not_matter_contents_do() {
    let cases: &[(&str, Form)] = &[
        ("", Form::Empty),
        (" \n\n", Form::Empty),
        (
            "version https://git-lfs.github.com/spec/v1\noid sha256:ab\nsize 3\n",
            Form::Foreign("a pointer of Git LFS: the file itself was not fetched"),
        ),
        (
            "Error from server (Forbidden): pods is forbidden: User \"al\" cannot list\n",
            Form::Foreign("an error message of kubectl, and no data"),
        ),
        (
            "Error from server (NotFound): x\nstep 1 loss 2\n",
            Form::Text,
        ),
        ("{\"kind\":\"Pod\"}", Form::Json),
        ("{\n  \"kind\": \"Pod\"\n}", Form::Json),
        ("\u{feff}{\"kind\":\"Pod\"}", Form::Json),
        ("{\"kind\":\"Pod\",\"cut o", Form::Json),
        ("[\n{\"a\":1}]", Form::Json),
        ("[]", Form::Json),
        (
            "$ kubectl get pods -o json\n{\n    \"apiVersion\": \"v1\",",
            Form::Json,
        ),
        ("Warning: x\n{\"kind\":\"Pod\"}\n", Form::Json),
        (
            "starting\n{\"level\":\"info\",\"kind\":\"x\"}\n",
            Form::Text,
        ),
        (
            "$ kubectl get pod -o yaml\napiVersion: v1\nkind: Pod\n",
            Form::Yaml,
        ),
        ("[\n  \"failed to get log stream\"\n]\n", Form::Json),
        ("[0] NCCL INFO x", Form::Text),
        ("[rank0]: Traceback (most recent call last):", Form::Text),
        ("[2025-12-18 20:27:22,783] [INFO] x", Form::Text),
        (
            "{\"log\":\"x\\n\",\"stream\":\"stdout\",\"time\":\"2026-11-21T15:20:15Z\"}\n",
            Form::JsonLog,
        ),
        (
            "{\"level\":\"info\",\"ts\":1.5,\"msg\":\"x\"}\n{\"level\":",
            Form::JsonLog,
        ),
        (
            "{\"message\":\"x\",\"kind\":\"Event\",\"timestamp\":\"\"}",
            Form::Json,
        ),
        (
            "{\"Records\":[{\"eventSource\":\"\",\"eventName\":\"\",\"eventTime\":\"\"}]}",
            Form::Json,
        ),
        (
            "<?xml version=\"1.0\"?><a/>",
            Form::Foreign("XML, which is not read here"),
        ),
        ("{\"step\":1,\"loss\":2.5}\n", Form::JsonLog),
        (
            "{\"message\":\"x\",\"podName\":\"p\",\"containerName\":\"c\"}\n",
            Form::JsonLog,
        ),
        ("{\"a\":1}\nstarting\nstarted\n", Form::Text),
        ("{hello}", Form::Text),
        ("---\na: 1\n", Form::Yaml),
        ("apiVersion: v1\nkind: Pod\n", Form::Yaml),
        ("# x\napiVersion: v1\r\nitems:\n- kind: Pod\n", Form::Yaml),
        ("kind: Pod\napiVersion: v1\n", Form::Yaml),
        ("error: no such file\nkind: no\n", Form::Text),
        (
            "$ kubectl describe pod p\nName:         p\nNamespace:    default\n",
            Form::Kubectl,
        ),
        (
            "NAME   READY   STATUS   RESTARTS   AGE\np 0/1 x\n",
            Form::Kubectl,
        ),
        (
            "\x1b[33mName\x1b[0m:\x1b[37m         p\x1b[0m\n\x1b[33mNamespace\x1b[0m:\x1b[37m    default\x1b[0m\n",
            Form::Coloured,
        ),
        ("\x1b[31mERROR\x1b[0m no data\n", Form::Text),
        (
            "LAST SEEN   TYPE   REASON   OBJECT   MESSAGE\n",
            Form::Kubectl,
        ),
        ("Name: x\nNAME of the game\n", Form::Text),
        ("<!DOCTYPE html><p>", Form::Foreign("HTML")),
        (
            "\"@timestamp\",message,\"kubernetes.pod.name\"\n\"Nov 21, 2026 @ 15:20:39.123\",x,w-0\n",
            Form::Table,
        ),
        (
            "\x7fELF\x02\x01\x01\0\0\0\x03\0>\0\x01\0",
            Form::Foreign("binary"),
        ),
        (
            "a\0b\0c\0d\0e\0f\0g\0h\0i\0j\0k\0l\0m\0n\0o\0p\0q\0r\0",
            Form::Foreign("binary"),
        ),
        (
            "Nov 21 15:20:39 n1 kernel: x\n\0\0\0\0\0\0Nov 21 15:31:02 n1 kernel: y\n",
            Form::Text,
        ),
    ];
    for (text, form) in cases {
        assert_eq!(recognise(text.as_bytes()), *form, "{text:?}");
    }
}
