//! Reads texts that people write in English and Swedish: words and their forms, numbers, positions
//! in lists, amounts, days and periods, yes and no. Knows the usual headings of exports in seven
//! languages. All functions are pure and depend only on the
//! text and today's date, not on packs, tools, shops or sessions.
#![forbid(unsafe_code)]

pub mod amounts;
pub mod bounds;
pub mod changes;
pub mod dates;
pub mod headings;
mod languages;
pub mod message;
pub mod numbers;
pub mod ordinals;
pub mod plans;
mod tokens;
mod word_forms;
pub mod yes_no;

pub use languages::{
    Language, correct_words, detect_language, is_decisive, is_filler, is_polite, is_small_talk,
    is_stop_word, language_of, small_words,
};
pub use tokens::{Token, TokenKind, fold, is_mark, tokens};
pub use word_forms::{Lexicon, WordSet, same_word, stem, typo_cost};
