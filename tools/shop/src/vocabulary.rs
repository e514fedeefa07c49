//! Maps English and Swedish words for things to the concepts of the index, and splits compounds
//! such as "löparskor". Knows no database.

/// Concepts, with the folded words that mean them.
const CONCEPTS: &[(&str, &[&str])] = &[
    (
        "shoe",
        &[
            "shoe", "shoes", "sneaker", "sneakers", "footwear", "sko", "skor", "skorna", "skon",
            "dojor",
        ],
    ),
    ("boot", &["boot", "boots", "kanga", "kangor", "kangorna", "stovlar"]),
    ("trail", &["trail", "trails", "offroad", "terrang"]),
    ("road", &["road", "asphalt", "asfalt", "vag"]),
    (
        "running",
        &[
            "running", "run", "runner", "runners", "jogging", "jog", "lop", "lopar", "loparnas",
            "lopning", "springa", "jogga",
        ],
    ),
    (
        "hiking",
        &[
            "hiking",
            "hike",
            "hikes",
            "trekking",
            "walking",
            "vandring",
            "vandrings",
            "vandra",
            "fjall",
        ],
    ),
    (
        "jacket",
        &["jacket", "jackets", "coat", "coats", "parka", "jacka", "jackor", "jackan", "rock"],
    ),
    ("shell", &["shell", "hardshell", "skal"]),
    (
        "waterproof",
        &["waterproof", "rainproof", "rain", "raincoat", "vattentat", "vattentata", "regn"],
    ),
    ("down", &["down", "puffer", "dun"]),
    ("warm", &["warm", "winter", "insulated", "varm", "varma", "vinter"]),
    ("light", &["light", "lightweight", "ultralight", "latt", "latta", "lattvikts"]),
    ("fleece", &["fleece"]),
    ("wool", &["wool", "merino", "woollen", "ull", "ylle", "merinoull"]),
    ("trousers", &["trousers", "trouser", "pants", "byxor", "byxa", "byxorna"]),
    ("tights", &["tights", "leggings", "tajts"]),
    (
        "backpack",
        &[
            "backpack",
            "backpacks",
            "rucksack",
            "rucksacks",
            "daypack",
            "daypacks",
            "knapsack",
            "ryggsack",
            "ryggsackar",
            "ryggsacken",
            "ryggor",
        ],
    ),
    ("tent", &["tent", "tents", "talt", "taltet", "talten"]),
    ("sleepingbag", &["sovsack", "sovsackar", "sovsacken"]),
    ("bottle", &["bottle", "bottles", "flaska", "flaskor", "flaskan"]),
    ("stove", &["stove", "stoves", "burner", "cooker", "kok", "stormkok"]),
    (
        "lamp",
        &[
            "lamp",
            "lamps",
            "headlamp",
            "headlamps",
            "torch",
            "flashlight",
            "lampa",
            "lampor",
            "pannlampa",
            "pannlampor",
        ],
    ),
    ("pole", &["pole", "poles", "stav", "stavar"]),
    ("hat", &["hat", "hats", "headwear", "mossa", "mossor", "keps", "kepsar"]),
    ("glove", &["glove", "gloves", "mitten", "mittens", "handske", "handskar", "vante", "vantar"]),
    ("sock", &["sock", "socks", "strumpa", "strumpor", "socka", "sockor"]),
    (
        "recycled",
        &["recycled", "sustainable", "eco", "atervunnen", "atervunna", "hallbar", "hallbara"],
    ),
    ("reflective", &["reflective", "reflex"]),
    ("wide", &["wide", "bred", "breda"]),
];

