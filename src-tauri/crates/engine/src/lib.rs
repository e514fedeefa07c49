//! The turn: prompt, rounds, executor, approvals. It sees the world through `ports` and names no store, provider or window.

pub mod ports;
