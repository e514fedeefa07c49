//! The catalogue as an SQLite file, built once per seed and format and then only read. A damaged or
//! unknown file is rebuilt. Knows only database rows.

use std::{collections::HashMap, path::Path};

use rusqlite::{Connection, OpenFlags, params};

use crate::{
    ShopError,
    catalogue::{CATEGORIES, Category, Dimension, Product, category, colors, generate},
    text::fold,
};

/// The version of the file's format. It is increased when the tables or the generator change, so
/// that old files are rebuilt.
const FORMAT: i64 = 1;

const TABLES: &str = "
CREATE TABLE made(format INTEGER NOT NULL, seed INTEGER NOT NULL);
CREATE TABLE product(
  id INTEGER PRIMARY KEY, part_no TEXT NOT NULL UNIQUE COLLATE NOCASE, name TEXT NOT NULL, brand TEXT NOT NULL, category TEXT NOT NULL,
  material_en TEXT NOT NULL, material_sv TEXT NOT NULL, description_en TEXT NOT NULL, description_sv TEXT NOT NULL, weight_grams INTEGER NOT NULL,
  popularity INTEGER NOT NULL, active INTEGER NOT NULL, buyable INTEGER NOT NULL);
CREATE TABLE variant(
  id INTEGER PRIMARY KEY, product_id INTEGER NOT NULL REFERENCES product(id), part_no TEXT NOT NULL UNIQUE COLLATE NOCASE, ean TEXT NOT NULL,
  dims TEXT NOT NULL, price INTEGER NOT NULL, stock INTEGER NOT NULL, incoming INTEGER NOT NULL, restock_in_days INTEGER, lead_days INTEGER,
  active INTEGER NOT NULL, buyable INTEGER NOT NULL);
CREATE INDEX variant_of ON variant(product_id);
CREATE VIRTUAL TABLE product_text USING fts5(name, brand, category, concepts, colors, part_no, body,
  content='', tokenize='unicode61 remove_diacritics 2', prefix='3 4 5');
CREATE VIRTUAL TABLE product_word USING fts5vocab(product_text, row);
";

/// A product's row.
#[derive(Clone, Debug)]
pub struct ProductRow {
    pub id: i64,
    pub part_no: String,
    pub name: String,
    pub brand: String,
    pub category: &'static Category,
    pub material: (String, String),
    pub description: (String, String),
    pub weight_grams: i64,
    pub active: bool,
    pub buyable: bool,
}

/// A variant's row. Money in öre.
#[derive(Clone, Debug)]
pub struct VariantRow {
    pub id: i64,
    pub product_id: i64,
    pub part_no: String,
    pub ean: String,
    pub values: Vec<(Dimension, String)>,
    pub price: i64,
    pub stock: i64,
    pub incoming: i64,
    pub restock_in_days: Option<i64>,
    pub lead_days: Option<i64>,
    pub active: bool,
    pub buyable: bool,
}

/// A product with its variants, in the order of creation.
#[derive(Clone, Debug)]
pub struct Shelf {
    pub product: ProductRow,
    pub variants: Vec<VariantRow>,
}

impl VariantRow {
    /// Returns the variant's value in a dimension.
    pub fn value(&self, dimension: Dimension) -> Option<&str> {
        self.values.iter().find(|(of, _)| *of == dimension).map(|(_, value)| value.as_str())
    }

    /// Whether the variant can be delivered now.
    pub fn in_stock(&self) -> bool {
        self.active && self.stock > 0
    }

    /// Returns the quantity that can be sold: the stock plus the next delivery, or any number if
    /// the variant is made to order.
    pub fn obtainable(&self) -> i64 {
        if self.lead_days.is_some() { i64::MAX } else { self.stock + self.incoming }
    }
}

/// Opens the catalogue in a folder, or in memory without one.
pub fn open(folder: Option<&Path>, seed: u64) -> Result<Connection, ShopError> {
    let Some(folder) = folder else {
        let db = Connection::open_in_memory()?;
        build(&db, seed)?;
        return Ok(db);
    };
    let path = folder.join("catalogue.db");
    if let Some(db) = open_existing(&path, seed) {
        return Ok(db);
    }
    // The file is built under another name and then renamed, so that neither a crash nor a second
    // process finds half a catalogue.
    let fresh = folder.join(format!("catalogue.{}.tmp", std::process::id()));
    remove(&fresh)?;
    let db = Connection::open(&fresh)?;
    db.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF;")?;
    build(&db, seed)?;
    drop(db);
    std::fs::rename(&fresh, &path)?;
    open_existing(&path, seed)
        .ok_or_else(|| ShopError::Database("the new catalogue cannot be read".to_owned()))
}

