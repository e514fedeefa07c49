//! Lists the characters that are invisible, look like an ordinary space, or change the order of
//! other characters. Terminal, exported pages and window show all of them by their code point. The
//! window gets this table as `ui/src/platform/generated/hidden.ts`. A test compares the table with
//! the properties of Unicode.

/// The first and last code point of each range, in order: the general categories Cc, Cf, Zl, Zp and
/// Zs without the space, the properties Default_Ignorable_Code_Point and Noncharacter_Code_Point,
/// and [`BLANK`].
#[rustfmt::skip]
pub const HIDDEN: [(u32, u32); 50] = [
    (0x0000, 0x001f),
    (0x007f, 0x00a0),
    (0x00ad, 0x00ad),
    (0x034f, 0x034f),
    (0x0600, 0x0605),
    (0x061c, 0x061c),
    (0x06dd, 0x06dd),
    (0x070f, 0x070f),
    (0x0890, 0x0891),
    (0x08e2, 0x08e2),
    (0x115f, 0x1160),
    (0x1680, 0x1680),
    (0x17b4, 0x17b5),
    (0x180b, 0x180f),
    (0x2000, 0x200f),
    (0x2028, 0x202f),
    (0x205f, 0x206f),
    (0x2800, 0x2800),
    (0x3000, 0x3000),
    (0x3164, 0x3164),
    (0xfdd0, 0xfdef),
    (0xfe00, 0xfe0f),
    (0xfeff, 0xfeff),
    (0xffa0, 0xffa0),
    (0xfff0, 0xffff),
    (0x1107f, 0x1107f),
    (0x110bd, 0x110bd),
    (0x110cd, 0x110cd),
    (0x13430, 0x1343f),
    (0x13441, 0x13442),
    (0x16fe4, 0x16fe4),
    (0x1bca0, 0x1bca3),
    (0x1d159, 0x1d159),
    (0x1d173, 0x1d17a),
    (0x1fffe, 0x1ffff),
    (0x2fffe, 0x2ffff),
    (0x3fffe, 0x3ffff),
    (0x4fffe, 0x4ffff),
    (0x5fffe, 0x5ffff),
    (0x6fffe, 0x6ffff),
    (0x7fffe, 0x7ffff),
    (0x8fffe, 0x8ffff),
    (0x9fffe, 0x9ffff),
    (0xafffe, 0xaffff),
    (0xbfffe, 0xbffff),
    (0xcfffe, 0xcffff),
    (0xdfffe, 0xe0fff),
    (0xefffe, 0xeffff),
    (0xffffe, 0xfffff),
    (0x10fffe, 0x10ffff),
];

/// Characters that are visible by their properties but blank in fonts: the Braille pattern without
/// dots, stand-ins for objects and unreadable text, and fillers of four scripts.
pub const BLANK: [char; 8] = [
    '\u{2800}',
    '\u{fffc}',
    '\u{fffd}',
    '\u{1107f}',
    '\u{13441}',
    '\u{13442}',
    '\u{16fe4}',
    '\u{1d159}',
];

/// Whether a character is invisible or changes the order of other characters.
pub fn is_hidden(c: char) -> bool {
    let point = u32::from(c);
    let after = HIDDEN.partition_point(|(first, _)| *first <= point);
    after.checked_sub(1).is_some_and(|at| point <= HIDDEN[at].1)
}

/// Whether a character changes the display order of other characters (Bidi_Control).
pub fn is_bidi_control(c: char) -> bool {
    matches!(c, '\u{061c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Replaces the hidden characters of a JSON text by JSON escapes, so that the meaning stays the
/// same. Line feeds are kept, because they are layout in JSON.
pub fn escape_json(json: &str) -> String {
    let mut escaped = String::with_capacity(json.len());
    for c in json.chars() {
        if c == '\n' || !is_hidden(c) {
            escaped.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            escaped.push_str(&format!("\\u{unit:04x}"));
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use regex::Regex;

    use super::*;

    fn all_chars() -> impl Iterator<Item = char> {
        (0..=u32::from(char::MAX)).filter_map(char::from_u32)
    }

    #[test]
    fn the_hidden_character_table_matches_the_unicode_properties() {
        let property = Regex::new(
            r"^[\p{Cc}\p{Cf}\p{Zs}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}\p{Noncharacter_Code_Point}]$",
        )
        .expect("the properties exist");
        let bidi = Regex::new(r"^\p{Bidi_Control}$").expect("the property exists");
        for c in all_chars() {
            let text = c.to_string();
            let expected =
                c != ' ' && (property.is_match(&text) || BLANK.contains(&c) || c == '\n');
            assert_eq!(is_hidden(c), expected, "U+{:04X}", u32::from(c));
            assert_eq!(is_bidi_control(c), bidi.is_match(&text), "U+{:04X}", u32::from(c));
        }
    }

    #[test]
    fn escaped_json_has_the_same_value_and_no_hidden_characters() {
        let text: String = all_chars().filter(|c| is_hidden(*c)).collect();
        let value = serde_json::json!({ (text.clone()): [text, "plain å 👟"] });
        for json in [value.to_string(), format!("{value:#}")] {
            let escaped = escape_json(&json);
            assert!(escaped.chars().all(|c| c == '\n' || !is_hidden(c)), "{escaped}");
            let read: serde_json::Value = serde_json::from_str(&escaped).expect("still JSON");
            assert_eq!(read, value);
        }
        assert_eq!(escape_json("\"a\u{202e}b\u{1d173}\""), "\"a\\u202eb\\ud834\\udd73\"");
    }
}
