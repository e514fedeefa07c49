-- The destinations to which reads may send data, and the amount that each conversation has sent there since a person last
-- gave permission.

CREATE TABLE allowance (
    -- Empty if the permission holds in all conversations.
    session TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    given_by TEXT NOT NULL,
    given_at TEXT NOT NULL,
    PRIMARY KEY (session, kind, name)
) STRICT, WITHOUT ROWID;

CREATE TABLE sent (
    session TEXT NOT NULL,
    kind TEXT NOT NULL,
    name TEXT NOT NULL,
    bytes INTEGER NOT NULL,
    PRIMARY KEY (session, kind, name)
) STRICT, WITHOUT ROWID;
