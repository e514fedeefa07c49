//! Carts in their own SQLite file. Every read takes prices from the catalogue. The first added item
//! creates a basket. Whether a cart may be changed is decided before a call reaches the shop.

use std::path::Path;

use chrono::{DateTime, TimeDelta, Utc};
use rusqlite::{Connection, OptionalExtension, params};

use crate::{
    ShopError,
    catalogue::Locale,
    db::{self, ProductRow, VariantRow},
    text::money,
    views::{CURRENCY, full_name, image_url},
    wire::{CartLine, CartView},
};

/// The largest quantity of a cart line.
pub const MAX_QUANTITY: i64 = 999;

/// The age at which an unchanged basket is deleted.
const KEPT_FOR: TimeDelta = TimeDelta::days(30);
/// How the tables write a time.
const STAMP: &str = "%Y-%m-%d %H:%M:%S";
const NEWEST_FIRST: &str = "SELECT touched_at FROM basket ORDER BY touched_at DESC";

const TABLES: &str = "
CREATE TABLE IF NOT EXISTS basket(id INTEGER PRIMARY KEY AUTOINCREMENT, created_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP,
  touched_at TEXT NOT NULL DEFAULT CURRENT_TIMESTAMP);
CREATE TABLE IF NOT EXISTS line(
  basket_id INTEGER NOT NULL REFERENCES basket(id), line_no INTEGER NOT NULL, part_no TEXT NOT NULL COLLATE NOCASE, quantity INTEGER NOT NULL CHECK (quantity > 0),
  PRIMARY KEY (basket_id, part_no)) WITHOUT ROWID;
";

/// The file's version, as `user_version`. Older files without a version have 0.
const FORMAT: i64 = 1;

/// Opens the carts in a folder, or in memory without one. A file of a newer version is an error and
/// is not changed.
pub fn open(folder: Option<&Path>) -> Result<Connection, ShopError> {
    let file = folder.map(|folder| folder.join("carts.db"));
    let db = match &file {
        Some(file) => Connection::open(file)?,
        None => Connection::open_in_memory()?,
    };
    db.busy_timeout(std::time::Duration::from_secs(2))?;
    let found: i64 = db.query_row("PRAGMA user_version", [], |row| row.get(0))?;
    if found > FORMAT {
        let file = file.unwrap_or_default().display().to_string();
        return Err(ShopError::NewerCarts { file, found, known: FORMAT });
    }
    db.execute_batch("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;")?;
    db.execute_batch(TABLES)?;
    with_touches(&db)?;
    if found < FORMAT {
        db.execute_batch(&format!("PRAGMA user_version = {FORMAT}"))?;
    }
    Ok(db)
}

/// Adds the column with the time of the last change. Baskets of older files get the present time.
fn with_touches(db: &Connection) -> Result<(), ShopError> {
    let known: bool = db.query_row(
        "SELECT EXISTS(SELECT 1 FROM pragma_table_info('basket') WHERE name = 'touched_at')",
        [],
        |row| row.get(0),
    )?;
    if !known {
        db.execute_batch(
            "BEGIN; ALTER TABLE basket ADD COLUMN touched_at TEXT NOT NULL DEFAULT ''; UPDATE basket SET touched_at = CURRENT_TIMESTAMP; COMMIT;",
        )?;
    }
    Ok(db.execute_batch("CREATE INDEX IF NOT EXISTS basket_touched ON basket(touched_at);")?)
}

/// Deletes baskets that were not changed for a long time, as far as the clock agrees with the times
/// of the baskets.
fn forget_old(db: &Connection, now: DateTime<Utc>) -> Result<(), ShopError> {
    let agreed = {
        let mut select = db.prepare_cached(NEWEST_FIRST)?;
        let times = select.query_map([], |row| row.get::<_, DateTime<Utc>>(0))?;
        contract::clock::agreed_time(now, times.map_while(Result::ok))
    };
    let Some(before) = agreed.map(|agreed| (agreed - KEPT_FOR).format(STAMP).to_string()) else {
        return Ok(());
    };
    db.execute(
        "DELETE FROM line WHERE basket_id IN (SELECT id FROM basket WHERE touched_at < ?1)",
        [&before],
    )?;
    db.execute("DELETE FROM basket WHERE touched_at < ?1", [&before])?;
    Ok(())
}

