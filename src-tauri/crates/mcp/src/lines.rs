//! Reads the lines of a server's program and converts them to valid messages. A message that spans
//! several lines is joined to one line. The module must not know what messages ask.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use tokio::io::{AsyncRead, ReadBuf};

use crate::lenient::messages_in;

const CHUNK: usize = 16 * 1024;
/// The member that every message must have.
const VERSION: &[u8] = b"\"jsonrpc\"";

/// The nesting depth while a text of JSON is read.
#[derive(Clone, Copy, Debug, Default)]
struct Depth {
    open: usize,
    in_text: bool,
    is_escaped: bool,
}

impl Depth {
    fn read(&mut self, bytes: &[u8]) {
        for byte in bytes {
            match (self.in_text, byte) {
                (true, _) if self.is_escaped => self.is_escaped = false,
                (true, b'\\') => self.is_escaped = true,
                (_, b'"') => self.in_text = !self.in_text,
                (false, b'{' | b'[') => self.open += 1,
                (false, b'}' | b']') => self.open = self.open.saturating_sub(1),
                _ => {}
            }
        }
    }

    fn is_whole(&self) -> bool {
        self.open == 0 && !self.in_text
    }
}

/// The lines of a server after conversion. A converted line may be longer than the original line.
pub(crate) struct MendedLines<R> {
    inner: R,
    /// The maximum number of bytes of a line.
    longest: usize,
    /// The beginning of the current line, and the position up to which it has no line end.
    line: Vec<u8>,
    looked: usize,
    /// Whether the current line is too long and is dropped.
    drops: bool,
    /// The lines before the current line, if they contain the beginning of an unfinished message.
    begun: Vec<u8>,
    depth: Depth,
    /// The bytes that are ready to be read, and how many of these were already read.
    ready: Vec<u8>,
    taken: usize,
}

impl<R> MendedLines<R> {
    pub(crate) fn new(inner: R, longest: usize) -> Self {
        Self {
            inner,
            longest,
            line: Vec::new(),
            looked: 0,
            drops: false,
            begun: Vec::new(),
            depth: Depth::default(),
            ready: Vec::new(),
            taken: 0,
        }
    }

    /// Moves the next complete line to the ready bytes. A line that is too long is dropped. Returns
    /// whether there was a complete line.
    fn take_line(&mut self) -> bool {
        let end = self.line[self.looked..].iter().position(|byte| *byte == b'\n');
        let Some(end) = end.map(|at| self.looked + at + 1) else {
            if self.line.len() > self.longest {
                self.line.clear();
                self.drops = true;
            }
            self.looked = self.line.len();
            return false;
        };
        let rest = self.line.split_off(end);
        let line = std::mem::replace(&mut self.line, rest);
        let is_dropped = std::mem::take(&mut self.drops) || line.len() > self.longest;
        (self.looked, self.taken) = (0, 0);
        self.ready = if is_dropped { Vec::new() } else { self.join(line).unwrap_or_default() };
        true
    }

