-- The memories whose texts a recording has. A recording is deleted when one of them is deleted or gets another text.
-- Recordings that do not say which ones they have are deleted. They serve replays only.

DELETE FROM recording;

CREATE TABLE recording_memory (
    recording INTEGER NOT NULL REFERENCES recording (number) ON DELETE CASCADE,
    memory INTEGER NOT NULL REFERENCES memory (number) ON DELETE CASCADE,
    PRIMARY KEY (recording, memory)
) STRICT, WITHOUT ROWID;
CREATE INDEX recording_memory_by_memory ON recording_memory (memory, recording);
