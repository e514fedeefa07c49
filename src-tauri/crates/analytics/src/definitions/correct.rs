//! Corrects a detection in one step: what a column is used for.

use contract::{
    definitions::{Calculation, Definitions, Dimension, Measure},
    members::Place,
    text,
};

use super::propose::name_for;
use crate::Problem;

/// Changes what a column or measure is used for, in the words of a person: `sum`, `average`,
/// `weighted:COLUMN`, `last:KEY`, `distinct`, `single`, `ratio:A/B` or `dimension`. Returns the changed
/// definitions.
pub fn change_calculation(
    definitions: &Definitions,
    name: &str,
    to: &str,
) -> Result<Definitions, Problem> {
    let mut changed = definitions.clone();
    let (word, rest) = to.split_once(':').unwrap_or((to, ""));
    let column = column_of(definitions, name);
    let own = name_for(&column);
    if word == "dimension" {
        remove_column(&mut changed, &column);
        changed.dimensions.entry(own).or_insert_with(|| Dimension::of_column(column));
        return Ok(changed);
    }
    let calculation = match word {
        "sum" => serde_json::json!({"sum": column}),
        "average" => serde_json::json!({"average": column}),
        "weighted" => serde_json::json!({"weighted": {"column": column, "by": rest}}),
        "last" => {
            let per: Vec<&str> = rest.split(',').filter(|key| !key.is_empty()).collect();
            serde_json::json!({"last": {"column": column, "per": per}})
        }
        "distinct" => serde_json::json!({"distinct": column}),
        "single" => serde_json::json!({"single": column}),
        "ratio" => {
            let (above, below) = rest.split_once('/').unwrap_or((rest, ""));
            serde_json::json!({"ratio": [above, below]})
        }
        _ => {
            return Err(Problem::new(text!(
                "{word} is no use of a column. Possible: sum, average, weighted:COLUMN, last:KEY, distinct, single, ratio:A/B, dimension.",
                word = word.to_owned()
            )));
        }
    };
    let read = contract::definitions::read_measure(&calculation, &Place::default())?;
    let former = changed.measures.remove(name).or_else(|| changed.measures.remove(&own));
    let kept = if definitions.measures.contains_key(name) { name.to_owned() } else { own };
    changed.dimensions.retain(|_, dimension| *dimension != Dimension::of_column(column.clone()));
    let measure = match former {
        Some(former) => Measure { calculation: read.calculation, ..former },
        None => read,
    };
    changed.measures.insert(kept, measure);
    Ok(changed)
}

/// Returns the column that a measure or dimension is of. A name that is neither is a column.
fn column_of(definitions: &Definitions, name: &str) -> String {
    let of_measure =
        definitions.measures.get(name).and_then(|measure| match &measure.calculation {
            Calculation::Sum(column)
            | Calculation::Average(column)
            | Calculation::Distinct(column)
            | Calculation::Median(column)
            | Calculation::Single(column) => Some(column.clone()),
            Calculation::Weighted(weighted) => Some(weighted.column.clone()),
            Calculation::Last(last) => Some(last.column.clone()),
            Calculation::Percentile(percentile) => Some(percentile.column.clone()),
            _ => None,
        });
    let of_dimension =
        definitions.dimensions.get(name).and_then(|dimension| match &dimension.kind {
            contract::definitions::DimensionKind::Column(column) => Some(column.clone()),
            _ => None,
        });
    of_measure.or(of_dimension).unwrap_or_else(|| name.to_owned())
}

fn remove_column(definitions: &mut Definitions, column: &str) {
    definitions.measures.retain(|_, measure| {
        !matches!(&measure.calculation, Calculation::Sum(of) | Calculation::Average(of) if of == column)
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definitions::yaml::parse_definitions;

    #[test]
    fn a_wrong_detection_is_corrected_in_one_step() {
        let yaml = "source: a\nmeasures:\n  budget: {sum: Budget, unit: money, currency: EUR}\n";
        let definitions = parse_definitions(yaml).unwrap();
        let changed = change_calculation(&definitions, "budget", "last:Campaign").unwrap();
        let measure = &changed.measures["budget"];
        assert!(
            matches!(&measure.calculation, Calculation::Last(last) if last.per == ["Campaign"])
        );
        assert!(measure.currency.is_some(), "unit and currency stay");
        let name = change_calculation(&definitions, "budget", "dimension").unwrap();
        assert!(name.measures.is_empty());
        assert_eq!(name.dimensions["budget"], Dimension::of_column("Budget"));
        let fault = change_calculation(&definitions, "budget", "summ").unwrap_err().to_string();
        assert!(fault.starts_with("summ is no use of a column."), "{fault}");
    }
}
