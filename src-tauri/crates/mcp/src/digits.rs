//! Keeps the digits of a server's structured content. The protocol library reads numbers as doubles;
//! content with a number that would change is handed to it as the text that came. Must not know
//! servers.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll, ready},
};

use contract::json_text;
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::io::{AsyncRead, ReadBuf};

const CHUNK: usize = 16 * 1024;

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer<'a> {
    #[serde(borrow)]
    structured_content: Option<&'a RawValue>,
}

/// Returns a message with its structured content as a text, if a number in it would change. None if
/// the message stays as it is.
pub(crate) fn keep_digits(message: &str) -> Option<String> {
    // Most messages have no such content.
    if !message.contains("structuredContent") {
        return None;
    }
    let result = serde_json::from_str::<Message<'_>>(message).ok()?.result?;
    let content = serde_json::from_str::<Answer<'_>>(result.get()).ok()?.structured_content?.get();
    if json_text::keeps_digits(content) {
        return None;
    }
    let start = (content.as_ptr() as usize).checked_sub(message.as_ptr() as usize)?;
    let (before, after) = (message.get(..start)?, message.get(start + content.len()..)?);
    Some(format!("{before}{}{after}", serde_json::to_string(content).ok()?))
}

/// The lines of a server. A line may become longer than it came.
pub(crate) struct DigitsKept<R> {
    inner: R,
    /// The most bytes of a line that is read.
    longest: usize,
    /// The beginning of the present line, and up to where it has no end.
    line: Vec<u8>,
    looked: usize,
    /// Whether the present line is too long.
    drops: bool,
    /// The bytes that are ready to be read, and how many of them were.
    ready: Vec<u8>,
    taken: usize,
}

impl<R> DigitsKept<R> {
    pub(crate) fn new(inner: R, longest: usize) -> Self {
        Self {
            inner,
            longest,
            line: Vec::new(),
            looked: 0,
            drops: false,
            ready: Vec::new(),
            taken: 0,
        }
    }

    /// Moves the next whole line to what is ready. A line that is too long is dropped. Returns
    /// whether there was a line.
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
        let kept = std::str::from_utf8(&line).ok().and_then(keep_digits);
        (self.looked, self.taken) = (0, 0);
        self.ready = match (is_dropped, kept) {
            (true, _) => Vec::new(),
            (false, Some(kept)) => kept.into_bytes(),
            (false, None) => line,
        };
        true
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for DigitsKept<R> {
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

    const LONG: &str = r#"{"id":1,"result":{"content":[],"structuredContent":{"id":123456789012345678901234567890,"p":1.10}}}"#;
    const KEPT: &str = r#"{"id":1,"result":{"content":[],"structuredContent":"{\"id\":123456789012345678901234567890,\"p\":1.10}"}}"#;

    #[test]
    fn only_content_whose_numbers_change_becomes_a_text() {
        assert_eq!(keep_digits(LONG).as_deref(), Some(KEPT));
        for same in [
            r#"{"id":1,"result":{"structuredContent":{"id":12,"text":"1.10"}}}"#,
            r#"{"id":1,"result":{"structuredContent":null}}"#,
            r#"{"id":1,"params":{"structuredContent":1.10}}"#,
            r#"{"id":1,"result":{"content":[{"structuredContent":1.10}]}}"#,
            "structuredContent 1.10",
        ] {
            assert_eq!(keep_digits(same), None, "{same}");
        }
    }

    #[tokio::test]
    async fn lines_are_read_whole_whatever_the_parts() {
        let came = format!("{LONG}\nnoise\n{}\n{LONG}\r\n{LONG}", "y".repeat(2_000));
        for size in [1, 7, 100, 10_000] {
            let (mut server, ours) = tokio::io::duplex(size);
            let text = came.clone();
            tokio::spawn(async move {
                tokio::io::AsyncWriteExt::write_all(&mut server, text.as_bytes()).await
            });
            let mut read = String::new();
            DigitsKept::new(ours, 1_000).read_to_string(&mut read).await.unwrap();
            // A line without an end is no message, and one that is too long is dropped.
            assert_eq!(read, format!("{KEPT}\nnoise\n{KEPT}\r\n"));
        }
    }
}
