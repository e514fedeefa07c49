//! The profile on disk and how it is opened: its paths and lock, settings, rules, prices, and where
//! sessions are stored. Must not know keys, packs, servers or the log.

mod live_profile;
mod options;
mod os_ports;
mod paths;
mod prices;
mod reading;
mod sessions;
mod splash_settings;
#[cfg(debug_assertions)]
mod testing;
mod toml_fault;
mod widening;

pub use live_profile::settings_fault;
pub(crate) use live_profile::{Environment, LiveProfile};
pub use options::{Options, WhenAlarmed};
pub use os_ports::SystemClock;
pub use paths::{Paths, keep_private};
pub(crate) use paths::{
    SERVER_TEST, Stamp, create_private_folder, keep_unreadable, read_stamp, unusable_file,
    unwritable_folder, write_atomically,
};
pub use sessions::Sessions;
pub(crate) use sessions::{IN_MEMORY, MemoryFolder, REPLAY_DATABASE, find_memory_folders};
pub use splash_settings::SplashSettings;