/// Words that do not describe a product.
const FILLERS: &[&str] = &[
    "a",
    "an",
    "the",
    "some",
    "any",
    "of",
    "for",
    "with",
    "in",
    "and",
    "or",
    "to",
    "my",
    "me",
    "i",
    "is",
    "are",
    "do",
    "you",
    "have",
    "that",
    "your",
    "it",
    "new",
    "good",
    "best",
    "nice",
    "cheap",
    "cheapest",
    "affordable",
    "great",
    "show",
    "find",
    "search",
    "want",
    "need",
    "looking",
    "look",
    "buy",
    "get",
    "please",
    "pair",
    "pairs",
    "size",
    "sizes",
    "color",
    "colour",
    "colors",
    "colours",
    "product",
    "products",
    "item",
    "items",
    "men",
    "mens",
    "man",
    "women",
    "womens",
    "woman",
    "unisex",
    "kids",
    "s",
    "kr",
    "sek",
    "kronor",
    "price",
    "en",
    "ett",
    "den",
    "det",
    "de",
    "nagra",
    "nagon",
    "nagot",
    "och",
    "eller",
    "till",
    "for",
    "med",
    "i",
    "pa",
    "som",
    "ar",
    "har",
    "ni",
    "du",
    "jag",
    "vill",
    "mig",
    "min",
    "mina",
    "bra",
    "basta",
    "fin",
    "fina",
    "billig",
    "billiga",
    "billigaste",
    "visa",
    "hitta",
    "sok",
    "kopa",
    "behover",
    "letar",
    "efter",
    "par",
    "storlek",
    "stl",
    "strl",
    "farg",
    "produkt",
    "produkter",
    "vara",
    "varor",
    "herr",
    "herrar",
    "dam",
    "damer",
    "barn",
    "pris",
    "ny",
    "nya",
    "snalla",
    "tack",
    "available",
    "stock",
    "lager",
    "finns",
];

/// Whether a word can be left out of a search.
pub fn is_filler(word: &str) -> bool {
    FILLERS.contains(&word)
}

/// Returns the concept of a word.
pub fn concept(word: &str) -> Option<&'static str> {
    CONCEPTS.iter().find(|(_, words)| words.contains(&word)).map(|(concept, _)| *concept)
}

/// The longest word, in bytes, that is split.
const LONGEST: usize = 40;

/// Returns the concepts of a compound if every part is a known word: "traillöparskor" is trail,
/// running and shoe. An `s` may join the parts.
pub fn compound(word: &str) -> Option<Vec<&'static str>> {
    if word.len() > LONGEST {
        return None;
    }
    if let Some(single) = concept(word) {
        return Some(vec![single]);
    }
    let cuts = word.char_indices().map(|(at, _)| at).filter(|at| *at >= 3 && word.len() - at >= 3);
    for at in cuts {
        let (head, tail) = word.split_at(at);
        let first = concept(head).or_else(|| head.strip_suffix('s').and_then(concept));
        if let Some(first) = first
            && let Some(rest) = compound(tail)
        {
            return Some(std::iter::once(first).chain(rest).collect());
        }
    }
    None
}

/// Returns the part of a word that its inflections share, English first, and Swedish if `swedish`.
pub fn stem(word: &str, swedish: bool) -> Option<&str> {
    let endings: &[&str] = if swedish {
        &["orna", "arna", "erna", "or", "ar", "er", "an", "en", "et", "na", "a"]
    } else {
        &["s"]
    };
    endings
        .iter()
        .find_map(|ending| word.strip_suffix(ending))
        .filter(|stem| stem.len() >= 3 && !stem.ends_with('s'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn compounds_are_split_into_concepts() {
        assert_eq!(compound("loparskor"), Some(vec!["running", "shoe"]));
        assert_eq!(compound("trailloparskor"), Some(vec!["trail", "running", "shoe"]));
        assert_eq!(compound("vandringskangor"), Some(vec!["hiking", "boot"]));
        assert_eq!(compound("vinterjacka"), Some(vec!["warm", "jacket"]));
        assert_eq!(compound("elefant"), None);
        assert_eq!(compound(&"ull".repeat(50_000)), None, "nobody means such a word");
    }

    #[test]
    fn stemming_removes_inflectional_endings() {
        assert_eq!(
            (stem("tents", false), stem("flaskor", true), stem("glass", false)),
            (Some("tent"), Some("flask"), None)
        );
    }
}
