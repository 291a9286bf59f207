//! A real Chromium, spoken to by its own protocol: what a page logs, what it asks for, and
//! what its policy refuses.

use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tokio_tungstenite::tungstenite::{Message, WebSocket, client, protocol::WebSocketConfig};

const PROGRAM: &str = "/usr/bin/chromium";

/// How long anything may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// One tab of a browser that ends with the test.
pub(super) struct Browser {
    child: Child,
    socket: WebSocket<TcpStream>,
    session: Option<String>,
    next: u64,
    events: Vec<Value>,
    _profile: tempfile::TempDir,
}

/// A page that was opened.
#[derive(Debug)]
pub(super) struct Opened {
    /// What the browser complained of.
    pub(super) problems: Vec<String>,
    /// What it asked for.
    pub(super) requests: Vec<String>,
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

impl Browser {
    /// Starts one; nothing where none is installed.
    pub(super) fn start() -> Option<Self> {
        if !Path::new(PROGRAM).exists() {
            whathappened_loopback::skipped(&format!("no {PROGRAM}: no page is opened"));
            return None;
        }
        let profile = tempfile::tempdir().unwrap();
        let mut child = Command::new(PROGRAM)
            .args([
                "--headless=new",
                "--no-sandbox",
                "--disable-gpu",
                "--no-first-run",
            ])
            .args([
                "--disable-background-networking",
                "--disable-component-update",
            ])
            .args(["--remote-debugging-port=0", "--remote-allow-origins=*"])
            .arg(format!("--user-data-dir={}", profile.path().display()))
            .arg("about:blank")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let address = crate::service::address_of(&mut child, "DevTools listening on ");
        let host = address.split('/').nth(2).unwrap();
        let stream = TcpStream::connect(host).unwrap();
        let (mut socket, _) = client(&address, stream).unwrap();
        // Only what is waited for later comes in pieces: a greeting that was cut short cannot be taken up again.
        let patience = Some(Duration::from_millis(200));
        socket.get_mut().set_read_timeout(patience).unwrap();
        socket.set_config(|config: &mut WebSocketConfig| {
            config.max_message_size = Some(256 << 20);
            config.max_frame_size = Some(256 << 20);
        });
        let mut browser = Self {
            child,
            socket,
            session: None,
            next: 0,
            events: Vec::new(),
            _profile: profile,
        };
        let target = browser.call("Target.createTarget", &json!({"url": "about:blank"}));
        let attached = browser.call(
            "Target.attachToTarget",
            &json!({"targetId": target["targetId"], "flatten": true}),
        );
        browser.session = attached["sessionId"].as_str().map(str::to_owned);
        for domain in ["Page", "Runtime", "Log", "Network", "Audits"] {
            browser.call(&format!("{domain}.enable"), &json!({}));
        }
        Some(browser)
    }

    /// Calls a method and waits for what it gives.
    pub(super) fn call(&mut self, method: &str, params: &Value) -> Value {
        let reply = self.reply(method, params);
        assert!(reply.get("error").is_none(), "{method}: {reply}");
        reply["result"].clone()
    }

    /// Calls a method and waits for the reply, whether it is a result or an error.
    fn reply(&mut self, method: &str, params: &Value) -> Value {
        self.next += 1;
        let id = self.next;
        let mut message = json!({"id": id, "method": method, "params": params});
        if let Some(session) = &self.session {
            message["sessionId"] = json!(session);
        }
        self.socket
            .send(Message::text(message.to_string()))
            .unwrap();
        let begun = Instant::now();
        loop {
            assert!(begun.elapsed() < PATIENCE, "{method} takes too long");
            let Some(message) = self.read() else { continue };
            if message["id"] == id {
                return message;
            }
            self.events.push(message);
        }
    }

    fn read(&mut self) -> Option<Value> {
        match self.socket.read() {
            Ok(message) => serde_json::from_str(message.to_text().ok()?).ok(),
            Err(tokio_tungstenite::tungstenite::Error::Io(_)) => None,
            Err(error) => panic!("the browser is gone: {error}"),
        }
    }

    /// Opens a page and waits until it has loaded and its scripts have run.
    pub(super) fn open(&mut self, address: &str) -> Opened {
        self.events.clear();
        let at = self.call("Page.navigate", &json!({"url": address}));
        assert!(at.get("errorText").is_none(), "{address}: {at}");
        self.loaded(address)
    }

    /// Waits for a page that something leads to.
    pub(super) fn loaded(&mut self, what: &str) -> Opened {
        let begun = Instant::now();
        while !self
            .events
            .iter()
            .any(|event| event["method"] == "Page.loadEventFired")
        {
            assert!(
                begun.elapsed() < PATIENCE,
                "{what} does not load: {:?}",
                self.events
            );
            if let Some(message) = self.read() {
                self.events.push(message);
            }
        }
        self.seen()
    }

