//! Minimal HTTP/1.1 over plain sockets, for the model server and the clients, so that they take
//! little processor time from the measured programs.

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::Outcome;

/// A connection, and the bytes that were read but not used yet.
pub(super) struct Line {
    stream: TcpStream,
    read: Vec<u8>,
}

/// The head of a request or an answer.
pub(super) struct Head {
    /// `POST /v1/chat HTTP/1.1` or `HTTP/1.1 200 OK`.
    pub(super) first: String,
    length: Option<usize>,
    chunked: bool,
}

impl Line {
    pub(super) fn new(stream: TcpStream) -> Outcome<Self> {
        stream.set_nodelay(true)?;
        Ok(Self { stream, read: Vec::with_capacity(32 * 1024) })
    }

    pub(super) async fn connect(address: &str) -> Outcome<Self> {
        Self::new(TcpStream::connect(address).await?)
    }

    pub(super) async fn write(&mut self, bytes: &[u8]) -> Outcome {
        Ok(self.stream.write_all(bytes).await?)
    }

    /// Reads more bytes. Returns false at the end of the connection.
    async fn more(&mut self) -> Outcome<bool> {
        Ok(self.stream.read_buf(&mut self.read).await? > 0)
    }

    /// Reads the next head. Returns None at the end of the connection.
    pub(super) async fn head(&mut self) -> Outcome<Option<Head>> {
        let end = loop {
            if let Some(at) = find(&self.read, b"\r\n\r\n") {
                break at;
            }
            if !self.more().await? {
                return if self.read.is_empty() {
                    Ok(None)
                } else {
                    Err("the connection ended within a head".into())
                };
            }
        };
        let text = String::from_utf8_lossy(&self.read[..end]).into_owned();
        self.read.drain(..end + 4);
        let mut lines = text.split("\r\n");
        let mut head = Head {
            first: lines.next().unwrap_or_default().to_owned(),
            length: None,
            chunked: false,
        };
        for line in lines {
            let Some((name, value)) = line.split_once(':') else { continue };
            if name.eq_ignore_ascii_case("content-length") {
                head.length = value.trim().parse().ok();
            } else if name.eq_ignore_ascii_case("transfer-encoding") {
                head.chunked = value.trim().eq_ignore_ascii_case("chunked");
            }
        }
        Ok(Some(head))
    }

    /// Reads the body after a head. A chunked body includes the sizes of its chunks. `seen` is
    /// called with all bytes so far whenever more have arrived.
    pub(super) async fn body(
        &mut self,
        head: &Head,
        mut seen: impl FnMut(&[u8]),
    ) -> Outcome<Vec<u8>> {
        loop {
            let end = match (head.chunked, head.length) {
                (true, _) => find_last_chunk(&self.read),
                (false, length) => {
                    Some(length.unwrap_or(0)).filter(|length| self.read.len() >= *length)
                }
            };
            if !self.read.is_empty() {
                seen(&self.read);
            }
            if let Some(end) = end {
                return Ok(self.read.drain(..end).collect());
            }
            if !self.more().await? {
                return Err("the connection ended within a body".into());
            }
        }
    }
}

/// Returns the end of the last, empty chunk. No bytes follow it before the next request.
fn find_last_chunk(read: &[u8]) -> Option<usize> {
    const LAST: &[u8] = b"0\r\n\r\n";
    (read == LAST || read.ends_with(b"\r\n0\r\n\r\n")).then_some(read.len())
}

pub(super) fn find(text: &[u8], what: &[u8]) -> Option<usize> {
    text.windows(what.len()).position(|window| window == what)
}

/// Returns a chunk of a chunked body.
pub(super) fn chunk(data: &[u8]) -> Vec<u8> {
    let mut chunk = format!("{:x}\r\n", data.len()).into_bytes();
    chunk.extend_from_slice(data);
    chunk.extend_from_slice(b"\r\n");
    chunk
}

/// Returns the nanoseconds of the machine's clock, which is the same in every process.
pub(super) fn now() -> u64 {
    // SAFETY: `clock_gettime` fills the struct; all-zero is a valid value of it.
    let time = unsafe {
        let mut time: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time);
        time
    };
    u64::try_from(time.tv_sec).unwrap_or_default() * 1_000_000_000
        + u64::try_from(time.tv_nsec).unwrap_or_default()
}
