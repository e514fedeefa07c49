//! The shop's errors. Each one is a plain sentence with a remedy, in English and Swedish.

use crate::catalogue::Locale;

/// A refusal or failure of the shop.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ShopError {
    #[error("no product {0}")]
    UnknownProduct(String),
    #[error("no part number {0}")]
    UnknownPart(String),
    #[error("{name} has variants")]
    NeedsVariant { name: String, choices: String },
    #[error("{0} is not for sale")]
    NotForSale(String),
    #[error("{name} is sold out")]
    SoldOut { name: String },
    #[error("only {left} of {name} can be had")]
    TooMany { name: String, left: i64 },
    #[error("{0} is not in the cart")]
    NotInCart(String),
    #[error("the cart is empty")]
    EmptyCart,
    #[error("the quantity must be a whole number from 1 to 999")]
    BadQuantity,
    #[error("{0}")]
    BadArguments(String),
    #[error("no tool {0}")]
    UnknownTool(String),
    /// A later version wrote the file, so it is neither read nor changed.
    #[error(
        "{file} was written by a newer version of Countersign (format {found}; this version knows up to {known})"
    )]
    NewerCarts { file: String, found: i64, known: i64 },
    #[error("the shop's database failed: {0}")]
    Database(String),
}

impl ShopError {
    /// Returns the sentence for the user.
    pub fn sentence(&self, locale: Locale) -> String {
        match (self, locale) {
            (Self::UnknownProduct(id), Locale::En) => format!("There is no product {id}. Search again and use a productId or partNo from the result."),
            (Self::UnknownProduct(id), Locale::Sv) => format!("Produkten {id} finns inte. Sök igen och använd productId eller partNo ur resultatet."),
            (Self::UnknownPart(part), Locale::En) => format!("There is no part number {part}. Look the product up and use a partNo from the result."),
            (Self::UnknownPart(part), Locale::Sv) => format!("Artikelnumret {part} finns inte. Slå upp produkten och använd ett partNo ur resultatet."),
            (Self::NeedsVariant { name, choices }, Locale::En) => format!("{name} comes in several variants. Choose one and use its part number: {choices}."),
            (Self::NeedsVariant { name, choices }, Locale::Sv) => format!("{name} finns i flera varianter. Välj en och använd dess artikelnummer: {choices}."),
            (Self::NotForSale(name), Locale::En) => format!("{name} is not for sale. Choose another variant or product."),
            (Self::NotForSale(name), Locale::Sv) => format!("{name} säljs inte. Välj en annan variant eller produkt."),
            (Self::SoldOut { name }, Locale::En) => format!("{name} is sold out and no delivery is planned. Choose another variant or product."),
            (Self::SoldOut { name }, Locale::Sv) => format!("{name} är slutsåld och ingen leverans är planerad. Välj en annan variant eller produkt."),
            (Self::TooMany { name, left }, Locale::En) => {
                format!("Only {left} of {name} can be had, counting what is in the cart already. Choose a smaller quantity.")
            }
            (Self::TooMany { name, left }, Locale::Sv) => {
                format!("Det går bara att få {left} av {name}, inräknat det som redan ligger i varukorgen. Välj ett mindre antal.")
            }
            (Self::NotInCart(part), Locale::En) => format!("{part} is not in the cart. Show the cart and use a partNo from its lines."),
            (Self::NotInCart(part), Locale::Sv) => format!("{part} ligger inte i varukorgen. Visa varukorgen och använd ett partNo ur raderna."),
            (Self::EmptyCart, Locale::En) => "The cart is empty. Add a product first.".to_owned(),
            (Self::EmptyCart, Locale::Sv) => "Varukorgen är tom. Lägg till en produkt först.".to_owned(),
            (Self::BadQuantity, Locale::En) => "The quantity must be a whole number from 1 to 999.".to_owned(),
            (Self::BadQuantity, Locale::Sv) => "Antalet måste vara ett heltal från 1 till 999.".to_owned(),
            (Self::BadArguments(problem), Locale::En) => format!("The arguments do not fit: {problem}."),
            (Self::BadArguments(problem), Locale::Sv) => format!("Argumenten passar inte: {problem}."),
            (Self::UnknownTool(name), Locale::En) => format!("The shop has no tool named {name}."),
            (Self::UnknownTool(name), Locale::Sv) => format!("Butiken har inget verktyg som heter {name}."),
            (Self::NewerCarts { file, found, known }, Locale::En) => format!(
                "{file} was written by a newer version of Countersign (format {found}; this version knows up to {known}), so carts cannot be used and nothing was changed. Install the newest version of Countersign, or move the file away to begin with empty carts."
            ),
            (Self::NewerCarts { file, found, known }, Locale::Sv) => format!(
                "{file} skrevs av en nyare version av Countersign (format {found}; den här versionen klarar högst {known}), så varukorgar kan inte användas och inget ändrades. Installera den senaste versionen av Countersign, eller flytta undan filen för att börja med tomma varukorgar."
            ),
            (Self::Database(_), Locale::En) => "The shop's database could not be read or written. Check that the disk is not full, then try again.".to_owned(),
            (Self::Database(_), Locale::Sv) => {
                "Butikens databas gick inte att läsa eller skriva. Kontrollera att disken inte är full och försök igen.".to_owned()
            }
        }
    }
}

impl From<rusqlite::Error> for ShopError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Database(error.to_string())
    }
}

impl From<std::io::Error> for ShopError {
    fn from(error: std::io::Error) -> Self {
        Self::Database(error.to_string())
    }
}
