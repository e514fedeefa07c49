//! What tests of several crates share: real servers and worlds on this machine, never a mock of our own code.

pub mod model_server;
