-- Each value that is kept beside a session has its own row, so that one value is read or written without the others.

ALTER TABLE session_value RENAME TO session_value_whole;

CREATE TABLE session_value (
    session TEXT NOT NULL,
    name TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (session, name)
) STRICT;
CREATE INDEX session_value_by_name ON session_value (name, session);

INSERT INTO session_value SELECT whole.session, member.key, whole.body -> member.fullkey
FROM session_value_whole AS whole, json_each(whole.body) AS member;

DROP TABLE session_value_whole;
