//! The profile on disk and how it is opened: its paths and lock, settings, rules, prices, and where
//! sessions are stored. Must not know keys, packs, servers or the log.

mod database;
mod live_profile;
mod options;
mod os_ports;
mod paths;
mod prices;
mod reading;
mod sessions;
mod socket;
mod splash_settings;
#[cfg(debug_assertions)]
mod testing;
mod toml_fault;
mod user;
mod widening;

pub(crate) use database::Database;
pub use live_profile::settings_fault;
pub(crate) use live_profile::{Environment, LiveProfile, fingerprint};
pub use options::{Options, WhenAlarmed};
pub use os_ports::SystemClock;
pub use paths::{Paths, keep_private};
pub(crate) use paths::{
    SERVER_TEST, Stamp, create_private_folder, keep_unreadable, read_stamp, unusable_file,
    write_atomically,
};
pub use sessions::Sessions;
pub(crate) use sessions::{IN_MEMORY, REPLAY_DATABASE, find_memory_folders, list_memory_places};
pub(crate) use socket::socket_path;
pub use splash_settings::SplashSettings;
pub(crate) use user::effective_user;
