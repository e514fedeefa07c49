-- The input that a turn got from outside, for a replay. Only the newest turns have one. A session takes its recordings along when deleted.
CREATE TABLE recording (
    number INTEGER NOT NULL PRIMARY KEY,
    turn TEXT NOT NULL UNIQUE,
    session TEXT NOT NULL REFERENCES session (id) ON DELETE CASCADE,
    -- JSON
    body TEXT NOT NULL
) STRICT;
CREATE INDEX recording_of_session ON recording (session);
