//! Shapes that an attack on the canary suite found to stay.

use super::*;

#[test]
fn what_an_attacker_found_goes() {
    const SECRET: &str = "Ab3dE5fGh1jK7mNp";
    const UUID: &str = "0123abcd-4567-4abc-8def-0123456789ab";
    for text in [
        "['authorization', 'Basic QWxhZGRpbjpPcGVu1']",
        r#"[\"Authorization\", \"Bearer Ab3dE5fGh1jK7mNp\"]"#,
        r"Authorization: Bearer\n  Ab3dE5fGh1jK7mNp",
        "Authorization: AWS AKIAIOSFODNN7EXAMPLE:Ab3dE5fGh1jK7mNp=",
        "sent Basic QWxhZGRpbjpPcGVu1abc== to the proxy",
        "Sec-WebSocket-Protocol: base64url.bearer.authorization.k8s.io.Ab3dE5fGh1jK7mNp",
        "https://conda.anaconda.org/t/ab3de5fgh1jk7mnp0qrs/lab/noarch",
        "https://conda.lab/t/ab-0123abcd-4567-4abc-8def-0123456789ab/channel",
        "civo apikey save lab Ab3dE5fGh1jK7mNp",
        "cqlsh -u a -p Ab3dE5fGh1jK7mNp h",
        "racadm -r h -u root -p Ab3dE5fGh1jK7mNp getsysinfo",
        "mosquitto_pub -h h -u a -P Ab3dE5fGh1jK7mNp -t x",
        "lftp -u ann,Ab3dE5fGh1jK7mNp sftp://h",
        "twine upload -u ann -p Ab3dE5fGh1jK7mNp dist/x",
        "poetry config http-basic.lab ann Ab3dE5fGh1jK7mNp",
        "radtest ann Ab3dE5fGh1jK7mNp h 0 shared",
        "weka user login admin Ab3dE5fGh1jK7mNp",
        r#"["weka","user","login","admin","Ab3dE5fGh1jK7mNp"]"#,
        "wpa_passphrase net Ab3dE5fGh1jK7mNp",
        "    wpa-psk Ab3dE5fGh1jK7mNp",
        r#"["7z","x","-pAb3dE5fGh1jK7mNp","a.7z"]"#,
        "chpasswd:\n  list: |\n    root:Ab3dE5fGh1jK7mNp\n    ubuntu:Ab3dE5fGh1jK7mNp\n",
        "echo 'root:Ab3dE5fGh1jK7mNp' | chpasswd",
        r#"expect "assword:"; send "Ab3dE5fGh1jK7mNp\r""#,
        "ENV DB_PASSWORD abdefghijkm",
        "setenv DB_PASSWORD abdefghijkm",
        "set -gx API_TOKEN Ab3dE5fGh1jK7mNp",
        "::add-mask::Ab3dE5fGh1jK7mNp",
        "<property><name>fs.s3a.secret.key</name><value>Ab3dE5fGh1jK7mNp</value></property>",
        "<name>javax.jdo.option.ConnectionPassword</name>\n<value>abdefghijkm</value>",
        r"\u003cname\u003edb.password\u003c/name\u003e\u003cvalue\u003eabdefghijkm\u003c/value\u003e",
        "<key>password</key><string>abdefghijkm</string>",
        "password&#61;abdefghijkm",
        "define('DB_PASSWORD', 'abdefghijkm');",
        r"db.password\=abdefghijkm",
        r"db.password\:abdefghijkm",
        "SET PASSWORD FOR 'a'@'h' = 'abdefghijkm'",
        "SSHPASS=abdefghijkm ssh -o x h",
        "vault write auth/approle/login role_id=a secret_id=0123abcd-4567-4abc-8def-0123456789ab",
        "az storage blob list --account-key Zhh1y1RK4JSJiJ0s/jcbjAb3dE5fGh1jK7mNpU7/nHnlKoEg5KE042xSLS2VVDUswyBaeSKAHqsYN/qaKSRrp0ZiDp9hq==",
        "senha: abdefghijkm",
        "пароль: Ab3dE5fGh1jK7mNp",
        "密码：Ab3dE5fGh1jK7mNp",
        "パスワード: Ab3dE5fGh1jK7mNp",
        "비밀번호: Ab3dE5fGh1jK7mNp",
    ] {
        let clean = redact(text);
        for secret in [
            SECRET,
            UUID,
            "abdefghijkm",
            "QWxhZGRpbjpPcGVu1",
            "ab3de5fgh1jk7mnp0qrs",
        ] {
            assert!(!clean.contains(secret), "{text} -> {clean}");
        }
        assert!(clean.contains(MASK), "{text} -> {clean}");
        assert_eq!(redact(&clean), clean, "not stable: {text}");
    }
}

#[test]
fn what_only_looks_like_it_stays() {
    for text in [
        "authorization, basic checks",
        "a basic configuration of 8 GPUs, Basic Usage: train.py",
        "root:x:0:0:root:/root:/bin/bash",
        "chown root:root /data; chown admin:staff /x",
        "send \"reboot\\r\"",
        "weka user list",
        "radtest is not installed",
        "https://forum.lab/t/how-to-train-faster/12345",
        "ENV PATH /usr/bin",
        "ARG VERSION 1.2.3",
        "<name>yarn.nodemanager.local-dirs</name><value>/mnt/data</value>",
        "<name>max.tokens</name><value>4096</value>",
        "secret_id=research/db",
        "define('DB_HOST', 'db.lab');",
        "set -x; python train.py",
    ] {
        assert_eq!(redact(text), text);
    }
}
