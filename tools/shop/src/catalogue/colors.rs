//! The colours of products: code, names, drawing value, and the words for them in English and
//! Swedish.

/// One colour.
#[derive(Debug, PartialEq, Eq)]
pub struct Color {
    pub code: &'static str,
    pub en: &'static str,
    pub sv: &'static str,
    pub hex: &'static str,
    /// Three letters that part numbers contain.
    pub short: &'static str,
    /// Words for the colour in folded form (lower case, no diacritics).
    pub words: &'static [&'static str],
}

macro_rules! colors {
    ($(($code:literal, $en:literal, $sv:literal, $hex:literal, $short:literal, [$($word:literal),*])),* $(,)?) => {
        /// All colours.
        pub const COLORS: &[Color] = &[$(Color { code: $code, en: $en, sv: $sv, hex: $hex, short: $short, words: &[$($word),*] }),*];
    };
}

colors![
    ("black", "Black", "Svart", "#2b2d31", "BLK", ["black", "svart", "svarta"]),
    ("grey", "Grey", "Grå", "#8b929b", "GRY", ["grey", "gray", "gra", "graa", "gratt"]),
    ("white", "White", "Vit", "#e9ebee", "WHT", ["white", "vit", "vita", "vitt"]),
    ("red", "Red", "Röd", "#c23b3b", "RED", ["red", "rod", "roda", "rott"]),
    ("orange", "Orange", "Orange", "#e07b2f", "ORG", ["orange", "orangea"]),
    ("yellow", "Yellow", "Gul", "#e3b93a", "YEL", ["yellow", "gul", "gula", "gult"]),
    ("green", "Green", "Grön", "#4f7d4a", "GRN", ["green", "gron", "grona", "gront"]),
    ("blue", "Blue", "Blå", "#3f74b5", "BLU", ["blue", "bla", "blaa", "blatt"]),
    (
        "navy",
        "Navy",
        "Marinblå",
        "#27385c",
        "NVY",
        ["navy", "marin", "marinbla", "marinblaa", "morkbla", "morkblaa"]
    ),
    (
        "turquoise",
        "Turquoise",
        "Turkos",
        "#3aa3a0",
        "TRQ",
        ["turquoise", "teal", "turkos", "turkosa"]
    ),
    ("purple", "Purple", "Lila", "#75529b", "PUR", ["purple", "violet", "lila"]),
    ("pink", "Pink", "Rosa", "#d4779b", "PNK", ["pink", "rosa"]),
    ("brown", "Brown", "Brun", "#7a5638", "BRN", ["brown", "brun", "bruna", "brunt"]),
    ("beige", "Beige", "Beige", "#cbb790", "BEI", ["beige", "sand"]),
];

/// Returns the colour of a code.
pub fn by_code(code: &str) -> Option<&'static Color> {
    COLORS.iter().find(|color| color.code == code)
}

/// Returns the codes that a word means. "Blue" includes navy.
pub fn by_word(word: &str) -> Option<Vec<&'static str>> {
    let color = COLORS.iter().find(|color| color.words.contains(&word))?;
    Some(if color.code == "blue" { vec!["blue", "navy"] } else { vec![color.code] })
}
