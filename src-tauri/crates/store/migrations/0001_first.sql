-- Sessions and everything that belongs to a session. Instants are RFC 3339 text in UTC with nine decimals, so that the order of texts is
-- the order of times. `body` columns contain JSON; members that are searched, sorted or changed have columns of their own.

CREATE TABLE session (
    id TEXT NOT NULL PRIMARY KEY,
    title TEXT NOT NULL,
    -- The title in lower case by Unicode's rules, which SQLite's own lower() does not know.
    title_folded TEXT NOT NULL,
    created_at TEXT NOT NULL,
    updated_at TEXT NOT NULL,
    -- The number that the next item gets.
    next_seq INTEGER NOT NULL DEFAULT 1
) STRICT;
CREATE INDEX session_by_update ON session (updated_at DESC, id);

CREATE TABLE item (
    session TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    seq INTEGER NOT NULL,
    id TEXT NOT NULL UNIQUE,
    turn TEXT NOT NULL,
    created_at TEXT NOT NULL,
    body TEXT NOT NULL,
    UNIQUE (session, seq)
) STRICT;
CREATE INDEX item_by_turn ON item (turn, seq);

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
) STRICT;
CREATE INDEX turn_of_session ON turn (session);
CREATE INDEX turn_running ON turn (started_at) WHERE status = 'running';

-- Approvals, grants and values may also belong to a call outside any session. A deleted session takes its own along. `body` is the proposal
-- as it was made. Only its members status, reason and decided_at change, and only in the columns below.
CREATE TABLE approval (
    id TEXT NOT NULL PRIMARY KEY,
    session TEXT NOT NULL,
    created_at TEXT NOT NULL,
    status TEXT NOT NULL,
    reason TEXT,
    decided_at TEXT,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX approval_of_session ON approval (session);
CREATE INDEX approval_by_status ON approval (status, created_at DESC);

CREATE TABLE "grant" (
    id TEXT NOT NULL PRIMARY KEY,
    session TEXT NOT NULL,
    created_at TEXT NOT NULL,
    last_used_at TEXT,
    revoked_at TEXT,
    body TEXT NOT NULL
) STRICT;
CREATE INDEX grant_of_session ON "grant" (session);

CREATE TABLE session_value (
    session TEXT NOT NULL PRIMARY KEY,
    body TEXT NOT NULL
) STRICT;

-- Values that the app itself remembers, by name.
CREATE TABLE note (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;
