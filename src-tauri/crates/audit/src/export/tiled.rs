//! Writes the whole log as C2SP tlog-tiles: `tiles/checkpoint`, `tiles/tile/…`, and the records as
//! entry bundles.

use rusqlite::Connection;

use super::{ExportError, Files, Signed};
use crate::tiles::{TileFile, Tiler};

const FOLDER: &str = "tiles";

pub(super) fn write(
    db: &Connection,
    files: &mut Files<'_>,
    signed: &Signed,
) -> Result<(), ExportError> {
    files.begin_folder(FOLDER)?;
    files.put(&format!("{FOLDER}/checkpoint"), signed.note.as_bytes())?;
    let put = |file: TileFile| files.put(&format!("{FOLDER}/{}", file.path), &file.bytes);
    let mut tiler = Tiler::new();
    let mut statement = db.prepare(&format!(
        "SELECT body FROM audit_record WHERE seq<={} ORDER BY seq",
        signed.size
    ))?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let body =
            row.get_ref(0)?.as_blob().map_err(|error| ExportError::Log(error.to_string()))?;
        tiler.push(body).into_iter().try_for_each(put)?;
    }
    tiler.finish().into_iter().try_for_each(put)?;
    Ok(())
}
