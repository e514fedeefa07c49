//! Who asks the open profile: the chat window, a terminal, clients of the local socket, and
//! scenarios of packs. Decides what each may do; `commands` does it. Must not know how a command is
//! carried out.

mod chat_window;
pub mod client;
mod confirmations;
mod evaluation;
mod peer;
mod pushes;
mod socket;
mod terminal;

pub use chat_window::ChatWindow;
pub(crate) use confirmations::Confirmations;
pub use evaluation::evaluate;
pub(crate) use peer::{effective_user, user_name};
pub(crate) use pushes::Hub;
pub(crate) use socket::socket_path;
pub use socket::{SocketServer, serve_host};
pub use terminal::{Person, Terminal};
