//! The shop as one object: six calls by name with JSON arguments, and pictures. It is the same for
//! stdio and HTTP, and knows nothing of transports.

use std::{
    path::PathBuf,
    sync::{Mutex, MutexGuard, PoisonError},
};

use chrono::NaiveDate;
use rusqlite::Connection;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Map, Value};

use crate::{
    ShopError, cart,
    catalogue::{Dimension, Locale, colors},
    db::{self, Shelf},
    picture,
    search::{self, Filters},
    views::{self, Frame},
    wire::{CartChanged, SearchResult},
};

/// The seed of the shipped catalogue.
pub const DEFAULT_SEED: u64 = 1;

const PAGE: usize = 10;
const LARGEST_PAGE: usize = 50;

/// A function that returns the present day. It is injected, so that tests can fix delivery dates.
pub type Today = Box<dyn Fn() -> NaiveDate + Send + Sync>;

/// The options of a shop.
pub struct Options {
    /// The folder of catalogue and carts. None for a shop in memory.
    pub data_dir: Option<PathBuf>,
    pub seed: u64,
    pub today: Today,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            data_dir: None,
            seed: DEFAULT_SEED,
            today: Box::new(|| chrono::Local::now().date_naive()),
        }
    }
}

/// An open shop.
pub struct Shop {
    today: Today,
    // A call takes at most about a millisecond, so one lock for both files is simple and short.
    files: Mutex<Files>,
}

struct Files {
    catalogue: Connection,
    /// The whole catalogue, which the first search loads.
    shelves: Option<Vec<Shelf>>,
    /// The database of carts. None if a newer version wrote the file. Searches still work then.
    carts: Option<Connection>,
    folder: Option<PathBuf>,
}

impl Shop {
    /// Opens the catalogue (and builds it once) and the carts.
    pub fn open(options: Options) -> Result<Self, ShopError> {
        if let Some(folder) = &options.data_dir {
            std::fs::create_dir_all(folder)?;
        }
        let folder = options.data_dir.as_deref();
        let carts = match cart::open(folder) {
            Ok(carts) => Some(carts),
            Err(ShopError::NewerCarts { .. }) => None,
            Err(error) => return Err(error),
        };
        let files = Files {
            catalogue: db::open(folder, options.seed)?,
            shelves: None,
            carts,
            folder: options.data_dir,
        };
        Ok(Self { today: options.today, files: Mutex::new(files) })
    }

    /// Fails if the carts cannot be used.
    pub fn check_carts(&self) -> Result<(), ShopError> {
        self.lock().desk(Locale::En).map(drop)
    }

    /// Runs a tool. The error's sentence is in the language of the call.
    pub fn call(
        &self,
        tool: &str,
        arguments: &Map<String, Value>,
    ) -> Result<Value, (ShopError, Locale)> {
        let locale = locale_of(arguments);
        self.run(tool, arguments, locale).map_err(|error| (error, locale))
    }

    fn run(
        &self,
        tool: &str,
        arguments: &Map<String, Value>,
        locale: Locale,
    ) -> Result<Value, ShopError> {
        let frame = Frame { locale, today: (self.today)() };
        let mut files = self.lock();
        match tool {
            "product.search" => files.search(arguments, frame),
            "product.get" => get_call(&files.catalogue, arguments, frame),
            "cart.get" => json(files.desk(locale)?.view(basket_id(arguments)?)?),
            "cart.addItem" => {
                let basket = basket_id(arguments)?;
                // In real shops, too, an add without the buyer's address changes nothing and
                // returns no error.
                if text(arguments, "clientIp").is_none() {
                    return json(CartChanged {
                        basket_id: basket,
                        basket: files.desk(locale)?.view(basket)?,
                    });
                }
                let (part, quantity) =
                    (required(arguments, "partNo")?, quantity(arguments, Some(1))?);
                let mut desk = files.desk(locale)?;
                let basket = desk.add(basket, &part, quantity)?;
                changed_cart(&desk, basket)
            }
            "cart.setItemQuantity" => {
                let (part, quantity) =
                    (required(arguments, "productId")?, quantity(arguments, None)?);
                let mut desk = files.desk(locale)?;
                let basket = desk.set_quantity(basket_id(arguments)?, &part, quantity)?;
                changed_cart(&desk, basket)
            }
            "cart.removeItem" => {
                let part = required(arguments, "productId")?;
                let mut desk = files.desk(locale)?;
                let basket = desk.remove(basket_id(arguments)?, &part)?;
                changed_cart(&desk, basket)
            }
            other => Err(ShopError::UnknownTool(other.to_owned())),
        }
    }

    /// Returns the picture of a product or variant as SVG, by number (with or without `.svg`) or
    /// part number.
    pub fn image(&self, id: &str) -> Result<Option<String>, ShopError> {
        let id = id.strip_suffix(".svg").unwrap_or(id);
        let files = self.lock();
        let db = &files.catalogue;
        let (product, variant) = (db::product_named(db, id)?, db::variant_named(db, id)?);
        let product = match (product, &variant) {
            (Some(product), _) => product,
            (None, Some(variant)) => match db::product(db, variant.product_id)? {
                Some(product) => product,
                None => return Ok(None),
            },
            (None, None) => return Ok(None),
        };
        let variant = match variant {
            Some(variant) => Some(variant),
            None => db::variants(db, product.id)?.into_iter().next(),
        };
        let hex = variant
            .as_ref()
            .and_then(|v| v.value(Dimension::Color))
            .and_then(colors::by_code)
            .map_or("#8b929b", |color| color.hex);
        Ok(Some(picture::draw(product.category.shape, hex)))
    }

