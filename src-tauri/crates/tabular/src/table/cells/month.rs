//! Names of months and weekdays in the languages of exports.

/// The beginnings of the names of months. A longer one comes before those that it begins with.
const MONTHS: &[(&str, u32)] = &[
    ("marras", 11),
    ("červenec", 7),
    ("července", 7),
    ("červen", 6),
    ("června", 6),
    ("jan", 1),
    ("jän", 1),
    ("ene", 1),
    ("gen", 1),
    ("sty", 1),
    ("led", 1),
    ("tammi", 1),
    ("янв", 1),
    ("oca", 1),
    ("ian", 1),
    ("feb", 2),
    ("fév", 2),
    ("fev", 2),
    ("lut", 2),
    ("úno", 2),
    ("helmi", 2),
    ("фев", 2),
    ("şub", 2),
    ("mar", 3),
    ("mär", 3),
    ("mrz", 3),
    ("mrt", 3),
    ("maa", 3),
    ("bře", 3),
    ("мар", 3),
    ("apr", 4),
    ("avr", 4),
    ("abr", 4),
    ("kwi", 4),
    ("dub", 4),
    ("huhti", 4),
    ("апр", 4),
    ("nis", 4),
    ("may", 5),
    ("maj", 5),
    ("mai", 5),
    ("mei", 5),
    ("mag", 5),
    ("máj", 5),
    ("maio", 5),
    ("touko", 5),
    ("kvě", 5),
    ("мая", 5),
    ("май", 5),
    ("juin", 6),
    ("jun", 6),
    ("giu", 6),
    ("cze", 6),
    ("kesä", 6),
    ("июн", 6),
    ("haz", 6),
    ("juil", 7),
    ("jul", 7),
    ("lug", 7),
    ("lip", 7),
    ("heinä", 7),
    ("июл", 7),
    ("tem", 7),
    ("iul", 7),
    ("aug", 8),
    ("aoû", 8),
    ("aou", 8),
    ("ago", 8),
    ("sie", 8),
    ("srp", 8),
    ("elo", 8),
    ("авг", 8),
    ("ağu", 8),
    ("sep", 9),
    ("set", 9),
    ("wrz", 9),
    ("zář", 9),
    ("syys", 9),
    ("сен", 9),
    ("eyl", 9),
    ("oct", 10),
    ("okt", 10),
    ("out", 10),
    ("ott", 10),
    ("paź", 10),
    ("říj", 10),
    ("loka", 10),
    ("окт", 10),
    ("eki", 10),
    ("nov", 11),
    ("lis", 11),
    ("ноя", 11),
    ("kas", 11),
    ("dec", 12),
    ("dez", 12),
    ("déc", 12),
    ("dic", 12),
    ("gru", 12),
];
/// More of them, which are rare.
const MORE: &[(&str, u32)] = &[("pro", 12), ("joulu", 12), ("дек", 12), ("ara", 12)];

/// The beginnings of the names of weekdays.
const WEEKDAYS: &[&str] = &[
    "mon", "tue", "wed", "thu", "fri", "sat", "sun", "mån", "tis", "ons", "tor", "fre", "lör",
    "lor", "sön", "søn", "lør", "man", "tir", "mo", "di", "mi", "do", "fr", "sa", "so", "lun",
    "mar", "mer", "jeu", "ven", "sam", "dim", "mié", "mie", "jue", "vie", "sáb", "sab", "dom",
    "seg", "ter", "qua", "qui", "sex", "gio", "ma", "wo", "vr", "za", "zo", "pon", "wt", "wto",
    "śr", "śro", "czw", "pt", "pią", "sob", "nd", "nie", "ti", "ke", "to", "pe", "la", "su", "po",
    "út", "st", "čt", "pá", "ne", "пн", "вт", "ср", "чт", "пт", "сб", "вс", "pzt",
];

/// Small words inside dates.
const FILLERS: &[&str] =
    &["de", "of", "the", "del", "den", "le", "el", "st", "nd", "rd", "th", "г", "til", "do"];

/// Returns the number of a month by its name or the beginning of its name, in lower case.
pub(crate) fn find_month(word: &str) -> Option<u32> {
    if word.chars().count() < 3 {
        return None;
    }
    let tables = MONTHS.iter().chain(MORE);
    let mut found = tables.filter(|(start, _)| word.starts_with(start));
    found.next().map(|(_, month)| *month)
}

/// Whether a word is the name of a weekday, or the beginning of one.
pub(crate) fn is_weekday(word: &str) -> bool {
    WEEKDAYS
        .iter()
        .any(|start| word == *start || (start.chars().count() >= 3 && word.starts_with(start)))
        || ["dienstag", "mittwoch", "donnerstag", "sonntag", "samstag", "montag", "freitag"]
            .contains(&word)
}

/// Whether a word inside a date means nothing.
pub(crate) fn is_filler(word: &str) -> bool {
    FILLERS.contains(&word)
}