fn remove(path: &Path) -> Result<(), ShopError> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
        _ => Ok(()),
    }
}

fn open_existing(path: &Path, seed: u64) -> Option<Connection> {
    let db = Connection::open_with_flags(
        path,
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX,
    )
    .ok()?;
    let made: (i64, i64) = db
        .query_row("SELECT format, seed FROM made", [], |row| Ok((row.get(0)?, row.get(1)?)))
        .ok()?;
    (made == (FORMAT, seed as i64)).then_some(db)
}

fn build(db: &Connection, seed: u64) -> Result<(), ShopError> {
    db.execute_batch("BEGIN")?;
    db.execute_batch(TABLES)?;
    {
        let mut product = db.prepare("INSERT INTO product VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)")?;
        let mut variant = db.prepare("INSERT INTO variant VALUES(?,?,?,?,?,?,?,?,?,?,?,?)")?;
        let mut index = db.prepare("INSERT INTO product_text(rowid, name, brand, category, concepts, colors, part_no, body) VALUES(?,?,?,?,?,?,?,?)")?;
        for p in generate(seed) {
            product.execute(params![
                p.id,
                p.part_no,
                p.name,
                p.brand,
                p.category.key,
                p.material.0,
                p.material.1,
                p.description.0,
                p.description.1,
                p.weight_grams,
                p.popularity,
                p.active,
                p.buyable
            ])?;
            for v in &p.variants {
                variant.execute(params![
                    v.id,
                    p.id,
                    v.part_no,
                    v.ean,
                    dims_text(&v.values),
                    v.price,
                    v.stock,
                    v.incoming,
                    v.restock_in_days,
                    v.lead_days,
                    v.active,
                    v.buyable
                ])?;
            }
            let concepts = format!("{} {}", p.category.concepts.join(" "), p.words);
            let part_nos: Vec<&str> = p.variants.iter().map(|v| v.part_no.as_str()).collect();
            index.execute(params![
                p.id,
                p.name,
                p.brand,
                format!("{} {} {}", p.category.en, p.category.sv, p.category.words),
                concepts,
                color_codes(&p).join(" "),
                format!("{} {}", p.part_no, part_nos.join(" ")),
                format!(
                    "{} {} {} {}",
                    p.description.0, p.description.1, p.material.0, p.material.1
                )
            ])?;
        }
    }
    db.execute("INSERT INTO made VALUES(?,?)", params![FORMAT, seed as i64])?;
    db.execute_batch("COMMIT")?;
    Ok(())
}

fn color_codes(product: &Product) -> Vec<&str> {
    colors::COLORS
        .iter()
        .map(|color| color.code)
        .filter(|code| {
            product.variants.iter().any(|v| v.values.iter().any(|(_, value)| value == code))
        })
        .collect()
}

fn dims_text(values: &[(Dimension, String)]) -> String {
    values
        .iter()
        .map(|(dimension, value)| format!("{}={value}", dimension.code()))
        .collect::<Vec<_>>()
        .join(";")
}

fn dims(text: &str) -> Vec<(Dimension, String)> {
    text.split(';')
        .filter_map(|part| part.split_once('='))
        .filter_map(|(code, value)| Some((Dimension::of_code(code)?, value.to_owned())))
        .collect()
}

const PRODUCT: &str = "SELECT id, part_no, name, brand, category, material_en, material_sv, description_en, description_sv, weight_grams, active, buyable FROM product";
const VARIANT: &str = "SELECT id, product_id, part_no, ean, dims, price, stock, incoming, restock_in_days, lead_days, active, buyable FROM variant";

fn product_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<ProductRow> {
    let key: String = row.get(4)?;
    Ok(ProductRow {
        id: row.get(0)?,
        part_no: row.get(1)?,
        name: row.get(2)?,
        brand: row.get(3)?,
        category: category(&key).unwrap_or(&CATEGORIES[0]),
        material: (row.get(5)?, row.get(6)?),
        description: (row.get(7)?, row.get(8)?),
        weight_grams: row.get(9)?,
        active: row.get(10)?,
        buyable: row.get(11)?,
    })
}

