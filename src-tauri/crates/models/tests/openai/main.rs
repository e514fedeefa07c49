//! The chat-completions provider against a real server on the loopback address: recordings, odd streams, failures, time.

mod answers;
mod failures;
mod garbage;
mod recordings;
mod support;
mod timing;
