//! The sources of the fictional sample, made as in the app: a pack writes the tables, and definitions are
//! proposed from their columns.

use std::{
    collections::{BTreeMap, BTreeSet},
    fs::{self, File},
    io::Write,
    path::Path,
};

use analytics::{Catalog, SourceModel, TableColumn, propose, propose_pacing};
use campaign_portfolio_pacing::PacingSample;
use chrono::{DateTime, Utc};
use contract::{
    SourceName,
    definitions::DimensionKind,
    pack_code::{SampleData as _, TableFile},
};
use questions::Values;

use crate::KnownSources;

/// The different values of each dimension.
type OwnValues = BTreeMap<String, Vec<String>>;

/// Returns the sources `campaigns`, `delivery` and `pacing` as they are at a moment.
pub(super) fn known_at(now: DateTime<Utc>) -> KnownSources {
    let folder = tempfile::tempdir().unwrap();
    let tables = PacingSample
        .write_tables(now, &mut |name: &str| {
            Ok(Box::new(File::create(folder.path().join(name))?) as Box<dyn Write>)
        })
        .unwrap();
    let read = |source: &str| {
        let table = tables.files.iter().find(|table| table.source.as_str() == source).unwrap();
        read_table(table, &folder.path().join(&table.name))
    };
    let ((plan, planned), (delivery, delivered)) = (read("campaigns"), read("delivery"));
    let definitions = propose_pacing(&SourceName::new("pacing"), &delivery, &plan).unwrap();
    let mut of_both: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (dimension, values) in planned.iter().chain(&delivered) {
        of_both.entry(dimension.clone()).or_default().extend(values.iter().cloned());
    }
    let mut computed: OwnValues = BTreeMap::new();
    for (name, dimension) in &definitions.dimensions {
        let mut values: Vec<String> = of_both.remove(name).into_iter().flatten().collect();
        values.extend(dimension.values.keys().cloned());
        computed.insert(name.clone(), values);
    }
    computed.retain(|_, values| !values.is_empty());
    let mut values = Values::new();
    values.insert(plan.name().clone(), planned);
    values.insert(delivery.name().clone(), delivered);
    values.insert(definitions.source.clone(), computed);
    let pacing = SourceModel::new(definitions, Vec::new());
    KnownSources::new(Catalog::of(vec![plan, delivery, pacing]), values).unwrap()
}

/// Reads a table: its proposed model, and the values of its dimensions.
fn read_table(table: &TableFile, path: &Path) -> (SourceModel, OwnValues) {
    let file = File::open(path).unwrap();
    let inspected =
        tabular::table::inspect(&file, &table.name, &table.decisions, &mut |_| {}, &|| false)
            .unwrap();
    let report = inspected.report();
    let definitions = propose(&table.source, report);
    let cells = cells_of(&fs::read_to_string(path).unwrap());
    let values = |kind: &DimensionKind| -> Vec<String> {
        let DimensionKind::Column(column) = kind else { panic!("{kind:?}") };
        cells[column].iter().cloned().collect()
    };
    let dimensions = definitions.dimensions.iter();
    let own = dimensions.map(|(name, one)| (name.clone(), values(&one.kind))).collect();
    let columns = report.columns.iter().map(TableColumn::from).collect();
    (SourceModel::new(definitions, columns), own)
}

/// Returns the different cells of a text with commas, by heading.
fn cells_of(text: &str) -> BTreeMap<String, BTreeSet<String>> {
    assert!(!text.contains('"'), "no cell needs quotes");
    let mut lines = text.lines().map(|line| line.split(','));
    let headings: Vec<&str> = lines.next().unwrap().collect();
    let mut found: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (heading, cell) in lines.flat_map(|cells| headings.iter().zip(cells)) {
        found.entry((*heading).to_owned()).or_default().insert(cell.to_owned());
    }
    found
}
