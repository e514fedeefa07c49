//! A small W3C WebDriver client for WebKitWebDriver. A session is a running app. This module knows
//! the protocol and nothing of Countersign.

use std::{
    io::{Read, Write},
    net::TcpStream,
    path::Path,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

/// The protocol's name for the member that holds an element's id.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";
/// The longest wait for a condition. It is generous, because it only delays tests that fail anyway.
pub const PATIENCE: Duration = Duration::from_secs(30);
/// The longest wait for one command or one picture of the driver.
const ANSWER: Duration = Duration::from_secs(120);
const PICTURE: Duration = Duration::from_secs(20);

/// The names of keys in the protocol.
pub mod key {
    pub const TAB: &str = "\u{E004}";
    pub const ENTER: &str = "\u{E007}";
    pub const SHIFT: &str = "\u{E008}";
    pub const CONTROL: &str = "\u{E009}";
    pub const ESCAPE: &str = "\u{E00C}";
    pub const SPACE: &str = "\u{E00D}";
    pub const HOME: &str = "\u{E011}";
    pub const UP: &str = "\u{E013}";
    pub const DOWN: &str = "\u{E015}";
    pub const DELETE: &str = "\u{E017}";
    pub const F2: &str = "\u{E032}";
    pub const F10: &str = "\u{E03A}";
}

/// Why a command failed, in the driver's words.
#[derive(Debug, Clone)]
pub struct Refused(pub String);

impl Refused {
    /// Whether the driver accepted the command but never answered.
    pub fn is_silence(&self) -> bool {
        self.0.starts_with(SILENCE)
    }
}

/// The prefix of the error for a command that the driver accepted but did not answer.
const SILENCE: &str = "no answer: ";

impl std::fmt::Display for Refused {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

/// A running app under the driver's control.
pub struct Session {
    port: u16,
    id: String,
}

/// An element of the page in the selected window.
pub struct Element<'s> {
    session: &'s Session,
    id: String,
}

impl Session {
    /// Lets the driver at `port` start the app. `browserName` and `webSocketUrl` are left out,
    /// because WebKitWebDriver refuses either of them.
    pub fn start(port: u16, binary: &Path, args: &[String]) -> Result<Self, Refused> {
        let options = json!({ "binary": binary, "args": args });
        let body =
            json!({ "capabilities": { "alwaysMatch": { "webkitgtk:browserOptions": options } } });
        let answer = request(port, ANSWER, "POST", "/session", Some(&body))?;
        let id = answer["sessionId"]
            .as_str()
            .ok_or_else(|| Refused(format!("no session in {answer}")))?;
        Ok(Self { port, id: id.to_owned() })
    }

    fn command(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value, Refused> {
        self.command_within(ANSWER, method, path, body)
    }

    fn command_within(
        &self,
        patience: Duration,
        method: &str,
        path: &str,
        body: Option<&Value>,
    ) -> Result<Value, Refused> {
        request(self.port, patience, method, &format!("/session/{}{path}", self.id), body)
    }

    /// Returns the handles of all windows.
    pub fn windows(&self) -> Result<Vec<String>, Refused> {
        let handles = self.command("GET", "/window/handles", None)?;
        Ok(handles
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect())
    }

    /// Selects a window.
    pub fn select(&self, handle: &str) -> Result<(), Refused> {
        self.command("POST", "/window", Some(&json!({ "handle": handle }))).map(drop)
    }

    /// Sets the size of the selected window.
    pub fn resize(&self, width: u32, height: u32) -> Result<(), Refused> {
        self.command("POST", "/window/rect", Some(&json!({ "width": width, "height": height })))
            .map(drop)
    }

    /// Returns the address of the selected window's page.
    pub fn url(&self) -> Result<String, Refused> {
        Ok(self.command("GET", "/url", None)?.as_str().unwrap_or_default().to_owned())
    }

    /// Runs a script in the page and returns its result.
    pub fn run(&self, script: &str, args: Value) -> Result<Value, Refused> {
        self.command("POST", "/execute/sync", Some(&json!({ "script": script, "args": args })))
    }

    /// Runs a script that calls its last argument when it is finished.
    pub fn run_async(&self, script: &str, args: Value) -> Result<Value, Refused> {
        self.command("POST", "/execute/async", Some(&json!({ "script": script, "args": args })))
    }

    /// Returns all elements that a CSS selector finds.
    pub fn all(&self, css: &str) -> Result<Vec<Element<'_>>, Refused> {
        let found = self.command(
            "POST",
            "/elements",
            Some(&json!({ "using": "css selector", "value": css })),
        )?;
        let ids = found.as_array().into_iter().flatten().filter_map(|e| e[ELEMENT].as_str());
        Ok(ids.map(|id| Element { session: self, id: id.to_owned() }).collect())
    }

    /// Returns the element that a script returns, if any.
    pub fn find(&self, script: &str, args: Value) -> Result<Option<Element<'_>>, Refused> {
        let found = self.run(script, args)?;
        Ok(found[ELEMENT].as_str().map(|id| Element { session: self, id: id.to_owned() }))
    }

    /// Returns the element that has the focus.
    pub fn focused(&self) -> Result<Element<'_>, Refused> {
        let found = self.command("GET", "/element/active", None)?;
        let id =
            found[ELEMENT].as_str().ok_or_else(|| Refused("nothing has the focus".to_owned()))?;
        Ok(Element { session: self, id: id.to_owned() })
    }

    /// Presses and releases chords of keys one after the other. The modifiers of a chord stay
    /// pressed until its end.
    pub fn press(&self, chords: &[&[&str]]) -> Result<(), Refused> {
        let mut actions = Vec::new();
        for chord in chords {
            actions.extend(chord.iter().map(|key| json!({ "type": "keyDown", "value": key })));
            actions.extend(chord.iter().rev().map(|key| json!({ "type": "keyUp", "value": key })));
        }
        let body = json!({ "actions": [{ "type": "key", "id": "keyboard", "actions": actions }] });
        self.command("POST", "/actions", Some(&body)).map(drop)
    }

    /// Types text into the element with the focus.
    pub fn type_text(&self, text: &str) -> Result<(), Refused> {
        let keys: Vec<String> = text.chars().map(String::from).collect();
        let chords: Vec<[&str; 1]> = keys.iter().map(|key| [key.as_str()]).collect();
        self.press(&chords.iter().map(<[&str; 1]>::as_slice).collect::<Vec<_>>())
    }

    /// Returns a PNG of the selected window. The driver takes the picture with the next drawn
    /// frame, and would wait forever in a page without changes, so a dot is moved meanwhile.
    pub fn screenshot(&self) -> Result<Vec<u8>, Refused> {
        let moving = "const dot = document.createElement('i'); dot.ariaHidden = 'true'; \
            dot.style.cssText = 'position:fixed;left:0;bottom:0;width:1px;height:1px;opacity:0.01'; document.body.append(dot); let frames = 0; \
            (function next() { if (frames++ > 90) return dot.remove(); dot.style.bottom = `${frames % 2}px`; requestAnimationFrame(next); })();";
        let once = || {
            self.run(moving, json!([]))?;
            self.command_within(PICTURE, "GET", "/screenshot", None)
        };
        let text = once().or_else(|_| once()).or_else(|_| once())?;
        decode_base64(text.as_str().unwrap_or_default())
            .ok_or_else(|| Refused("the screenshot is not base64".to_owned()))
    }

    /// Ends the session, and with it the app.
    pub fn close(self) {
        let _ = self.command("DELETE", "", None);
    }
}

