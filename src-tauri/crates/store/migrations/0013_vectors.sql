-- The vectors that changed since a reader last looked, so that vectors in memory stay equal to those in the file without
-- reading all of them.

ALTER TABLE memory_vector ADD COLUMN changed INTEGER NOT NULL DEFAULT 0;
CREATE INDEX memory_vector_by_change ON memory_vector (model, changed);

-- The number of the last change, and the number of deleted vectors.
CREATE TABLE memory_vector_state (
    number INTEGER NOT NULL PRIMARY KEY CHECK (number = 1),
    changed INTEGER NOT NULL,
    deleted INTEGER NOT NULL
) STRICT;
INSERT INTO memory_vector_state VALUES (1, 0, 0);

CREATE TRIGGER memory_vector_deleted AFTER DELETE ON memory_vector BEGIN
    UPDATE memory_vector_state SET deleted = deleted + 1;
END;
