//! Which definitions need the approval of a person, and their hashes. Risk decides: a sum that the
//! file's own total confirms needs none.

use std::collections::BTreeSet;

use contract::{
    definitions::{
        Calculation, CurrencyOf, DefinitionRisk, DefinitionView, Definitions, Dimension,
        DimensionKind, Measure,
    },
    sources::TableReport,
    text,
};
use serde::Serialize;
use serde_json::json;
use sha2::{Digest, Sha256};

use super::write::inline;
use crate::Problem;

/// Evidence of an import that sums are right.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Proof {
    confirmed: BTreeSet<String>,
    /// The columns whose currency the file itself says.
    currencies: BTreeSet<String>,
}

impl Proof {
    /// Collects what the report of an import proves.
    pub fn of_report(report: &TableReport) -> Self {
        let checks = report.file_total.iter().flat_map(|total| &total.columns);
        let confirmed = checks.filter(|check| check.agrees).map(|check| check.column.clone());
        let currencies = report
            .columns
            .iter()
            .filter(|column| column.unit.is_some() || column.currency_column.is_some())
            .map(|column| column.name.clone());
        Self { confirmed: confirmed.collect(), currencies: currencies.collect() }
    }
}

/// Returns the SHA-256 of a value's canonical JSON, in hexadecimal digits.
pub(crate) fn hash_of(value: &impl Serialize) -> Result<String, Problem> {
    let json = serde_json_canonicalizer::to_vec(value)
        .map_err(|_| Problem::new(text!("The value cannot be written as JSON.")))?;
    let digest = Sha256::digest(json);
    Ok(digest.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Returns the hash of a definition, with all that changes its meaning. None if there is no such one.
/// Joins have the name `join:SOURCE`, the rates of currencies the name `rates`, the days of a plan the
/// name `spread`, and the rows that are computed from others the name `pacing`.
pub fn approval_hash(definitions: &Definitions, name: &str) -> Result<Option<String>, Problem> {
    let source = &definitions.source;
    let mut value = if let Some(measure) = definitions.measures.get(name) {
        json!({"source": source, "measure": name, "is": measure, "time": definitions.time})
    } else if let Some(dimension) = definitions.dimensions.get(name) {
        json!({"source": source, "dimension": name, "is": dimension, "time": definitions.time})
    } else if let Some(other) = name.strip_prefix("join:") {
        let Some(join) = definitions.joins.get(other) else { return Ok(None) };
        json!({"source": source, "join": other, "is": join})
    } else if name == "rates" {
        let Some(rates) = &definitions.rates else { return Ok(None) };
        json!({"source": source, "rates": rates})
    } else if name == "spread" {
        let Some(spread) = &definitions.spread else { return Ok(None) };
        return hash_of(&json!({"source": source, "spread": spread, "time": definitions.time}))
            .map(Some);
    } else if name == "pacing" {
        let Some(pacing) = &definitions.pacing else { return Ok(None) };
        return hash_of(&json!({"source": source, "pacing": pacing, "time": definitions.time}))
            .map(Some);
    } else {
        return Ok(None);
    };
    if let Some(spread) = &definitions.spread {
        value["spread"] = json!(spread);
    }
    if let Some(pacing) = &definitions.pacing {
        value["pacing"] = json!(pacing);
    }
    hash_of(&value).map(Some)
}

/// Returns all definitions of a source with their state. `approved` has the hashes that a person
/// approved; who approved them and when is not known here.
pub fn definition_views(
    definitions: &Definitions,
    proof: &Proof,
    approved: &BTreeSet<String>,
) -> Result<Vec<DefinitionView>, Problem> {
    let mut views = Vec::new();
    let mut add = |name: String, risks: Vec<DefinitionRisk>, value: serde_json::Value, title| {
        let hash = approval_hash(definitions, &name)?.unwrap_or_default();
        let is_approved = risks.is_empty() || approved.contains(&hash);
        let written = inline(&value);
        let approval = None;
        views.push(DefinitionView { name, hash, risks, is_approved, written, title, approval });
        Ok::<(), Problem>(())
    };
    let untitled = contract::manifest::Localised::new;
    for (name, dimension) in &definitions.dimensions {
        add(name.clone(), risks_of_dimension(dimension), json!(dimension), untitled())?;
    }
    for (name, measure) in &definitions.measures {
        let risks = risks_of_measure(measure, proof);
        add(name.clone(), risks, json!(measure), measure.title.clone())?;
    }
    for (name, join) in &definitions.joins {
        add(format!("join:{name}"), vec![DefinitionRisk::Join], json!(join), untitled())?;
    }
    if let Some(rates) = &definitions.rates {
        add("rates".to_owned(), vec![DefinitionRisk::Rates], json!(rates), untitled())?;
    }
    if let Some(spread) = &definitions.spread {
        add("spread".to_owned(), vec![DefinitionRisk::Spread], json!(spread), untitled())?;
    }
    if let Some(pacing) = &definitions.pacing {
        add("pacing".to_owned(), vec![DefinitionRisk::Pacing], json!(pacing), untitled())?;
    }
    Ok(views)
}

fn risks_of_dimension(dimension: &Dimension) -> Vec<DefinitionRisk> {
    match (&dimension.kind, &dimension.key) {
        (DimensionKind::Column(_), None) => Vec::new(),
        (DimensionKind::Column(_), Some(_)) => vec![DefinitionRisk::MergedNames],
        (
            DimensionKind::When(_)
            | DimensionKind::Groups(_)
            | DimensionKind::Split(_)
            | DimensionKind::Bins(_)
            | DimensionKind::First(_),
            _,
        ) => vec![DefinitionRisk::DerivedDimension],
        (DimensionKind::Lookup(_), _) => vec![DefinitionRisk::Join],
    }
}

fn risks_of_measure(measure: &Measure, proof: &Proof) -> Vec<DefinitionRisk> {
    let mut risks = Vec::new();
    match &measure.calculation {
        Calculation::Sum(column) => {
            if !proof.confirmed.contains(column) {
                risks.push(DefinitionRisk::SumNotConfirmed);
            }
            if matches!(measure.currency, Some(CurrencyOf::Constant(_)))
                && !proof.currencies.contains(column)
            {
                risks.push(DefinitionRisk::ConstantCurrency);
            }
        }
        // Rows are there or not: nothing can be read wrongly.
        Calculation::Count(_) => {}
        Calculation::Last(_) => risks.push(DefinitionRisk::LastValue),
        Calculation::Distinct(_)
        | Calculation::Average(_)
        | Calculation::Weighted(_)
        | Calculation::Least(_)
        | Calculation::Greatest(_)
        | Calculation::Median(_)
        | Calculation::Percentile(_)
        | Calculation::Single(_)
        | Calculation::Ratio(_)
        | Calculation::Plus(_)
        | Calculation::Minus(_)
        | Calculation::Of(_) => risks.push(DefinitionRisk::Computed),
    }
    if !measure.conditions.is_empty() && !risks.contains(&DefinitionRisk::Computed) {
        risks.push(DefinitionRisk::Computed);
    }
    risks
}

#[cfg(test)]
mod tests {
    use contract::sources::{FileTotal, TotalCheck};

    use super::*;
    use crate::definitions::yaml::parse_definitions;

    #[test]
    fn risk_decides_which_definitions_need_an_approval() {
        let yaml = "source: ads\ndimensions:\n  campaign: {column: Campaign, key: id, name: latest}\n  device: {column: Device}\nmeasures:\n  clicks: {sum: Clicks}\n  cpa: {ratio: [spend, clicks]}\n  spend: {sum: Cost, unit: money, currency: EUR}\n";
        let definitions = parse_definitions(yaml).unwrap();
        let total = |column: &str| TotalCheck {
            column: column.to_owned(),
            agrees: true,
            ..TotalCheck {
                column: String::new(),
                stated: String::new(),
                computed: String::new(),
                agrees: true,
            }
        };
        let report = TableReport {
            file_total: Some(FileTotal { line: 9, columns: vec![total("Clicks"), total("Cost")] }),
            ..TableReport::default()
        };
        let proof = Proof::of_report(&report);
        let views = definition_views(&definitions, &proof, &BTreeSet::new()).unwrap();
        let open: Vec<&str> =
            views.iter().filter(|view| !view.is_approved).map(|view| view.name.as_str()).collect();
        assert_eq!(open, ["campaign", "cpa", "spend"]);
        let hashes: BTreeSet<String> = views.iter().map(|view| view.hash.clone()).collect();
        let views = definition_views(&definitions, &proof, &hashes).unwrap();
        assert!(views.iter().all(|view| view.is_approved));
        let changed = parse_definitions(&yaml.replace("Cost", "Value")).unwrap();
        let views = definition_views(&changed, &proof, &hashes).unwrap();
        let spend = views.iter().find(|view| view.name == "spend").unwrap();
        assert!(!spend.is_approved, "an approval covers one text");
    }
}
