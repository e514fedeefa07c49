-- Memories are listed with the pinned ones first, all of them and those of a session.
DROP INDEX memory_of_session;
DROP INDEX memory_by_time;
CREATE INDEX memory_of_session ON memory (session, pinned DESC, created_at DESC, number DESC);
CREATE INDEX memory_by_time ON memory (pinned DESC, created_at DESC, number DESC);