    /// What was seen since the page was opened.
    pub(super) fn seen(&mut self) -> Opened {
        // Whatever scripts say at last comes before the answer to this.
        self.eval("new Promise((done) => setTimeout(() => done(1), 50))");
        let mut opened = Opened {
            problems: Vec::new(),
            requests: Vec::new(),
        };
        for event in &self.events {
            let params = &event["params"];
            match event["method"].as_str().unwrap_or_default() {
                "Network.requestWillBeSent" => {
                    let url = params["request"]["url"].as_str().unwrap_or_default();
                    opened.requests.push(url.to_owned());
                }
                // A test clicks without a hand: that a page was left without one is no fault of the page.
                "Audits.issueAdded"
                    if event.to_string().contains("NavigationEntryMarkedSkippable") => {}
                "Runtime.exceptionThrown" | "Audits.issueAdded" => {
                    opened.problems.push(params.to_string());
                }
                "Runtime.consoleAPICalled" if params["type"] != "log" => {
                    opened.problems.push(params.to_string());
                }
                "Log.entryAdded" if params["entry"]["level"] != "verbose" => {
                    opened.problems.push(params.to_string());
                }
                _ => {}
            }
        }
        opened
    }

    /// Forgets what was seen.
    pub(super) fn forget(&mut self) {
        self.events.clear();
    }

    /// What an expression gives in the page; a promise is waited for.
    pub(super) fn eval(&mut self, expression: &str) -> Value {
        let reply = self.evaluate(expression);
        assert!(reply.get("error").is_none(), "{expression}: {reply}");
        reply["result"]["result"]["value"].clone()
    }

    /// The reply to an expression: an error if the page went away meanwhile, never one of the expression itself.
    fn evaluate(&mut self, expression: &str) -> Value {
        let params = json!({"expression": expression, "awaitPromise": true, "returnByValue": true});
        let reply = self.reply("Runtime.evaluate", &params);
        assert!(
            reply["result"].get("exceptionDetails").is_none(),
            "{expression}: {reply}"
        );
        reply
    }

    /// Waits until an expression is true.
    pub(super) fn until(&mut self, expression: &str) {
        let begun = Instant::now();
        // While another page comes there is nothing to look at.
        let expression = format!("document.body !== null && ({expression})");
        loop {
            let reply = self.evaluate(&expression);
            if reply["result"]["result"]["value"] == true {
                break;
            }
            assert!(
                begun.elapsed() < Duration::from_secs(20),
                "never true: {expression}: {reply}"
            );
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Types into what has the focus.
    pub(super) fn write(&mut self, text: &str) {
        self.call("Input.insertText", &json!({"text": text}));
    }

    /// Gives the window a size, and the reader's wish for light or dark.
    pub(super) fn look(&mut self, width: u32, scheme: &str) {
        let size = json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": false});
        self.call("Emulation.setDeviceMetricsOverride", &size);
        let wish = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.call("Emulation.setEmulatedMedia", &wish);
    }

    /// Moves the pointer somewhere and clicks there.
    pub(super) fn click(&mut self, x: f64, y: f64) {
        for kind in ["mouseMoved", "mousePressed", "mouseReleased"] {
            let params = json!({"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1});
            self.call("Input.dispatchMouseEvent", &params);
        }
    }

    /// Drags the pointer along a line, with Shift (8) or without (0).
    pub(super) fn drag(&mut self, from: (f64, f64), to: (f64, f64), modifiers: u8) {
        let middle = (f64::midpoint(from.0, to.0), f64::midpoint(from.1, to.1));
        let steps = [
            ("mouseMoved", from),
            ("mousePressed", from),
            ("mouseMoved", middle),
            ("mouseMoved", to),
            ("mouseReleased", to),
        ];
        for (kind, (x, y)) in steps {
            let params = json!({"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1, "modifiers": modifiers});
            self.call("Input.dispatchMouseEvent", &params);
        }
    }

    /// Turns the wheel with Ctrl held; upwards where it is negative.
    pub(super) fn wheel(&mut self, (x, y): (f64, f64), by: f64) {
        let params = json!({"type": "mouseWheel", "x": x, "y": y, "deltaX": 0, "deltaY": by, "modifiers": 2});
        self.call("Input.dispatchMouseEvent", &params);
    }

    /// Presses a key.
    pub(super) fn press(&mut self, key: &str) {
        let code = match key {
            "Enter" => 13,
            "Escape" => 27,
            "Tab" => 9,
            "ArrowLeft" => 37,
            "ArrowUp" => 38,
            "ArrowRight" => 39,
            "ArrowDown" => 40,
            _ => 0,
        };
        // A browser does what Enter is for, such as following a link, only where it types a line's end.
        let typed = match key {
            "Enter" => Some("\r"),
            key => Some(key).filter(|key| key.chars().count() == 1),
        };
        let types = typed.is_some();
        for kind in [if types { "keyDown" } else { "rawKeyDown" }, "keyUp"] {
            let mut params =
                json!({"type": kind, "key": key, "code": key, "windowsVirtualKeyCode": code});
            if kind == "keyDown" {
                params["text"] = json!(typed);
            }
            self.call("Input.dispatchKeyEvent", &params);
        }
    }

    /// The text that a reader sees.
    pub(super) fn text(&mut self) -> String {
        // A page that has only begun to come, or is about to go, has no body.
        self.until("document.readyState === 'complete'");
        let text = self.eval("document.body ? document.body.innerText : ''");
        // Counts are not torn from their nouns.
        text.as_str().unwrap_or_default().replace('\u{a0}', " ")
    }
}
