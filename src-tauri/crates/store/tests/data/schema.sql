-- user_version 19
CREATE VIEW message_text AS
SELECT m.number AS number, CASE WHEN json_valid(i.body) THEN i.body ->> '$.text' ELSE '' END AS text
FROM message m JOIN item i ON i.id = m.item;
CREATE TRIGGER memory_added AFTER INSERT ON memory BEGIN
    INSERT INTO memory_words (rowid, text) VALUES (NEW.number, NEW.text);
END;
CREATE TRIGGER memory_deleted AFTER DELETE ON memory BEGIN
    INSERT INTO memory_words (memory_words, rowid, text) VALUES ('delete', OLD.number, OLD.text);
END;
CREATE TRIGGER memory_edited AFTER UPDATE OF text ON memory BEGIN
    INSERT INTO memory_words (memory_words, rowid, text) VALUES ('delete', OLD.number, OLD.text);
    INSERT INTO memory_words (rowid, text) VALUES (NEW.number, NEW.text);
END;
CREATE TRIGGER memory_vector_deleted AFTER DELETE ON memory_vector BEGIN
    UPDATE memory_vector_state SET deleted = deleted + 1;
END;
CREATE TRIGGER message_added AFTER INSERT ON item
WHEN (NEW.body GLOB '{"kind":"user_message",*' OR NEW.body GLOB '{"kind":"assistant_text",*') AND json_valid(NEW.body) BEGIN
    INSERT INTO message (item) VALUES (NEW.id);
    INSERT INTO message_words (rowid, text) SELECT number, NEW.body ->> '$.text' FROM message WHERE item = NEW.id;
END;
CREATE TRIGGER message_changed AFTER UPDATE OF body ON item
WHEN EXISTS (SELECT 1 FROM message WHERE item = OLD.id) BEGIN
    INSERT INTO message_words (message_words, rowid, text)
    SELECT 'delete', number, CASE WHEN json_valid(OLD.body) THEN OLD.body ->> '$.text' ELSE '' END FROM message WHERE item = OLD.id;
    INSERT INTO message_words (rowid, text)
    SELECT number, CASE WHEN json_valid(NEW.body) THEN NEW.body ->> '$.text' ELSE '' END FROM message WHERE item = NEW.id;
END;
CREATE TRIGGER message_deleted AFTER DELETE ON item
WHEN EXISTS (SELECT 1 FROM message WHERE item = OLD.id) BEGIN
    INSERT INTO message_words (message_words, rowid, text)
    SELECT 'delete', number, CASE WHEN json_valid(OLD.body) THEN OLD.body ->> '$.text' ELSE '' END FROM message WHERE item = OLD.id;
    DELETE FROM message WHERE item = OLD.id;
END;
CREATE TRIGGER result_unused AFTER DELETE ON item WHEN old.result IS NOT NULL BEGIN
    DELETE FROM result WHERE session = old.session AND hash = old.result
        AND NOT EXISTS (SELECT 1 FROM item WHERE session = old.session AND result = old.result);
END;
CREATE TRIGGER spending_entered AFTER INSERT ON spending BEGIN
    INSERT INTO spent (scope, name, tokens, nano_usd, calls, unpriced)
    VALUES ('day', NEW.day, NEW.tokens, COALESCE(NEW.nano_usd, 0), 1, NEW.nano_usd IS NULL AND NEW.tokens > 0),
        ('session', NEW.session, NEW.tokens, COALESCE(NEW.nano_usd, 0), 0, 0)
    ON CONFLICT (scope, name) DO UPDATE SET tokens = tokens + excluded.tokens, nano_usd = nano_usd + excluded.nano_usd,
        calls = calls + excluded.calls, unpriced = unpriced + excluded.unpriced;
END;
CREATE TRIGGER spending_settled AFTER UPDATE OF tokens, nano_usd ON spending BEGIN
    UPDATE spent SET tokens = tokens + NEW.tokens - OLD.tokens, nano_usd = nano_usd + COALESCE(NEW.nano_usd, 0) - COALESCE(OLD.nano_usd, 0),
        unpriced = unpriced + (scope = 'day') * ((NEW.nano_usd IS NULL AND NEW.tokens > 0) - (OLD.nano_usd IS NULL AND OLD.tokens > 0))
    WHERE (scope = 'day' AND name = NEW.day) OR (scope = 'session' AND name = NEW.session);
