//! The shop's products as plain data: categories, colours and the seeded generator. Knows nothing
//! of databases, carts or MCP.

mod categories;
pub mod colors;
mod descriptions;
mod generate;
mod rng;

pub use categories::{CATEGORIES, Category, Shape, category};
pub use generate::generate;

/// The shop's languages.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Locale {
    #[default]
    En,
    Sv,
}

impl Locale {
    /// Returns the language of a culture code such as `sv-SE`; English if unknown.
    pub fn of_culture(code: &str) -> Self {
        match code.split(['-', '_']).next() {
            Some(language) if language.eq_ignore_ascii_case("sv") => Self::Sv,
            _ => Self::En,
        }
    }

    /// Returns the one of two texts that is in this language.
    pub fn of<'a>(self, en: &'a str, sv: &'a str) -> &'a str {
        match self {
            Self::En => en,
            Self::Sv => sv,
        }
    }
}

/// A dimension in which variants differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Dimension {
    Color,
    Size,
    Volume,
    Length,
    Zip,
}

impl Dimension {
    /// Returns the dimension's code for clients and the database.
    pub fn code(self) -> &'static str {
        match self {
            Self::Color => "color",
            Self::Size => "size",
            Self::Volume => "volume",
            Self::Length => "length",
            Self::Zip => "zip",
        }
    }

    /// Returns the dimension with this code.
    pub fn of_code(code: &str) -> Option<Self> {
        [Self::Color, Self::Size, Self::Volume, Self::Length, Self::Zip]
            .into_iter()
            .find(|dimension| dimension.code() == code)
    }

    /// Returns the dimension's name.
    pub fn name(self, locale: Locale) -> &'static str {
        match self {
            Self::Color => locale.of("Colour", "Färg"),
            Self::Size => locale.of("Size", "Storlek"),
            Self::Volume => locale.of("Volume", "Volym"),
            Self::Length => locale.of("Length", "Längd"),
            Self::Zip => locale.of("Zip side", "Dragkedja"),
        }
    }
}

/// Returns the name of a dimension's value. Colours are stored as codes.
pub fn value_name(dimension: Dimension, value: &str, locale: Locale) -> String {
    match dimension {
        Dimension::Color => colors::by_code(value)
            .map_or_else(|| value.to_owned(), |color| locale.of(color.en, color.sv).to_owned()),
        Dimension::Zip | Dimension::Length => match value {
            "Left" => locale.of("Left", "Vänster").to_owned(),
            "Right" => locale.of("Right", "Höger").to_owned(),
            "Regular" => locale.of("Regular", "Normal").to_owned(),
            "Long" => locale.of("Long", "Lång").to_owned(),
            other => other.to_owned(),
        },
        Dimension::Size => match value.strip_suffix(" persons") {
            Some(count) => format!("{count} {}", locale.of("persons", "personer")),
            None => value.to_owned(),
        },
        Dimension::Volume => value.to_owned(),
    }
}

/// One product. A product without real variants has one variant with the same id and part number.
#[derive(Clone, Debug, PartialEq)]
pub struct Product {
    pub id: i64,
    pub part_no: String,
    pub name: String,
    pub brand: &'static str,
    pub category: &'static Category,
    pub material: (&'static str, &'static str),
    pub description: (String, String),
    /// Extra words for the search index.
    pub words: String,
    pub weight_grams: i64,
    pub popularity: i64,
    pub active: bool,
    pub buyable: bool,
    pub variants: Vec<Variant>,
}

/// A variant that can be put into a cart. Money in öre.
#[derive(Clone, Debug, PartialEq)]
pub struct Variant {
    pub id: i64,
    pub part_no: String,
    pub ean: String,
    pub values: Vec<(Dimension, String)>,
    pub price: i64,
    pub stock: i64,
    pub incoming: i64,
    /// The number of days from today until the next delivery.
    pub restock_in_days: Option<i64>,
    /// The number of days until delivery for a product that is made to order.
    pub lead_days: Option<i64>,
    pub active: bool,
    pub buyable: bool,
}
