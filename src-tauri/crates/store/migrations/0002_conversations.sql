-- The memory of a conversation by its key: its summary, and the items that the summary stands for.
-- `body` holds the members that are neither searched nor sorted.
CREATE TABLE conversation (
    key TEXT NOT NULL PRIMARY KEY,
    -- The session, when the key is one; a memory that several share has none.
    session TEXT,
    updated_at TEXT NOT NULL,
    -- 0: forgotten. The next message starts anew.
    live INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX conversation_by_update ON conversation (updated_at, key) WHERE live = 1;
CREATE INDEX conversation_of_session ON conversation (session);

-- The items of memories that several sessions share, in the order in which they were said.
CREATE TABLE conversation_item (
    position INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL,
    session TEXT NOT NULL,
    seq INTEGER NOT NULL,
    UNIQUE (key, session, seq),
    FOREIGN KEY (session, seq) REFERENCES item (session, seq) ON DELETE CASCADE
) STRICT;
CREATE INDEX conversation_item_by_key ON conversation_item (key, position);
CREATE INDEX conversation_item_of ON conversation_item (session, seq);
