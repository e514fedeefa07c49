-- Lists of all memories and of the memories of a session begin with the pinned memories.
DROP INDEX memory_of_session;
DROP INDEX memory_by_time;
CREATE INDEX memory_of_session ON memory (session, pinned DESC, created_at DESC, number DESC);
CREATE INDEX memory_by_time ON memory (pinned DESC, created_at DESC, number DESC);
