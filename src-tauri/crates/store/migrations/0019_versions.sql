-- Versions of messages: the turns of a session form a tree. Turns with the same parent are versions of one message, and exactly one
-- of them is chosen. The items on the path of chosen turns are shown, except those of deleted turns. `hidden` holds the result.

-- The turn that this turn follows. NULL for the first turn.
ALTER TABLE turn ADD COLUMN parent TEXT;
ALTER TABLE turn ADD COLUMN chosen INTEGER NOT NULL DEFAULT 1;
ALTER TABLE turn ADD COLUMN hidden INTEGER NOT NULL DEFAULT 0;
-- A deleted turn is hidden until its rows are deleted; until then the deletion can be undone.
ALTER TABLE turn ADD COLUMN deleted_at TEXT;
DROP INDEX turn_of_session;
CREATE INDEX turn_of_session ON turn (session, parent);
CREATE INDEX turn_deleted ON turn (deleted_at) WHERE deleted_at IS NOT NULL;

ALTER TABLE item ADD COLUMN hidden INTEGER NOT NULL DEFAULT 0;
CREATE INDEX item_shown ON item (session, seq) WHERE hidden = 0;
CREATE INDEX item_hidden ON item (session, seq) WHERE hidden = 1;
-- The items that show a summary. They may contain the text of a deleted message.
CREATE INDEX item_summary ON item (session, seq) WHERE body GLOB '{"kind":"summary",*';

-- Set while an item that the memory was made from is hidden.
ALTER TABLE memory ADD COLUMN hidden INTEGER NOT NULL DEFAULT 0;

-- The last turn of the path that is shown, which the next turn follows.
ALTER TABLE session ADD COLUMN tail TEXT;
-- The number of questions whose rows were deleted.
ALTER TABLE session ADD COLUMN deleted_turns INTEGER NOT NULL DEFAULT 0;

-- A message that a crash left unanswered had no turn of its own.
INSERT INTO turn (id, session, started_at, ended_at, status, model, input_tokens, output_tokens, model_calls)
SELECT turn, session, min(created_at), max(created_at), 'interrupted', '', 0, 0, 0 FROM item
WHERE instr(session, ':') = 0 AND turn NOT IN (SELECT id FROM turn) GROUP BY turn;

-- The turns of a session so far are a line, in the order of their items. A turn without items comes after the turn that began before it.
CREATE TEMP TABLE line (id TEXT NOT NULL PRIMARY KEY, session TEXT NOT NULL, parent TEXT, is_last INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO temp.line (id, session, parent, is_last)
WITH begun (turn, seq) AS (SELECT turn, min(seq) FROM item GROUP BY turn),
placed (id, session, number, place) AS (
    SELECT t.id, t.session, t.rowid,
        COALESCE(b.seq, max(b.seq) OVER (PARTITION BY t.session ORDER BY t.rowid ROWS UNBOUNDED PRECEDING), 0)
    FROM turn t LEFT JOIN begun b ON b.turn = t.id
)
SELECT id, session, lag(id) OVER ordered, lead(id) OVER ordered IS NULL FROM placed
WINDOW ordered AS (PARTITION BY session ORDER BY place, number);
UPDATE turn SET parent = (SELECT l.parent FROM temp.line l WHERE l.id = turn.id);
UPDATE session SET tail = l.id FROM temp.line l WHERE l.session = session.id AND l.is_last = 1;
DROP TABLE temp.line;