END;
CREATE TABLE allowance (
    -- Empty if the permission holds in all conversations.
    session TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    given_by TEXT NOT NULL,
    given_at TEXT NOT NULL, last_used_at TEXT,
    PRIMARY KEY (session, kind, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE approval (
    id TEXT NOT NULL PRIMARY KEY,
    session TEXT NOT NULL,
    created_at TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT,
    decided_at TEXT,
    body TEXT NOT NULL
, shared INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE conversation (
    key TEXT NOT NULL PRIMARY KEY,
    -- The session, when the key is one; a memory that several share has none.
    session TEXT,
    updated_at TEXT NOT NULL,
    -- 0: forgotten. The next message starts anew.
    live INTEGER NOT NULL,
    body TEXT NOT NULL
) STRICT;
CREATE TABLE conversation_item (
    position INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    key TEXT NOT NULL,
    session TEXT NOT NULL,
    seq INTEGER NOT NULL,
    UNIQUE (key, session, seq),
    FOREIGN KEY (session, seq) REFERENCES item (session, seq) ON DELETE CASCADE
) STRICT;
CREATE TABLE "grant" (
    id TEXT NOT NULL PRIMARY KEY,
    session TEXT NOT NULL,
    created_at TEXT NOT NULL,
    last_used_at TEXT,
    revoked_at TEXT,
    body TEXT NOT NULL
) STRICT;
CREATE TABLE item (
    session TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    id TEXT NOT NULL UNIQUE,
    turn TEXT NOT NULL,
    created_at TEXT NOT NULL,
    body TEXT NOT NULL, result BLOB, hidden INTEGER NOT NULL DEFAULT 0,
    UNIQUE (session, seq)
) STRICT;
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
, hidden INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE memory_index (
    number INTEGER NOT NULL PRIMARY KEY CHECK (number = 1),
    model TEXT NOT NULL,
    dimension INTEGER NOT NULL,
    threshold REAL NOT NULL
) STRICT;
CREATE TABLE memory_progress (
    session TEXT NOT NULL PRIMARY KEY REFERENCES session (id) ON DELETE CASCADE,
    through INTEGER NOT NULL
) STRICT;
CREATE TABLE memory_source (
    memory INTEGER NOT NULL REFERENCES memory (number) ON DELETE CASCADE,
    position INTEGER NOT NULL,
    item TEXT NOT NULL,
    -- The session of the item, also after it was deleted.
    session TEXT,
    PRIMARY KEY (memory, position)
) STRICT, WITHOUT ROWID;
CREATE TABLE memory_vector (
    memory INTEGER NOT NULL PRIMARY KEY REFERENCES memory (number) ON DELETE CASCADE,
    model TEXT NOT NULL,
    vector BLOB NOT NULL
, changed INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE memory_vector_state (
    number INTEGER NOT NULL PRIMARY KEY CHECK (number = 1),
    changed INTEGER NOT NULL,
    deleted INTEGER NOT NULL
) STRICT;
CREATE VIRTUAL TABLE memory_words USING fts5 (text, content = 'memory', content_rowid = 'number', tokenize = 'unicode61 remove_diacritics 2');
CREATE TABLE 'memory_words_config'(k PRIMARY KEY, v) WITHOUT ROWID;
CREATE TABLE 'memory_words_data'(id INTEGER PRIMARY KEY, block BLOB);
CREATE TABLE 'memory_words_docsize'(id INTEGER PRIMARY KEY, sz BLOB);
CREATE TABLE 'memory_words_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;
CREATE TABLE message (
    number INTEGER NOT NULL PRIMARY KEY,
    item TEXT NOT NULL UNIQUE
) STRICT;
CREATE VIRTUAL TABLE message_words USING fts5 (text, content = 'message_text', content_rowid = 'number', tokenize = 'unicode61 remove_diacritics 2');
CREATE TABLE 'message_words_config'(k PRIMARY KEY, v) WITHOUT ROWID;
CREATE TABLE 'message_words_data'(id INTEGER PRIMARY KEY, block BLOB);
CREATE TABLE 'message_words_docsize'(id INTEGER PRIMARY KEY, sz BLOB);
CREATE TABLE 'message_words_idx'(segid, term, pgno, PRIMARY KEY(segid, term)) WITHOUT ROWID;
CREATE TABLE note (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;
CREATE TABLE recording (
    number INTEGER NOT NULL PRIMARY KEY,
    turn TEXT NOT NULL UNIQUE,
    session TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    -- JSON
    body TEXT NOT NULL
) STRICT;
CREATE TABLE recording_memory (
    recording INTEGER NOT NULL REFERENCES recording (number) ON DELETE CASCADE,
    memory INTEGER NOT NULL REFERENCES memory (number) ON DELETE CASCADE,
    PRIMARY KEY (recording, memory)
) STRICT, WITHOUT ROWID;
CREATE TABLE result (
    session TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    -- SHA-256 of `data`.
    hash BLOB NOT NULL,
    data TEXT NOT NULL,
    PRIMARY KEY (session, hash)
) STRICT, WITHOUT ROWID;
CREATE TABLE run (
    caller TEXT NOT NULL,
    request TEXT NOT NULL,
    claimed_at TEXT NOT NULL,
    -- running, interrupted or ended
    state TEXT NOT NULL,
    outcome TEXT,
    PRIMARY KEY (caller, request)
) STRICT, WITHOUT ROWID;
CREATE TABLE sent (
    session TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (session, kind, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE served (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    turn TEXT NOT NULL UNIQUE,
    ended_at TEXT NOT NULL,
    duration_ms INTEGER NOT NULL,
    tools INTEGER NOT NULL,
    status TEXT NOT NULL,
    code TEXT
) STRICT;
CREATE TABLE session (
    id TEXT NOT NULL PRIMARY KEY,
    title TEXT NOT NULL,
    -- The title in lower case by Unicode's rules, which SQLite's own lower() does not know.
    title_folded TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    -- The number that the next item gets.
    next_seq INTEGER NOT NULL DEFAULT 1
, pinned INTEGER NOT NULL DEFAULT 0, archived INTEGER NOT NULL DEFAULT 0, titled INTEGER NOT NULL DEFAULT 1, deleted_at TEXT, tail TEXT, deleted_turns INTEGER NOT NULL DEFAULT 0) STRICT;
CREATE TABLE session_value (
    session TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (session, name)
) STRICT;
CREATE TABLE spending (
    id INTEGER NOT NULL PRIMARY KEY,
    at TEXT NOT NULL,
    -- The user's local day, so that text order is the order of days.
    day TEXT NOT NULL,
    session TEXT NOT NULL,
    turn TEXT NOT NULL,
    model TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    -- Billionths of a US dollar; NULL where the model has no price.
    nano_usd INTEGER,
    settled INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE TABLE spent (
    -- day or session
    scope TEXT NOT NULL,
    name TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    nano_usd INTEGER NOT NULL,
    -- Of a day: its calls, and those of them that used something and have no price.
    calls INTEGER NOT NULL,
    unpriced INTEGER NOT NULL,
    PRIMARY KEY (scope, name)
) STRICT, WITHOUT ROWID;
CREATE TABLE sqlite_sequence(name,seq);
CREATE TABLE turn (
    id TEXT NOT NULL PRIMARY KEY,
    session TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    started_at TEXT NOT NULL,
    ended_at TEXT,
    status TEXT NOT NULL,
    model TEXT NOT NULL,
    input_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    model_calls INTEGER NOT NULL
, parent TEXT, chosen INTEGER NOT NULL DEFAULT 1, hidden INTEGER NOT NULL DEFAULT 0, deleted_at TEXT) STRICT;
CREATE INDEX approval_by_status ON approval (status, created_at DESC);
CREATE INDEX approval_of_session ON approval (session);
CREATE INDEX conversation_by_update ON conversation (updated_at, key) WHERE live = 1;
CREATE INDEX conversation_item_by_key ON conversation_item (key, position);
CREATE INDEX conversation_item_of ON conversation_item (session, seq);
CREATE INDEX conversation_of_session ON conversation (session);
CREATE INDEX grant_of_session ON "grant" (session);
CREATE INDEX item_by_result ON item (session, result) WHERE result IS NOT NULL;
CREATE INDEX item_by_turn ON item (turn, seq);
CREATE INDEX item_hidden ON item (session, seq) WHERE hidden = 1;
CREATE INDEX item_shown ON item (session, seq) WHERE hidden = 0;
CREATE INDEX item_summary ON item (session, seq) WHERE body GLOB '{"kind":"summary",*';
CREATE INDEX memory_by_time ON memory (pinned DESC, created_at DESC, number DESC);
CREATE INDEX memory_of_session ON memory (session, pinned DESC, created_at DESC, number DESC);
CREATE INDEX memory_vector_by_change ON memory_vector (model, changed);
CREATE INDEX recording_memory_by_memory ON recording_memory (memory, recording);
CREATE INDEX recording_of_session ON recording (session);
CREATE INDEX run_by_time ON run (claimed_at);
CREATE INDEX session_by_update ON session (updated_at DESC, id);
CREATE INDEX session_deleted ON session (id) WHERE deleted_at IS NOT NULL;
CREATE INDEX session_value_by_name ON session_value (name, session);
CREATE INDEX spending_of_turn ON spending (turn);
CREATE INDEX turn_deleted ON turn (deleted_at) WHERE deleted_at IS NOT NULL;
CREATE INDEX turn_of_session ON turn (session, parent);
CREATE INDEX turn_running ON turn (started_at) WHERE status = 'running';
