//! The price table: shipped prices and the user's own from `prices.toml`, which is read again when
//! it changes.

use std::{io, path::PathBuf, sync::Arc};

use contract::PriceTable;
use parking_lot::Mutex;

use super::{
    paths::{Stamp, read_stamp},
    toml_fault::describe_toml_fault,
};

const SHIPPED: &str = include_str!("../../prices.toml");
/// The highest accepted price in US dollars per million tokens.
const MAX_USD: f64 = 100_000.0;

/// The contents of `prices.toml`.
#[derive(Clone, Default)]
pub(crate) struct PricesFile {
    pub(crate) table: Arc<PriceTable>,
    pub(crate) fault: Option<String>,
}

/// The current prices.
pub(crate) struct Prices {
    file: PathBuf,
    known: Mutex<Option<(Stamp, PricesFile)>>,
}

impl Prices {
    pub(crate) fn new(file: PathBuf) -> Self {
        Self { file, known: Mutex::default() }
    }

    pub(crate) fn file(&self) -> &PathBuf {
        &self.file
    }

    pub(crate) fn read_cached(&self) -> PricesFile {
        let now = read_stamp(&self.file);
        let mut known = self.known.lock();
        match &*known {
            Some((stamp, read)) if *stamp == now => read.clone(),
            _ => {
                let read = self.read_file();
                *known = Some((now, read.clone()));
                read
            }
        }
    }

    fn read_file(&self) -> PricesFile {
        let shipped = parse_prices(SHIPPED).unwrap_or_default();
        let own = match files::read_text(&self.file, files::BY_HAND) {
            Ok(text) => parse_prices(&text),
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(PriceTable::default()),
            Err(e) => Err(e.to_string()),
        };
        let (own, fault) =
            own.map_or_else(|problem| (PriceTable::default(), Some(problem)), |own| (own, None));
        let kept = shipped
            .price
            .into_iter()
            .filter(|row| own.price.iter().all(|mine| mine.model != row.model));
        let mut price: Vec<_> = own.price.iter().cloned().chain(kept).collect();
        price.sort_by(|a, b| a.model.cmp(&b.model));
        PricesFile { table: Arc::new(PriceTable { price }), fault }
    }
}

fn parse_prices(text: &str) -> Result<PriceTable, String> {
    let table: PriceTable =
        toml::from_str(text).map_err(|error| describe_toml_fault(text, &error))?;
    for row in &table.price {
        for (name, value) in [("input_usd", row.input_usd), ("output_usd", row.output_usd)] {
            if !(0.0..=MAX_USD).contains(&value) {
                return Err(format!(
                    "{name} of {} must be 0 to {MAX_USD} dollars for a million tokens",
                    row.model
                ));
            }
        }
    }
    Ok(table)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn the_users_price_rows_take_precedence_and_an_invalid_file_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let prices = Prices::new(folder.path().join("prices.toml"));
        assert!(
            prices.read_cached().fault.is_none()
                && prices.read_cached().table.of("gpt-4o-mini").is_some()
        );
        fs::write(
            prices.file(),
            "[[price]]\nmodel = \"gpt-4o-mini\"\ninput_usd = 9.0\noutput_usd = 9.5\n",
        )
        .unwrap();
        assert_eq!(
            prices.read_cached().table.of("gpt-4o-mini at x").map(|row| row.input_usd),
            Some(9.0),
            "read again when it changed"
        );
        for (text, told) in [
            (
                "[[price]]\nmodel = \"m\"\ninput_usd = -1.0\noutput_usd = 1.0\n",
                "input_usd of m must be",
            ),
            ("[[price]]\nmodel = \"m\"\nin = 1.0\n", "line 3"),
            ("\nnonsense", "line 2"),
        ] {
            fs::write(prices.file(), text).unwrap();
            let read = prices.read_cached();
            assert!(
                read.fault.as_ref().is_some_and(|fault| fault.contains(told)),
                "{:?}",
                read.fault
            );
            assert!(read.table.of("gpt-4o-mini").is_some(), "those that ship stay");
        }
    }
}