impl Element<'_> {
    fn command(&self, method: &str, path: &str, body: Option<&Value>) -> Result<Value, Refused> {
        self.session.command(method, &format!("/element/{}{path}", self.id), body)
    }

    /// Clicks in the middle of the element. The driver may never answer a click that closes its
    /// window, so this waits less long.
    pub fn click(&self) -> Result<(), Refused> {
        self.session
            .command_within(
                PATIENCE,
                "POST",
                &format!("/element/{}/click", self.id),
                Some(&json!({})),
            )
            .map(drop)
    }

    /// Returns the element's place in the window.
    pub fn place(&self) -> Result<Value, Refused> {
        let script = "const at = arguments[0].getBoundingClientRect(); return [at.left, at.top];";
        self.session.run(script, json!([{ ELEMENT: self.id }]))
    }

    /// Scrolls the element to the middle of the window.
    pub fn to_the_middle(&self) -> Result<(), Refused> {
        self.session
            .run("arguments[0].scrollIntoView({block: 'center'});", json!([{ ELEMENT: self.id }]))
            .map(drop)
    }

    /// Types a text into the element.
    pub fn send(&self, text: &str) -> Result<(), Refused> {
        self.command("POST", "/value", Some(&json!({ "text": text }))).map(drop)
    }

    /// Empties a field.
    pub fn clear(&self) -> Result<(), Refused> {
        self.command("POST", "/clear", Some(&json!({}))).map(drop)
    }

    /// Returns the element's visible text.
    pub fn text(&self) -> Result<String, Refused> {
        Ok(self.command("GET", "/text", None)?.as_str().unwrap_or_default().to_owned())
    }

    /// Returns an attribute of the element.
    pub fn attribute(&self, name: &str) -> Result<Option<String>, Refused> {
        Ok(self.command("GET", &format!("/attribute/{name}"), None)?.as_str().map(str::to_owned))
    }

    /// Whether the element can be used.
    pub fn enabled(&self) -> Result<bool, Refused> {
        Ok(self.command("GET", "/enabled", None)?.as_bool().unwrap_or(false))
    }

    /// Whether the element is shown.
    pub fn displayed(&self) -> Result<bool, Refused> {
        Ok(self.command("GET", "/displayed", None)?.as_bool().unwrap_or(false))
    }

    /// Returns the name that assistive technology reads.
    pub fn label(&self) -> Result<String, Refused> {
        Ok(self.command("GET", "/computedlabel", None)?.as_str().unwrap_or_default().to_owned())
    }

    /// Returns the role that assistive technology reads.
    pub fn role(&self) -> Result<String, Refused> {
        Ok(self.command("GET", "/computedrole", None)?.as_str().unwrap_or_default().to_owned())
    }
}

