-- Results of runs by request id, the usage of model calls, and the times in which turns were served. These rows stay when their session is
-- deleted, because the money is spent all the same.

CREATE TABLE run (
    caller TEXT NOT NULL,
    request TEXT NOT NULL,
    claimed_at TEXT NOT NULL,
    -- running, interrupted or ended
    state TEXT NOT NULL,
    outcome TEXT,
    PRIMARY KEY (caller, request)
) STRICT, WITHOUT ROWID;
CREATE INDEX run_by_time ON run (claimed_at);

-- An entry is made before its model call with the highest possible usage, and updated once with the actual usage.
CREATE TABLE spending (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
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
CREATE INDEX spending_of_turn ON spending (turn);
CREATE INDEX spending_of_session ON spending (session);
CREATE INDEX spending_by_day ON spending (day);

CREATE TABLE served (
    id INTEGER NOT NULL PRIMARY KEY AUTOINCREMENT,
    turn TEXT NOT NULL UNIQUE,
    ended_at TEXT NOT NULL,
    duration_ms INTEGER NOT NULL,
    tools INTEGER NOT NULL,
    status TEXT NOT NULL,
    code TEXT
) STRICT;
