//! The log from outside: what is appended comes back and verifies, and whatever is changed is reported.

mod basics;
mod crash;
mod export;
mod flips;
mod kit;
mod tamper;
mod vectors;
