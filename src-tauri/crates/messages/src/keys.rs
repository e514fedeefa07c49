//! Typed keys, so that a crate can only name texts that exist, and a test can check that the
//! catalogue has exactly these texts.

use crate::{LANGUAGES, Language};

/// Declares the keys of an area. The declaring crate gets a test that fails if `messages/en` lacks
/// a key of the area or has a further key.
///
/// ```ignore
/// messages::keys! {
///     /// A sentence about greetings.
///     pub enum Text in "greetings" {
///         Hello => "hello",
///     }
/// }
/// ```
#[macro_export]
macro_rules! keys {
    (
        $(#[$about:meta])*
        $visible:vis enum $name:ident in $area:literal {
            $($(#[$said:meta])* $key:ident => $text:literal),* $(,)?
        }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        $visible enum $name { $($(#[$said])* $key),* }

        #[allow(dead_code, reason = "an area without numbers needs no counted texts")]
        impl $name {
            /// All keys of the area.
            $visible const ALL: &'static [Self] = &[$(Self::$key),*];

            const fn key(self) -> &'static str {
                match self { $(Self::$key => $text),* }
            }

            /// Returns the text in a language.
            $visible fn text(self, language: $crate::Language) -> &'static str {
                language.text($area, self.key())
            }

            /// Returns the text with its placeholders filled in.
            $visible fn fill(self, language: $crate::Language, values: &[(&str, &str)]) -> String {
                $crate::fill(self.text(language), values)
            }

            /// Returns the form of the text for a number, with the number in the placeholder
            /// `count`.
            $visible fn count(self, language: $crate::Language, count: u64) -> String {
                let text = language.counted_text($area, self.key(), count);
                $crate::fill(text, &[("count", &count.to_string())])
            }
        }

        #[cfg(test)]
        #[test]
        fn the_catalogue_has_exactly_the_keys_of_this_area() {
            $crate::check_keys($area, &[$($text),*]);
        }
    };
}

/// Checks that the English texts of an area have exactly these keys.
///
/// # Panics
///
/// If the catalogue and the keys differ.
pub fn check_keys(area: &str, keys: &[&str]) {
    let Some(texts) = Language::ENGLISH.area(area) else {
        panic!("messages/{}/{area}.json does not exist", LANGUAGES[0].tag)
    };
    let has = |key: &&&str| texts.iter().any(|(known, _)| known == *key);
    let missing: Vec<_> = keys.iter().filter(|key| !has(key)).collect();
    let surplus: Vec<_> =
        texts.iter().map(|(known, _)| known).filter(|known| !keys.contains(known)).collect();
    assert!(
        missing.is_empty() && surplus.is_empty(),
        "messages/en/{area}.json lacks {missing:?} and has {surplus:?} for nothing"
    );
}
