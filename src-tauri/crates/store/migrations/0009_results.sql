-- The large results of tools. Each result is stored once per session, however often it is shown, because a follow-up question may be
-- answered from an earlier result.
CREATE TABLE result (
    session TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    -- SHA-256 of `data`.
    hash BLOB NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (session, hash)
) STRICT, WITHOUT ROWID;

-- The hash of the result that belongs to the body. NULL if the body contains the result itself.
ALTER TABLE item ADD COLUMN result BLOB;
CREATE INDEX item_by_result ON item (session, result) WHERE result IS NOT NULL;

CREATE TRIGGER result_unused AFTER DELETE ON item WHEN old.result IS NOT NULL BEGIN
    DELETE FROM result WHERE session = old.session AND hash = old.result
        AND NOT EXISTS (SELECT 1 FROM item WHERE session = old.session AND result = old.result);
END;
