-- Long-term memories: their texts, words, vectors and sources. A session takes its memories along when deleted; a memory takes
-- its words, its vector and its sources along.

CREATE TABLE memory (
    number INTEGER NOT NULL PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    -- NULL for a memory of the profile.
    session TEXT REFERENCES session (id) ON DELETE CASCADE,
    -- summary or note
    kind TEXT NOT NULL,
    text TEXT NOT NULL,
    pinned INTEGER NOT NULL,
    untrusted INTEGER NOT NULL,
    local_only INTEGER NOT NULL,
    created_at TEXT NOT NULL,
    edited_at TEXT
) STRICT;
CREATE INDEX memory_of_session ON memory (session, created_at DESC, number DESC);
CREATE INDEX memory_by_time ON memory (created_at DESC, number DESC);

-- The items that a memory was made from. An item may be deleted before its memory.
CREATE TABLE memory_source (
    memory INTEGER NOT NULL REFERENCES memory (number) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    item TEXT NOT NULL,
    -- The session of the item, also after it was deleted.
    session TEXT,
    PRIMARY KEY (memory, position)
) STRICT, WITHOUT ROWID;

-- The last item of each session that is summarised in memories. If a memory is deleted, its messages are not summarised again.
CREATE TABLE memory_progress (
    session TEXT NOT NULL PRIMARY KEY REFERENCES session (id) ON DELETE CASCADE,
    through INTEGER NOT NULL
) STRICT;

-- The values of a vector are little-endian f32. Vectors of other models than the one of `memory_index` are not searched.
CREATE TABLE memory_vector (
    memory INTEGER NOT NULL PRIMARY KEY REFERENCES memory (number) ON DELETE CASCADE,
    model TEXT NOT NULL,
    vector BLOB NOT NULL
) STRICT;

-- The state of the index in one row: the model that makes the vectors, and its calibrated threshold.
CREATE TABLE memory_index (
    number INTEGER NOT NULL PRIMARY KEY CHECK (number = 1),
    model TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    threshold REAL NOT NULL
) STRICT;

-- The index of words in memories. The text itself is read from `memory`, and deleted words leave no data behind.
CREATE VIRTUAL TABLE memory_words USING fts5 (text, content = 'memory', content_rowid = 'number', tokenize = 'unicode61 remove_diacritics 2');
INSERT INTO memory_words (memory_words, rank) VALUES ('secure-delete', 1);

CREATE TRIGGER memory_added AFTER INSERT ON memory BEGIN
    INSERT INTO memory_words (rowid, text) VALUES (NEW.number, NEW.text);
END;
CREATE TRIGGER memory_edited AFTER UPDATE OF text ON memory BEGIN
    INSERT INTO memory_words (memory_words, rowid, text) VALUES ('delete', OLD.number, OLD.text);
    INSERT INTO memory_words (rowid, text) VALUES (NEW.number, NEW.text);
END;
CREATE TRIGGER memory_deleted AFTER DELETE ON memory BEGIN
    INSERT INTO memory_words (memory_words, rowid, text) VALUES ('delete', OLD.number, OLD.text);
END;
