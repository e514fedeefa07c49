//! Providers against the scripted server and against recordings, one binary for all wires.

mod answers;
mod connection;
mod failures;
mod garbage;
mod plainly;
mod recordings;
mod support;
mod switching;
mod timing;
mod wires;
