//! Turns the words of a search into conditions: concepts, colours, sizes, price limits and plain
//! words. Uses the index only to check whether a word exists.

use crate::{catalogue::colors, text, vocabulary};

/// The conditions of a search.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    /// Concepts that must all match.
    pub concepts: Vec<&'static str>,
    /// Groups of colours. One colour of each group must match.
    pub colors: Vec<Vec<&'static str>>,
    /// Folded sizes, one of which must match.
    pub sizes: Vec<String>,
    /// Words of names, brands and categories, which must all match. `true` marks a prefix.
    pub words: Vec<(String, bool)>,
    /// Words that no product has.
    pub unknown: Vec<String>,
    /// The highest price in öre.
    pub max_price: Option<i64>,
    pub min_price: Option<i64>,
}

impl Query {
    /// Whether the search names a kind of product, and not only a colour or size.
    pub fn names_product_kind(&self) -> bool {
        let is_size = |word: &str| SIZES.contains(&word) || word.parse::<f64>().is_ok();
        !self.concepts.is_empty() || self.words.iter().any(|(word, _)| !is_size(word))
    }
}

const UPPER: &[&str] =
    &["under", "below", "max", "maximum", "hogst", "upto", "billigare", "less", "mindre"];
const LOWER: &[&str] = &["over", "above", "min", "minimum", "minst", "more", "mer", "dyrare"];
const KRONOR: &[&str] = &["kr", "sek", "kronor"];
const SIZES: &[&str] = &["xs", "s", "m", "l", "xl", "xxl"];

/// Parses a search. `known(word, whole)` tells whether the index has a word that begins with this
/// text or, with `whole`, equals it.
pub fn parse<E>(text: &str, known: impl Fn(&str, bool) -> Result<bool, E>) -> Result<Query, E> {
    let tokens = text::words(text);
    let mut query = Query::default();
    let mut at = 0;
    while let Some(word) = tokens.get(at) {
        at += 1;
        if let Some((limit, used)) = limit_after(&tokens, at - 1) {
            if UPPER.contains(&word.as_str()) {
                query.max_price = Some(limit)
            } else {
                query.min_price = Some(limit)
            }
            at += used;
            continue;
        }
        if let Some((size, used)) = size_at(&tokens, at - 1) {
            query.sizes.push(size);
            at += used;
            continue;
        }
        read_word(&mut query, word, &known)?;
    }
    Ok(query)
}

/// Parses a price limit at this word: "under 1000", "billigare än 1 500 kr".
fn limit_after(tokens: &[String], at: usize) -> Option<(i64, usize)> {
    let word = tokens.get(at)?.as_str();
    if !UPPER.contains(&word) && !LOWER.contains(&word) {
        return None;
    }
    let skip = tokens.get(at + 1).is_some_and(|next| matches!(next.as_str(), "than" | "an" | "to"))
        as usize;
    let (kronor, used) = kronor(tokens.get(at + 1 + skip..)?)?;
    Some(((kronor * 100.0).round() as i64, used + skip))
}

/// Parses an amount as people write it.
pub fn amount(text: &str) -> Option<f64> {
    kronor(&text::words(text)).map(|(kronor, _)| kronor)
}

/// Parses the amount at the beginning of these words. Returns the amount and its number of words:
/// "1500", "1 500", "1,500.00", "1500kr", "SEK 1500".
fn kronor(words: &[String]) -> Option<(f64, usize)> {
    let before = usize::from(words.first().is_some_and(|word| KRONOR.contains(&word.as_str())));
    let bare = |word: &str| {
        KRONOR.iter().find_map(|unit| word.strip_suffix(unit)).unwrap_or(word).to_owned()
    };
    let is_group = |text: &str| text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_digit());
    let mut written = bare(words.get(before)?);
    let mut used = before + 1;
    if written.len() <= 3 && !written.contains('.') {
        while let Some(group) = words.get(used).map(|word| bare(word)).filter(|word| is_group(word))
        {
            written.push_str(&group);
            used += 1;
        }
    }
    // Amounts never have three decimals, so a mark before three digits separates thousands.
    let mut amount = String::new();
    for (at, part) in written.split('.').enumerate() {
        amount.push_str(if at == 0 || is_group(part) { "" } else { "." });
        amount.push_str(part);
    }
    let plain = amount.starts_with(|first: char| first.is_ascii_digit());
    Some((amount.parse().ok().filter(|_| plain)?, used))
}

/// Parses a size at this word. Returns the size and the number of its further words: "size 42", "in
/// M", "XL", "2 persons", "0.75 l", "24l".
fn size_at(tokens: &[String], at: usize) -> Option<(String, usize)> {
    let word = tokens.get(at)?.as_str();
    let before = at.checked_sub(1).and_then(|before| tokens.get(before)).map_or("", String::as_str);
    let next = tokens.get(at + 1).map_or("", String::as_str);
    let number = word.parse::<f64>().ok();
    if matches!(before, "size" | "storlek" | "stl" | "strl")
        || (matches!(before, "in" | "i") && SIZES.contains(&word))
    {
        return Some((word.to_owned(), 0));
    }
    if number.is_some()
        && (next.starts_with("pers")
            || matches!(next, "l" | "liter" | "litre" | "liters" | "litres" | "cm"))
    {
        return Some((word.to_owned(), 1));
    }
    if let Some(digits) = word
        .strip_suffix('l')
        .or_else(|| word.strip_suffix('p'))
        .filter(|digits| digits.parse::<f64>().is_ok())
    {
        return Some((digits.to_owned(), 0));
    }
    // Without a label, sizes of two or more letters, shoe sizes of two digits, and decimal volumes
    // are recognised.
    let alone = (word.len() > 1 && SIZES.contains(&word))
        || word.contains('.')
        || (word.len() == 2 && number.is_some_and(|number| (35.0..=47.0).contains(&number)));
    (alone && (number.is_some() || SIZES.contains(&word))).then(|| (word.to_owned(), 0))
}

