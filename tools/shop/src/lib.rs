//! A demo shop with an MCP server: a seeded catalogue in SQLite, full-text search, carts, pictures.
//! Knows nothing of Countersign except its own pack manifest.
#![forbid(unsafe_code)]

mod args;
mod cart;
pub mod catalogue;
mod db;
mod error;
mod login;
mod picture;
mod query;
mod search;
mod serve;
mod server;
mod shop;
#[cfg(test)]
mod tests;
mod text;
mod views;
mod vocabulary;
mod wire;

pub use args::{Args, DATA_DIR_VARIABLE, LoginArgs, run, run_program};
pub use catalogue::Locale;
pub use error::ShopError;
pub use login::Login;
pub use serve::{ServeError, serve_http, serve_stdio};
pub use server::{IMAGE_SCHEME, ShopServer};
pub use shop::{DEFAULT_SEED, Options, Shop, Today};