    /// Returns the messages of a line, and of the lines before that belong to it, one message per
    /// line. Returns None if the message continues in the next line.
    fn join(&mut self, line: Vec<u8>) -> Option<Vec<u8>> {
        let begins = matches!(line.trim_ascii_start().first(), Some(b'{' | b'['));
        let mut alone = Depth::default();
        if begins {
            alone.read(&line);
        }
        // An earlier line may have looked like the beginning of a message.
        let is_message =
            begins && alone.is_whole() && line.windows(VERSION.len()).any(|part| part == VERSION);
        if self.begun.is_empty() || is_message {
            self.begun.clear();
            if begins && !alone.is_whole() {
                (self.begun, self.depth) = (line, alone);
                return None;
            }
            return Some(match messages_in(&line) {
                Some(messages) => (messages.join("\n") + "\n").into_bytes(),
                None => line,
            });
        }
        self.depth.read(&line);
        self.begun.extend(line);
        if self.begun.len() > self.longest {
            self.begun.clear();
        }
        if self.begun.is_empty() || !self.depth.is_whole() {
            return None;
        }
        let whole = std::mem::take(&mut self.begun);
        let messages = messages_in(&whole)
            .unwrap_or_else(|| vec![String::from_utf8_lossy(&whole).into_owned()]);
        // Line breaks within texts have been escaped before, so the remaining line breaks can be
        // removed.
        let on_one_line = |message: &String| message.replace(['\n', '\r'], " ") + "\n";
        Some(messages.iter().map(on_one_line).collect::<String>().into_bytes())
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for MendedLines<R> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let this = self.get_mut();
        while this.taken == this.ready.len() {
            if this.take_line() {
                continue;
            }
            let mut chunk = [0; CHUNK];
            let mut chunk = ReadBuf::new(&mut chunk);
            ready!(Pin::new(&mut this.inner).poll_read(cx, &mut chunk))?;
            if chunk.filled().is_empty() {
                return Poll::Ready(Ok(()));
            }
            this.line.extend_from_slice(chunk.filled());
        }
        let part = &this.ready[this.taken..];
        let part = &part[..part.len().min(buffer.remaining())];
        buffer.put_slice(part);
        this.taken += part.len();
        Poll::Ready(Ok(()))
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    const LONG: &str = r#"{"id":1,"result":{"content":[],"structuredContent":{"id":123456789012345678901234567890,"p":1.10}},"error":null}"#;
    const KEPT: &str = r#"{"id":1,"jsonrpc":"2.0","result":{"content":[],"structuredContent":"{\"id\":123456789012345678901234567890,\"p\":1.10}"}}"#;

    #[tokio::test]
    async fn lines_are_read_whole_however_their_bytes_arrive() {
        let came = format!("{LONG}\nnoise\n{}\n{LONG}\r\n{LONG}", "y".repeat(2_000));
        for size in [1, 7, 100, 10_000] {
            let (mut server, ours) = tokio::io::duplex(size);
            let text = came.clone();
            tokio::spawn(async move {
                tokio::io::AsyncWriteExt::write_all(&mut server, text.as_bytes()).await
            });
            let mut read = String::new();
            MendedLines::new(ours, 1_000).read_to_string(&mut read).await.unwrap();
            // A line without an end is not a message, and a line that is too long is dropped.
            assert_eq!(read, format!("{KEPT}\nnoise\n{KEPT}\n"));
        }
    }

    async fn read(said: &str) -> Vec<serde_json::Value> {
        let mut read = String::new();
        MendedLines::new(said.as_bytes(), 1_000).read_to_string(&mut read).await.unwrap();
        read.lines().filter_map(|line| serde_json::from_str(line).ok()).collect()
    }

    #[tokio::test]
    async fn a_message_spread_over_several_lines_is_read_as_one() {
        let message = serde_json::json!({"jsonrpc": "2.0", "id": 1, "result": {"content": [{"type": "text", "text": "a } b"}]}});
        let pretty = serde_json::to_string_pretty(&message).unwrap();
        for said in [
            format!("{pretty}\n"),
            format!("ready\n{}\n{message}\n", pretty.replace('\n', "\r\n")),
            format!("{{ starting\n{message}\n{pretty}\n"),
            format!("[info] on [\nmore\n{message}\n"),
        ] {
            let found = read(&said).await;
            assert!(
                !found.is_empty() && found.iter().all(|one| *one == message),
                "{said}: {found:?}"
            );
        }
        let broken = "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":1,\"message\":\"SELECT a\nFROM b\"}}\n";
        assert_eq!(read(broken).await[0]["error"]["message"], "SELECT a\nFROM b");
        let endless = format!("[\n{}{message}\n", "x\n".repeat(600));
        assert_eq!(read(&endless).await, [message]);
    }
}
