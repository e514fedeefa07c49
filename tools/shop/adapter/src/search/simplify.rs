//! Reduces a search to the few words that name the product, because shops that match every word
//! find no product if a colour, size or price is among the words. Pure.

/// The highest numbers of words and of characters that are kept.
const WORDS: usize = 3;
pub(crate) const CHARS: usize = 50;

/// A simplified search.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Simple {
    pub(crate) query: String,
    /// The dropped words as they were typed. They describe the product without naming it.
    pub(crate) dropped: Vec<String>,
}

impl Simple {
    /// Makes a search with exactly these words.
    pub(crate) fn exactly(words: &str) -> Self {
        Self { query: words.to_owned(), dropped: Vec::new() }
    }

    pub(crate) fn first_word(&self) -> &str {
        self.query.split(' ').next().unwrap_or_default()
    }

    pub(crate) fn has_several_words(&self) -> bool {
        self.query.contains(' ')
    }
}

const UNITS: &str = "eu us uk cm mm dm m km kg g mg ml cl dl l lb lbs oz w v ft feet foot inch inches liter liters litre litres meter meters";
const CONNECTORS: &str = "a an the and or with without for in on of to from by at as is are it that which this these those some any \
    me my i we you want need looking find show get please like";
const PEOPLE: &str = "man men mens men's woman women womens women's male female unisex lady ladies gents boy boys girl girls kid kids \
    child children childrens children's baby toddler junior youth teen adult adults";
const COLOURS: &str = "black white red blue green yellow orange purple violet pink brown grey gray beige navy turquoise teal silver gold \
    golden maroon burgundy khaki olive cream ivory multicolor multicolour \
    svart svarta vit vita vitt röd röda rött blå blåa blått grön gröna grönt gul gula gult lila violett brun bruna brunt grå gråa grått rosa \
    marinblå mörkblå ljusblå turkos turkosa guld silvrig vinröd vinröda";
const STOCK: &str = "stock instock in-stock available availability";
const PRICES: &str = "under over below above between less more than max maximum min minimum around about cheap cheaper cheapest \
    inexpensive expensive budget premium affordable price priced prices cost costs kr sek eur usd gbp nok dkk dollar dollars euro euros \
    kronor pounds";
const SIZES: &str = "xxs xs s m l xl xxl xxxl 2xl 3xl small medium large size sizes sized";

fn is_one_of(list: &str, word: &str) -> bool {
    list.split_whitespace().any(|known| known == word)
}

/// Whether a word is a number, a range, or a number with a unit or currency.
fn is_amount(word: &str) -> bool {
    let bare = word.trim_start_matches(['$', '€', '£', '#', '<', '>', '~']);
    let rest = bare.trim_start_matches(|c: char| {
        c.is_ascii_digit() || matches!(c, '.' | ',' | '-' | '–' | '/' | 'x' | '×')
    });
    let number = &bare[..bare.len() - rest.len()];
    let unit = rest.trim_start_matches(['%', '$', '€', '£', '"']);
    number.starts_with(|c: char| c.is_ascii_digit())
        && (unit.is_empty() || is_one_of(UNITS, unit) || is_one_of(PRICES, unit))
}

/// Returns the word in lower case without the punctuation around it.
fn plain(word: &str) -> String {
    word.trim_matches(|c: char| {
        matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | '(' | ')' | '"' | '\'' | '“' | '”' | '’')
    })
    .to_lowercase()
}

/// Whether a word names a colour, a size or another measure in which variants of one product
/// differ.
pub fn names_a_dimension(word: &str) -> bool {
    let word = plain(word);
    is_one_of(COLOURS, &word) || is_one_of(SIZES, &word) || is_amount(&word)
}

fn says_no_thing(word: &str) -> bool {
    is_amount(word)
        || [UNITS, CONNECTORS, PEOPLE, COLOURS, STOCK, PRICES, SIZES]
            .iter()
            .any(|list| is_one_of(list, word))
}

/// Drops words that do not name a product. If no word would be left, the first word stays.
pub(crate) fn simplify(query: &str) -> Simple {
    let words: Vec<&str> =
        query.split_whitespace().filter(|word| !plain(word).is_empty()).collect();
    let (dropped, kept): (Vec<&str>, Vec<&str>) =
        words.iter().partition(|word| says_no_thing(&plain(word)));
    let (kept, dropped) = match (kept.is_empty(), words.first()) {
        (true, Some(first)) => (vec![*first], dropped.into_iter().skip(1).collect()),
        (true, None) | (false, _) => (kept, dropped),
    };
    let trimmed = |word: &&str| {
        word.trim_matches(|c: char| {
            matches!(c, '.' | ',' | ';' | ':' | '!' | '?' | '(' | ')' | '"' | '“' | '”')
        })
        .to_owned()
    };
    let query = kept.iter().take(WORDS).map(trimmed).collect::<Vec<_>>().join(" ");
    Simple { query: capped(&query), dropped: dropped.iter().map(trimmed).collect() }
}

