-- A file as version 1 of the schema left it. Frozen: later versions must open it with everything in it.
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

-- Approvals, grants and values may also belong to a call outside any session; sessions take theirs along when deleted.
-- `body` is the proposal as it was made; status, reason and decided_at are its only members that change, and only here.
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

-- What the app itself wants to remember, by name.
CREATE TABLE note (
    name TEXT NOT NULL PRIMARY KEY,
    value TEXT NOT NULL
) STRICT;

INSERT INTO session VALUES ('desktop:one', 'Pacing för konto 17', 'pacing för konto 17', '2026-11-01T08:00:00.000000000Z', '2026-11-01T08:00:09.500000000Z', 3);
INSERT INTO item VALUES ('desktop:one', 1, 'i1', 't1', '2026-11-01T08:00:00.000000000Z', '{"kind":"user_message","text":"How is account 17 pacing?"}');
INSERT INTO item VALUES ('desktop:one', 2, 'i2', 't1', '2026-11-01T08:00:09.500000000Z', '{"kind":"assistant_text","text":"On pace.","model":"Offline model","partial":false}');
INSERT INTO turn VALUES ('t1', 'desktop:one', '2026-11-01T08:00:00.000000000Z', '2026-11-01T08:00:09.500000000Z', 'ok', 'Offline model', 10, 20, 2);
INSERT INTO turn VALUES ('t2', 'desktop:one', '2026-11-01T08:01:00.000000000Z', NULL, 'running', 'Offline model', 0, 0, 0);
INSERT INTO approval VALUES ('a1', 'desktop:one', '2026-11-01T08:01:00.000000000Z', 'rejected', 'too many', '2026-11-01T08:02:00.000000000Z',
    '{"id":"a1","session":"desktop:one","turn":"t2","call":"c1","tool":"cart.add","tool_title":"Add to cart","server":"shop","agent":"shopper","effect":"write","arguments":"{\"quantity\":2}","hash":"00","why":"writes ask","created_at":"2026-11-01T08:01:00Z","expires_at":"2026-11-01T08:11:00Z","status":"pending","grantable":false}');
INSERT INTO "grant" VALUES ('g1', 'desktop:one', '2026-11-01T08:03:00.000000000Z', NULL, NULL,
    '{"id":"g1","session":"desktop:one","tool":"notes.write","server":"notes","definition_hash":"00","pattern":{"folder":"a"},"created_at":"2026-11-01T08:03:00Z","expires_at":"2026-11-01T09:03:00Z"}');
INSERT INTO session_value VALUES ('desktop:one', '{"customer":"c1"}');
INSERT INTO note VALUES ('welcome', 'seen');
PRAGMA user_version = 1;
