-- Marks of conversations: pinned, archived, deleted, and whether the title stays. A deleted conversation is hidden until its rows
-- are deleted; until then the deletion can be undone.

ALTER TABLE session ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;
-- 0 while a later message may give the title. Titles from before this version stay.
ALTER TABLE session ADD COLUMN titled INTEGER NOT NULL DEFAULT 1;
ALTER TABLE session ADD COLUMN deleted_at TEXT;
CREATE INDEX session_deleted ON session (id) WHERE deleted_at IS NOT NULL;
