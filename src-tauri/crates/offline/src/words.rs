//! Lists the words around numbers from which several readers of a clause decide the meaning of a
//! number.

/// Words after which a number is a property of a thing and not a quantity.
pub(super) const LABELS: &[&str] = &[
    "size",
    "sizes",
    "storlek",
    "storleken",
    "strl",
    "stl",
    "str",
    "eu",
    "part",
    "partno",
    "artikel",
    "artikelnummer",
    "article",
    "sku",
    "model",
];
/// Words before which a number is a measure of a thing.
pub(super) const UNITS: &[&str] = &[
    "percent",
    "procent",
    "l",
    "liter",
    "litre",
    "litres",
    "liters",
    "ml",
    "cl",
    "dl",
    "cm",
    "mm",
    "kg",
    "g",
    "gram",
    "grams",
    "person",
    "persons",
    "people",
    "personer",
    "personers",
    "man",
    "lumen",
    "watt",
    "w",
    "season",
    "seasons",
];
/// Words after which a number does not belong to a name.
pub(super) const ORDERS: &[&str] = &[
    "add", "ad", "put", "buy", "order", "take", "get", "grab", "throw", "stick", "pop", "toss",
    "drop", "want", "need", "have", "purchase", "remove", "delete", "make", "set", "change",
    "lagg", "lagga", "kop", "kopa", "bestall", "bestalla", "tag", "ta", "stoppa", "slang",
    "plocka", "tar", "koper", "behover", "remove",
];
/// Words that are directly followed by a quantity.
pub(super) const BEFORE_A_COUNT: &[&str] =
    &["to", "till", "it", "quantity", "antal", "antalet", "them", "dem", "qty", "make"];
pub(super) const PIECES: &[&str] =
    &["x", "st", "stycken", "styck", "pcs", "pieces", "pairs", "pair", "par", "of", "times", "ggr"];
