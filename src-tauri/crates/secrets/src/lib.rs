//! Keys and tokens, stored in the operating system's keyring or in memory for this run only; never
//! in a file. The keyring is ready, locked or missing, and its state is checked again for each
//! call. Knows no provider and no tool.
#![forbid(unsafe_code)]

mod exposed;
mod keyring;
mod service;
mod texts;

pub use keyring::{Keyring, SecretsError};
pub use secrecy::{ExposeSecret, SecretString};
pub use texts::{Text, describe};
