//! The log from outside: what is appended comes back and verifies, and whatever is changed is reported.

mod basics;
mod flips;
mod kit;
