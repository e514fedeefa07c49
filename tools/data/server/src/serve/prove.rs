//! `data.prove`: verifies a recorded figure, and writes what somebody needs to make it again with
//! another program of the database library: statements over the files of the parts, and the rows as
//! a file in the working folder, the only one in which the process may write.

use contract::sources::{AskProve, AskedPlace, AskedSource, Proved};

use super::{Asker, ask::check_file_name};
use crate::{
    DataError, parts,
    sql::{identifier, literal},
    stop::Stop,
};

impl Asker {
    /// Verifies a figure, and writes its rows and the statements that make them again.
    pub fn prove(&self, ask: &AskProve, stop: &Stop) -> Result<Proved, DataError> {
        check_file_name(&ask.file)?;
        // This also checks that the question is one SELECT over the sources.
        let verified = self.verify(&ask.figure, stop)?;
        let select = in_fixed_order(&verified.result.sql, ask.figure.query.is_some());
        let (mut link, _) = self.connect(&ask.figure.sources)?;
        let own = self.scratch.join(&ask.file).display().to_string();
        link.run_until(&copy(&select, &own), stop)?;
        let mut statements = vec!["SET TimeZone = 'UTC'".to_owned()];
        for source in &ask.figure.sources {
            statements.push(view(source, &ask.folder)?);
        }
        statements.push(copy(&select, &ask.file));
        Ok(Proved { verified, statements })
    }
}

/// Returns a query whose rows have one order. A metric query has one; the rows of another query are
/// ordered by all columns.
fn in_fixed_order(sql: &str, is_ordered: bool) -> String {
    let sql = sql.trim_end().trim_end_matches(';');
    if is_ordered {
        sql.to_owned()
    } else {
        format!("SELECT * FROM (\n{sql}\n) AS figure ORDER BY ALL")
    }
}

fn copy(select: &str, file: &str) -> String {
    format!("COPY (\n{select}\n) TO {} (FORMAT csv, HEADER true)", literal(file))
}

fn view(source: &AskedSource, folder: &str) -> Result<String, DataError> {
    let AskedPlace::Parts { parts, .. } = &source.place else {
        return Err(DataError::Arguments(format!("the source {} is in a database", source.name)));
    };
    let table = parts::table(folder, parts, &source.columns);
    Ok(format!("CREATE TEMP VIEW {} AS {}", identifier(source.name.as_str()), table.sql))
}