/// Shortens a query to the maximum length, at the end of a word.
fn capped(query: &str) -> String {
    let Some((end, _)) = query.char_indices().nth(CHARS) else { return query.to_owned() };
    let (head, next) = query.split_at(end);
    let whole = if next.starts_with(' ') {
        Some(head)
    } else {
        head.rsplit_once(' ').map(|(words, _)| words)
    };
    whole.unwrap_or(head).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chat_api_14_a_query_loses_its_constraint_words() {
        for (asked, query, dropped) in [
            ("running shoes", "running shoes", ""),
            ("  red   running shoes  size 42 ", "running shoes", "red size 42"),
            (
                "men's black rain jacket under 1500 kr in stock",
                "rain jacket",
                "men's black under 1500 kr in stock",
            ),
            ("a tent for 3-4 persons with 10 kg", "tent persons", "a for 3-4 with 10 kg"),
            ("cheap waterproof hiking boots leather", "waterproof hiking boots", "cheap"),
            ("500kr €40 42cm 7,5 bottle", "bottle", "500kr €40 42cm 7,5"),
            ("Red 42", "Red", "42"),
            ("XL", "XL", ""),
            ("", "", ""),
            ("…", "…", ""),
            ("svarta löparskor", "löparskor", "svarta"),
        ] {
            let simple = simplify(asked);
            assert_eq!(
                (simple.query.as_str(), simple.dropped.join(" ").as_str()),
                (query, dropped),
                "{asked}"
            );
        }
    }

    #[test]
    fn chat_api_14_every_class_of_constraint_words_is_dropped() {
        for class in [
            "3-4 40–44 100-200 38/39 2x3 10.5-12",
            "7 42 9000 1.5 7,5 1,299.00",
            "eu cm mm m kg g ml l inch ft EU CM Kg 42cm 1.5kg 500ml 32l 6ft",
            "a the and or with without for in on of to from by The AND",
            "men men's women womens boys girls kids children baby toddler junior unisex Ladies adults",
            "black white red blue green yellow orange purple pink brown grey gray beige navy Turquoise",
            "stock in-stock available availability In Stock",
            "under over below above cheap expensive budget premium price between max kr SEK €40 40€ 500kr $9.99",
            "xs s m l xl xxl 3xl small medium large size XL Sizes",
        ] {
            let among = simplify(&format!("{class} tent {class}"));
            assert_eq!(
                (among.query.as_str(), among.dropped.join(" ")),
                ("tent", format!("{class} {class}"))
            );
            let alone = simplify(class);
            let (first, rest) = class.split_once(' ').unwrap_or_default();
            assert_eq!(
                (alone.query.as_str(), alone.dropped.join(" ").as_str()),
                (first, rest),
                "the first word, when nothing is left"
            );
        }
        for kept in [
            "redwood",
            "mens-wear",
            "stocking",
            "overall",
            "x-large",
            "r2d2",
            "7up",
            "m4a",
            "4711-AB",
            "blackout",
        ] {
            assert_eq!(
                simplify(&format!("{kept} tent")).query,
                format!("{kept} tent"),
                "{kept} is not dropped"
            );
        }
    }

    #[test]
    fn chat_api_14_three_words_are_kept_and_further_words_are_not_reported_as_dropped() {
        let long = simplify("  Light\t tunnel  red tent,  groundsheet  pegs ");
        assert_eq!(
            (long.query.as_str(), &long.dropped[..]),
            ("Light tunnel tent", &["red".to_owned()][..])
        );
        assert_eq!(
            (long.first_word(), long.has_several_words(), simplify("red tent").has_several_words()),
            ("Light", true, false)
        );
    }

    #[test]
    fn chat_api_14_a_long_query_is_cut_after_a_whole_word() {
        let long = simplify(&format!("{} {} {}", "a".repeat(30), "b".repeat(19), "c".repeat(9)));
        assert_eq!(long.query, format!("{} {}", "a".repeat(30), "b".repeat(19)));
        assert_eq!(simplify(&"ö".repeat(80)).query.chars().count(), 50);
        for (words, kept) in [
            ([25, 24, 9], 50),
            ([25, 25, 9], 25),
            ([16, 16, 16], 50),
            ([16, 16, 17], 33),
            ([49, 9, 9], 49),
        ] {
            let whole = words.map(|letters| "ä".repeat(letters)).join(" ");
            let query = simplify(&whole).query;
            assert_eq!(
                (query.chars().count(), whole.starts_with(&query)),
                (kept, true),
                "{words:?}"
            );
        }
    }

    #[test]
    fn colours_sizes_and_measures_are_recognised_as_dimensions() {
        assert!(["red", "XL", "42", "Blue,", "24l"].into_iter().all(names_a_dimension));
        assert!(!["shoe", "cheap", "men", "kr"].into_iter().any(names_a_dimension));
    }
}
