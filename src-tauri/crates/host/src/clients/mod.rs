//! The clients of an open profile: the chat window, a terminal, other processes at the local
//! socket, and scenarios of packs. Decides which commands each client may use; `commands` carries
//! them out. Must not know how a command is carried out.

mod chat_window;
pub mod client;
mod evaluation;
mod peer;
mod socket;
mod terminal;

pub use chat_window::ChatWindow;
pub use evaluation::evaluate;
pub use socket::{SocketServer, serve_host};
pub use terminal::{Person, Terminal};