fn read_word<E>(
    query: &mut Query,
    word: &str,
    known: &impl Fn(&str, bool) -> Result<bool, E>,
) -> Result<(), E> {
    if vocabulary::is_filler(word) {
        return Ok(());
    }
    if let Some(codes) = colors::by_word(word) {
        query.colors.push(codes);
        return Ok(());
    }
    if let Some(concept) = vocabulary::concept(word) {
        query.concepts.push(concept);
        return Ok(());
    }
    // Short words must match completely, because "car" must not match carbon.
    if word.len() <= 3 {
        if known(word, true)? {
            query.words.push((word.to_owned(), false));
        } else {
            query.unknown.push(word.to_owned());
        }
        return Ok(());
    }
    let root = vocabulary::stem(word, false).unwrap_or(word);
    if known(root, false)? {
        query.words.push((root.to_owned(), true));
        return Ok(());
    }
    if let Some(parts) = vocabulary::compound(word) {
        query.concepts.extend(parts);
        return Ok(());
    }
    match vocabulary::stem(word, true) {
        Some(root) if known(root, false)? => query.words.push((root.to_owned(), true)),
        _ => query.unknown.push(word.to_owned()),
    }
    Ok(())
}

/// Returns the full-text expression of the words and concepts, or None if there are none. `columns`
/// limits the columns in which plain words may occur.
pub fn expression(query: &Query, columns: &str) -> Option<String> {
    let concepts =
        query.concepts.iter().map(|concept| format!("({{concepts category}} : \"{concept}\")"));
    let colors = query.colors.iter().map(|codes| {
        let any: Vec<String> = codes.iter().map(|code| format!("\"{code}\"")).collect();
        format!("(colors : ({}))", any.join(" OR "))
    });
    let words = query.words.iter().map(|(word, prefix)| {
        // The index splits a number such as 0.75 into two words. As a phrase, it keeps their order.
        format!("({columns} : \"{}\"{})", word.replace('.', " "), if *prefix { "*" } else { "" })
    });
    let all: Vec<String> = concepts.chain(colors).chain(words).collect();
    (!all.is_empty()).then(|| all.join(" AND "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Query {
        parse(text, |word, _| Ok::<bool, ()>(matches!(word, "ridge" | "sleeping" | "bag"))).unwrap()
    }

    #[test]
    fn a_search_text_is_read_as_concepts_colours_sizes_and_limits() {
        let query = read("Black trail shoes in size 42 under 1 500 kr");
        assert_eq!(
            (query.concepts, query.colors, query.sizes),
            (vec!["trail", "shoe"], vec![vec!["black"]], vec!["42".to_owned()])
        );
        assert_eq!(read("svarta löparskor billigare än 1200").max_price, Some(120_000));
        assert_eq!(read("svarta löparskor").concepts, vec!["running", "shoe"]);
        assert_eq!(
            read("ridge sleeping bags").words,
            vec![
                ("ridge".to_owned(), true),
                ("sleeping".to_owned(), true),
                ("bag".to_owned(), true)
            ]
        );
    }

    #[test]
    fn price_limits_are_read_from_common_notations() {
        for text in [
            "1500",
            "1 500",
            "1\u{a0}500 kr",
            "1,500",
            "1.500 kr",
            "1'500",
            "1500kr",
            "1 500kr",
            "SEK 1500",
            "sek 1,500",
            "1 500:-",
            "1,500.00",
            "1500,00",
        ] {
            assert_eq!(read(&format!("jackets under {text}")).max_price, Some(150_000), "{text}");
            assert_eq!(amount(text), Some(1_500.0), "{text}");
        }
        assert_eq!(read("jacka billigare än 1 500 kr").max_price, Some(150_000));
        assert_eq!(
            (amount("1 250 000"), amount("99,90"), amount("2000 3"), amount("inf"), amount("many")),
            (Some(1_250_000.0), Some(99.9), Some(2_000.0), None, None)
        );
        let both = read("shoes over 500 under 1 000 size 42");
        assert_eq!(
            (both.min_price, both.max_price, both.sizes),
            (Some(50_000), Some(100_000), vec!["42".to_owned()])
        );
    }

    #[test]
    fn a_word_that_matches_no_product_is_unknown() {
        let query = read("gaming laptop");
        assert_eq!((query.unknown.len(), query.names_product_kind()), (2, false));
        let query = read("blue sweater m");
        assert!(!query.names_product_kind(), "a colour and a size name no thing");
    }
}
