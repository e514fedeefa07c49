-- The memories whose texts a recording contains. A recording is deleted when one of these memories is deleted or its text changes. Older
-- recordings, which do not list their memories, are deleted now, because recordings are used only for replays.

DELETE FROM recording;

CREATE TABLE recording_memory (
    recording INTEGER NOT NULL REFERENCES recording (number) ON DELETE CASCADE,
    memory INTEGER NOT NULL REFERENCES memory (number) ON DELETE CASCADE,
    PRIMARY KEY (recording, memory)
) STRICT, WITHOUT ROWID;
CREATE INDEX recording_memory_by_memory ON recording_memory (memory, recording);