fn variant_row(row: &rusqlite::Row<'_>) -> rusqlite::Result<VariantRow> {
    Ok(VariantRow {
        id: row.get(0)?,
        product_id: row.get(1)?,
        part_no: row.get(2)?,
        ean: row.get(3)?,
        values: dims(&row.get::<_, String>(4)?),
        price: row.get(5)?,
        stock: row.get(6)?,
        incoming: row.get(7)?,
        restock_in_days: row.get(8)?,
        lead_days: row.get(9)?,
        active: row.get(10)?,
        buyable: row.get(11)?,
    })
}

/// Returns all products with their variants, best seller first, in two queries.
pub fn shelves(db: &Connection) -> Result<Vec<Shelf>, ShopError> {
    let mut variants: HashMap<i64, Vec<VariantRow>> = HashMap::new();
    let mut query = db.prepare(&format!("{VARIANT} ORDER BY id"))?;
    for row in query.query_map([], variant_row)? {
        let row = row?;
        variants.entry(row.product_id).or_default().push(row);
    }
    let mut query = db.prepare(&format!("{PRODUCT} ORDER BY popularity DESC, id"))?;
    let rows = query.query_map([], product_row)?;
    let shelves = rows.map(|row| {
        row.map(|product| Shelf {
            variants: variants.remove(&product.id).unwrap_or_default(),
            product,
        })
    });
    Ok(shelves.collect::<Result<_, _>>()?)
}

/// Returns a product by its number, or by its part number, which contains letters.
pub fn product_named(db: &Connection, name: &str) -> Result<Option<ProductRow>, ShopError> {
    match name.parse() {
        Ok(id) => product(db, id),
        Err(_) => product_of_part(db, name),
    }
}

/// Returns a product by its number.
pub fn product(db: &Connection, id: i64) -> Result<Option<ProductRow>, ShopError> {
    let mut query = db.prepare_cached(&format!("{PRODUCT} WHERE id = ?"))?;
    Ok(query.query_map([id], product_row)?.next().transpose()?)
}

fn product_of_part(db: &Connection, part_no: &str) -> Result<Option<ProductRow>, ShopError> {
    let mut query = db.prepare_cached(&format!("{PRODUCT} WHERE part_no = ?"))?;
    Ok(query.query_map([part_no], product_row)?.next().transpose()?)
}

/// Returns the variants of a product in the order of creation (by colour, sizes ascending).
pub fn variants(db: &Connection, product: i64) -> Result<Vec<VariantRow>, ShopError> {
    let mut query = db.prepare_cached(&format!("{VARIANT} WHERE product_id = ? ORDER BY id"))?;
    let rows = query.query_map([product], variant_row)?.collect::<Result<_, _>>()?;
    Ok(rows)
}

/// Returns a variant by its number, or by its part number, which contains letters.
pub fn variant_named(db: &Connection, name: &str) -> Result<Option<VariantRow>, ShopError> {
    match name.parse() {
        Ok(id) => variant(db, id),
        Err(_) => variant_of_part(db, name),
    }
}

fn variant(db: &Connection, id: i64) -> Result<Option<VariantRow>, ShopError> {
    let mut query = db.prepare_cached(&format!("{VARIANT} WHERE id = ?"))?;
    Ok(query.query_map([id], variant_row)?.next().transpose()?)
}

fn variant_of_part(db: &Connection, part_no: &str) -> Result<Option<VariantRow>, ShopError> {
    let mut query = db.prepare_cached(&format!("{VARIANT} WHERE part_no = ?"))?;
    Ok(query.query_map([part_no], variant_row)?.next().transpose()?)
}

/// Returns the ids of products that match the full-text expression.
pub fn find_matching_ids(db: &Connection, expression: &str) -> Result<Vec<i64>, ShopError> {
    let mut query = db.prepare_cached(
        "SELECT rowid FROM product_text WHERE product_text MATCH ? ORDER BY rowid",
    )?;
    let rows = query.query_map([expression], |row| row.get(0))?.collect::<Result<_, _>>()?;
    Ok(rows)
}

/// Whether the index contains a word that begins with this text or, with `whole`, equals it.
pub fn knows_word(db: &Connection, word: &str, whole: bool) -> Result<bool, ShopError> {
    let word = fold(word);
    let mut query = db.prepare_cached(
        "SELECT EXISTS(SELECT 1 FROM product_word WHERE term >= ?1 AND term < ?2)",
    )?;
    let end = if whole { format!("{word}\u{1}") } else { format!("{word}\u{10ffff}") };
    Ok(query.query_row(params![word, end], |row| row.get(0))?)
}
