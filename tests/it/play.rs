//! A small server on loopback that plays a source.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::Value;

/// Fields of a query and a form, in the order they came.
pub(crate) type Fields = [(String, String)];

/// What was asked so far: path and fields.
pub(crate) type Noted = Arc<Mutex<Vec<String>>>;

/// Answers each request by path and fields; gives its address and what is asked.
pub(crate) fn play(
    answer: impl Fn(&str, &Fields) -> (u16, Value) + Send + Sync + 'static,
) -> (String, Noted) {
    let server = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", server.local_addr().unwrap());
    let asked = Noted::default();
    let (answer, noted) = (Arc::new(answer), Arc::clone(&asked));
    std::thread::spawn(move || {
        for connection in server.incoming().flatten() {
            let (answer, noted) = (Arc::clone(&answer), Arc::clone(&noted));
            std::thread::spawn(move || serve(&connection, &*answer, &noted));
        }
    });
    (address, asked)
}

/// The first field of a name.
pub(crate) fn field<'f>(fields: &'f Fields, name: &str) -> &'f str {
    let found = fields.iter().find(|(key, _)| key == name);
    found.map_or("", |(_, value)| value.as_str())
}

/// One request a connection.
fn serve(
    connection: &TcpStream,
    answer: &dyn Fn(&str, &Fields) -> (u16, Value),
    noted: &Mutex<Vec<String>>,
) {
    let mut reader = BufReader::new(connection);
    let mut head = String::new();
    reader.read_line(&mut head).unwrap();
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    let target = head.split(' ').nth(1).unwrap_or_default().to_owned();
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let form = String::from_utf8(body).unwrap();
    let fields: Vec<(String, String)> = [query, &form]
        .iter()
        .flat_map(|text| text.split('&'))
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| (decode(name), decode(value)))
        .collect();
    noted.lock().unwrap().push(format!("{path} {fields:?}"));
    let (code, answer) = answer(path, &fields);
    let text = match answer {
        Value::String(text) => text,
        json => json.to_string(),
    };
    let mut to = connection;
    // Who asked may be gone already.
    let _gone = write!(
        to,
        "HTTP/1.1 {code} X\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: {}\r\n\r\n{text}",
        text.len()
    );
}

fn decode(text: &str) -> String {
    let mut out = Vec::new();
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        out.push(match byte {
            b'+' => b' ',
            b'%' => {
                let hex = [bytes.next().unwrap(), bytes.next().unwrap()];
                u8::from_str_radix(std::str::from_utf8(&hex).unwrap(), 16).unwrap()
            }
            other => other,
        });
    }
    String::from_utf8(out).unwrap()
}