    fn lock(&self) -> MutexGuard<'_, Files> {
        // If a call panicked, SQLite has left both files consistent, so the lock can still be used.
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Files {
    fn desk(&mut self, locale: Locale) -> Result<cart::Desk<'_>, ShopError> {
        let carts = match &mut self.carts {
            Some(carts) => carts,
            // The carts file may have been removed since the last attempt, so it is opened again.
            absent => absent.insert(cart::open(self.folder.as_deref())?),
        };
        Ok(cart::Desk { catalogue: &self.catalogue, carts, locale })
    }

    fn search(&mut self, arguments: &Map<String, Value>, frame: Frame) -> Result<Value, ShopError> {
        let query = match arguments.get("query") {
            Some(Value::String(query)) => query.as_str(),
            _ => return Err(ShopError::BadArguments("query must be a text".to_owned())),
        };
        let filters: Filters = optional(arguments, "filters")?.unwrap_or_default();
        let size = optional::<f64>(arguments, "pageSize")?
            .map_or(PAGE, |size| (size.max(1.0) as usize).min(LARGEST_PAGE));
        let shelves = match &self.shelves {
            Some(shelves) => shelves,
            None => self.shelves.insert(db::shelves(&self.catalogue)?),
        };
        let hits = search::search(&self.catalogue, shelves, query, &filters)?;
        json(SearchResult {
            items: hits.iter().take(size).map(|hit| views::search_item(hit, frame)).collect(),
            total_count: hits.len(),
        })
    }
}

fn get_call(
    db: &Connection,
    arguments: &Map<String, Value>,
    frame: Frame,
) -> Result<Value, ShopError> {
    // A line of a cart has the part number as its `productId`, and a variant can also be named by its
    // number. So each of the two fields accepts both.
    let asked = text(arguments, "productId").or_else(|| text(arguments, "partNo"));
    let asked =
        asked.ok_or_else(|| ShopError::BadArguments("productId or partNo is needed".to_owned()))?;
    if let Some(product) = db::product_named(db, &asked)? {
        return json(views::product_view(&product, &db::variants(db, product.id)?, None, frame));
    }
    let Some(variant) = db::variant_named(db, &asked)? else {
        return Err(ShopError::UnknownProduct(asked));
    };
    let product = db::product(db, variant.product_id)?.ok_or(ShopError::UnknownProduct(asked))?;
    json(views::product_view(&product, &[], Some(&variant), frame))
}

fn changed_cart(desk: &cart::Desk<'_>, basket: i64) -> Result<Value, ShopError> {
    json(CartChanged { basket_id: Some(basket), basket: desk.view(Some(basket))? })
}

fn json(value: impl Serialize) -> Result<Value, ShopError> {
    serde_json::to_value(value).map_err(|error| ShopError::Database(error.to_string()))
}

fn locale_of(arguments: &Map<String, Value>) -> Locale {
    arguments
        .get("context")
        .and_then(|context| context.get("cultureCode"))
        .and_then(Value::as_str)
        .map_or(Locale::En, Locale::of_culture)
}

fn optional<T: DeserializeOwned>(
    arguments: &Map<String, Value>,
    name: &str,
) -> Result<Option<T>, ShopError> {
    match arguments.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => serde_json::from_value(value.clone())
            .map(Some)
            .map_err(|error| ShopError::BadArguments(format!("{name}: {error}"))),
    }
}

/// Returns a text argument. A number becomes its digits, and a blank text counts as absent.
fn text(arguments: &Map<String, Value>, name: &str) -> Option<String> {
    match arguments.get(name)? {
        Value::String(text) if !text.trim().is_empty() => Some(text.trim().to_owned()),
        Value::Number(number) => Some(number.to_string()),
        _ => None,
    }
}

fn required(arguments: &Map<String, Value>, name: &str) -> Result<String, ShopError> {
    text(arguments, name).ok_or_else(|| ShopError::BadArguments(format!("{name} is needed")))
}

fn to_whole_number(value: &Value) -> Option<i64> {
    match value {
        Value::Number(number) => number.as_i64().or_else(|| {
            number.as_f64().filter(|f| f.fract() == 0.0 && f.abs() < 1e15).map(|f| f as i64)
        }),
        Value::String(text) => text.trim().parse().ok(),
        _ => None,
    }
}

fn quantity(arguments: &Map<String, Value>, default: Option<i64>) -> Result<i64, ShopError> {
    match (arguments.get("quantity"), default) {
        (None | Some(Value::Null), Some(default)) => Ok(default),
        (Some(value), _) => to_whole_number(value).ok_or(ShopError::BadQuantity),
        (None, None) => Err(ShopError::BadQuantity),
    }
}

fn basket_id(arguments: &Map<String, Value>) -> Result<Option<i64>, ShopError> {
    match arguments.get("basketId") {
        None | Some(Value::Null) => Ok(None),
        Some(value) => to_whole_number(value)
            .map(Some)
            .ok_or_else(|| ShopError::BadArguments("basketId must be a number".to_owned())),
    }
}