fn touch(db: &Connection, basket: i64) -> Result<(), ShopError> {
    db.execute("UPDATE basket SET touched_at = CURRENT_TIMESTAMP WHERE id = ?", [basket])?;
    Ok(())
}

/// The databases and the language for a call about a cart.
pub struct Desk<'a> {
    pub catalogue: &'a Connection,
    pub carts: &'a mut Connection,
    pub locale: Locale,
}

impl Desk<'_> {
    /// Returns a cart for clients. The cart of an unknown basket is empty.
    pub fn view(&self, basket: Option<i64>) -> Result<CartView, ShopError> {
        let mut items = Vec::new();
        let mut total = 0;
        if let Some(basket) = basket {
            let mut query = self.carts.prepare_cached(
                "SELECT line_no, part_no, quantity FROM line WHERE basket_id = ? ORDER BY line_no",
            )?;
            let rows: Vec<(i64, String, i64)> = query
                .query_map([basket], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?
                .collect::<Result<_, _>>()?;
            for (line_no, part_no, quantity) in rows {
                // A part that a rebuilt catalogue no longer contains is left out.
                let Some((product, variant)) = self.find(&part_no)? else { continue };
                total += variant.price * quantity;
                items.push(CartLine {
                    line_no,
                    product_id: variant.id,
                    part_no: variant.part_no.clone(),
                    name: full_name(&product, &variant, self.locale),
                    quantity,
                    image_key: image_url(variant.id),
                    unit_price: money(variant.price),
                    total_price: money(variant.price * quantity),
                });
            }
        }
        Ok(CartView {
            basket_id: basket,
            currency_code: CURRENCY,
            items,
            subtotal: money(total),
            total: money(total),
        })
    }

    /// Adds a quantity of a part. Returns the basket's number, which is new if there was no basket.
    pub fn add(
        &mut self,
        basket: Option<i64>,
        part_no: &str,
        quantity: i64,
    ) -> Result<i64, ShopError> {
        check_quantity(quantity)?;
        let (product, variant) = self.sellable(part_no)?;
        let had = match basket {
            Some(basket) => self.quantity(basket, &variant.part_no)?.unwrap_or(0),
            None => 0,
        };
        self.check_stock(&product, &variant, had + quantity)?;
        let change = self.carts.transaction()?;
        let known = match basket {
            Some(id) => change
                .query_row("SELECT id FROM basket WHERE id = ?", [id], |row| row.get(0))
                .optional()?,
            None => None,
        };
        let basket: i64 = match known {
            Some(id) => {
                touch(&change, id)?;
                id
            }
            None => {
                forget_old(&change, Utc::now())?;
                change.execute("INSERT INTO basket DEFAULT VALUES", [])?;
                change.last_insert_rowid()
            }
        };
        change.execute(
            "INSERT INTO line(basket_id, line_no, part_no, quantity)
             VALUES(?1, (SELECT COALESCE(MAX(line_no), 0) + 1 FROM line WHERE basket_id = ?1), ?2, ?3)
             ON CONFLICT(basket_id, part_no) DO UPDATE SET quantity = quantity + excluded.quantity",
            params![basket, variant.part_no, quantity],
        )?;
        change.commit()?;
        Ok(basket)
    }

    /// Sets the quantity of a line.
    pub fn set_quantity(
        &mut self,
        basket: Option<i64>,
        part_no: &str,
        quantity: i64,
    ) -> Result<i64, ShopError> {
        check_quantity(quantity)?;
        let basket = basket.ok_or(ShopError::EmptyCart)?;
        let part_no = &self.part_no(part_no)?;
        self.quantity(basket, part_no)?.ok_or_else(|| ShopError::NotInCart(part_no.to_owned()))?;
        let (product, variant) = self.sellable(part_no)?;
        self.check_stock(&product, &variant, quantity)?;
        let change = self.carts.transaction()?;
        change.execute(
            "UPDATE line SET quantity = ?3 WHERE basket_id = ?1 AND part_no = ?2",
            params![basket, part_no, quantity],
        )?;
        touch(&change, basket)?;
        change.commit()?;
        Ok(basket)
    }

    /// Removes a line.
    pub fn remove(&mut self, basket: Option<i64>, part_no: &str) -> Result<i64, ShopError> {
        let basket = basket.ok_or(ShopError::EmptyCart)?;
        let part_no = self.part_no(part_no)?;
        let change = self.carts.transaction()?;
        if change.execute(
            "DELETE FROM line WHERE basket_id = ?1 AND part_no = ?2",
            params![basket, part_no],
        )? == 0
        {
            return Err(ShopError::NotInCart(part_no));
        }
        touch(&change, basket)?;
        change.commit()?;
        Ok(basket)
    }

    /// Returns the part number of a variant, which `name` identifies by its number or its part
    /// number. An unknown name is returned unchanged.
    fn part_no(&self, name: &str) -> Result<String, ShopError> {
        Ok(db::variant_named(self.catalogue, name)?
            .map_or_else(|| name.to_owned(), |variant| variant.part_no))
    }

    fn quantity(&self, basket: i64, part_no: &str) -> Result<Option<i64>, ShopError> {
        let mut query = self
            .carts
            .prepare_cached("SELECT quantity FROM line WHERE basket_id = ? AND part_no = ?")?;
        Ok(query.query_row(params![basket, part_no], |row| row.get(0)).optional()?)
    }

    fn find(&self, part_no: &str) -> Result<Option<(ProductRow, VariantRow)>, ShopError> {
        let Some(variant) = db::variant_named(self.catalogue, part_no)? else { return Ok(None) };
        Ok(db::product(self.catalogue, variant.product_id)?.map(|product| (product, variant)))
    }

    /// Returns the variant of a part number if it can be sold. A product's own number can be used
    /// only if the product has a single variant.
    fn sellable(&self, part_no: &str) -> Result<(ProductRow, VariantRow), ShopError> {
        let Some((product, variant)) = self.find(part_no)? else {
            return Err(match db::product_named(self.catalogue, part_no)? {
                Some(product) => self.needs_variant(product)?,
                None => ShopError::UnknownPart(part_no.to_owned()),
            });
        };
        if product.active && product.buyable && variant.active && variant.buyable {
            Ok((product, variant))
        } else {
            Err(ShopError::NotForSale(full_name(&product, &variant, self.locale)))
        }
    }

    fn needs_variant(&self, product: ProductRow) -> Result<ShopError, ShopError> {
        let mut variants = db::variants(self.catalogue, product.id)?;
        variants.retain(|variant| variant.active && variant.buyable && variant.obtainable() > 0);
        variants.sort_by_key(|variant| !variant.in_stock());
        let choices: Vec<String> = variants
            .iter()
            .take(8)
            .map(|variant| {
                format!(
                    "{} = {}",
                    crate::views::variant_name(variant, self.locale),
                    variant.part_no
                )
            })
            .collect();
        Ok(if choices.is_empty() || !product.buyable || !product.active {
            ShopError::NotForSale(product.name)
        } else {
            ShopError::NeedsVariant { name: product.name, choices: choices.join("; ") }
        })
    }

    fn check_stock(
        &self,
        product: &ProductRow,
        variant: &VariantRow,
        wanted: i64,
    ) -> Result<(), ShopError> {
        let name = || full_name(product, variant, self.locale);
        let left = variant.obtainable().min(MAX_QUANTITY);
        if left == 0 {
            return Err(ShopError::SoldOut { name: name() });
        }
        if wanted > left { Err(ShopError::TooMany { name: name(), left }) } else { Ok(()) }
    }
}

fn check_quantity(quantity: i64) -> Result<(), ShopError> {
    if (1..=MAX_QUANTITY).contains(&quantity) { Ok(()) } else { Err(ShopError::BadQuantity) }
}