/// Repeats `ask` until it returns a value, for at most [`PATIENCE`]. Panics with `what` after that
/// time.
#[track_caller]
pub fn wait<T>(what: &str, ask: impl FnMut() -> Option<T>) -> T {
    wait_for(what, PATIENCE, ask)
}

/// Repeats `ask` as [`wait`] does, with another time limit.
#[track_caller]
pub fn wait_for<T>(what: &str, patience: Duration, mut ask: impl FnMut() -> Option<T>) -> T {
    let end = Instant::now() + patience;
    loop {
        if let Some(answer) = ask() {
            return answer;
        }
        assert!(Instant::now() < end, "waited in vain for: {what}");
        std::thread::sleep(Duration::from_millis(40));
    }
}

fn request(
    port: u16,
    patience: Duration,
    method: &str,
    path: &str,
    body: Option<&Value>,
) -> Result<Value, Refused> {
    let failed = |error: std::io::Error| Refused(format!("{method} {path}: {error}"));
    let body = body.map(Value::to_string).unwrap_or_default();
    let mut stream = TcpStream::connect(("127.0.0.1", port)).map_err(failed)?;
    stream.set_read_timeout(Some(patience)).map_err(failed)?;
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream
        .write_all(head.as_bytes())
        .and_then(|()| stream.write_all(body.as_bytes()))
        .map_err(failed)?;
    let answer = read_answer(&mut stream)
        .map_err(|error| Refused(format!("{SILENCE}{method} {path}: {error}")))?;
    let mut answer: Value = serde_json::from_slice(&answer)
        .map_err(|e| Refused(format!("{method} {path}: no JSON: {e}")))?;
    let value = answer["value"].take();
    match value.get("error").and_then(Value::as_str) {
        Some(error) => {
            Err(Refused(format!("{error}: {}", value["message"].as_str().unwrap_or_default())))
        }
        None => Ok(value),
    }
}

/// Reads the body of an HTTP answer with a length, which is the only kind that the driver sends.
fn read_answer(stream: &mut TcpStream) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut chunk = [0_u8; 16 * 1024];
    loop {
        let n = stream.read(&mut chunk)?;
        bytes.extend_from_slice(&chunk[..n]);
        let Some(end) = bytes.windows(4).position(|w| w == b"\r\n\r\n").map(|at| at + 4) else {
            if n == 0 {
                return Err(std::io::ErrorKind::UnexpectedEof.into());
            }
            continue;
        };
        let head = String::from_utf8_lossy(&bytes[..end]).to_ascii_lowercase();
        let length = head
            .lines()
            .find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
        if n == 0 || length.is_some_and(|length| bytes.len() >= end + length) {
            return Ok(bytes.split_off(end));
        }
    }
}

fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0);
    for byte in text.bytes().filter(|byte| *byte != b'=' && !byte.is_ascii_whitespace()) {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6) | u32::from(value);
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push(u8::try_from((bits >> count) & 0xff).ok()?);
        }
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    #[test]
    fn base64_is_decoded() {
        assert_eq!(
            super::decode_base64("Q291bnRlcnNpZ24=").as_deref(),
            Some(b"Countersign".as_slice())
        );
        assert_eq!(super::decode_base64("!"), None);
    }
}
