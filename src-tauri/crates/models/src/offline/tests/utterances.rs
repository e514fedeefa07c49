//! Utterances.
