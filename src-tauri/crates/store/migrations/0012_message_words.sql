-- The words of questions and answers, for the search over all conversations. The text itself is read from `item`. `message` gives each of
-- these items a number that never changes, because the row numbers of `item` can change when a copy of the file is made.

CREATE TABLE message (
    number INTEGER NOT NULL PRIMARY KEY,
    item TEXT NOT NULL UNIQUE
) STRICT;

CREATE VIEW message_text AS
SELECT m.number AS number, CASE WHEN json_valid(i.body) THEN i.body ->> '$.text' ELSE '' END AS text
FROM message m JOIN item i ON i.id = m.item;

CREATE VIRTUAL TABLE message_words USING fts5 (text, content = 'message_text', content_rowid = 'number', tokenize = 'unicode61 remove_diacritics 2');
INSERT INTO message_words (message_words, rank) VALUES ('secure-delete', 1);

INSERT INTO message (item)
SELECT id FROM item
WHERE (body GLOB '{"kind":"user_message",*' OR body GLOB '{"kind":"assistant_text",*') AND json_valid(body)
ORDER BY created_at, rowid;
INSERT INTO message_words (message_words) VALUES ('rebuild');

CREATE TRIGGER message_added AFTER INSERT ON item
WHEN (NEW.body GLOB '{"kind":"user_message",*' OR NEW.body GLOB '{"kind":"assistant_text",*') AND json_valid(NEW.body) BEGIN
    INSERT INTO message (item) VALUES (NEW.id);
    INSERT INTO message_words (rowid, text) SELECT number, NEW.body ->> '$.text' FROM message WHERE item = NEW.id;
END;
CREATE TRIGGER message_changed AFTER UPDATE OF body ON item
WHEN EXISTS (SELECT 1 FROM message WHERE item = OLD.id) BEGIN
    INSERT INTO message_words (message_words, rowid, text)
    SELECT 'delete', number, CASE WHEN json_valid(OLD.body) THEN OLD.body ->> '$.text' ELSE '' END FROM message WHERE item = OLD.id;
    INSERT INTO message_words (rowid, text)
    SELECT number, CASE WHEN json_valid(NEW.body) THEN NEW.body ->> '$.text' ELSE '' END FROM message WHERE item = NEW.id;
END;
CREATE TRIGGER message_deleted AFTER DELETE ON item
WHEN EXISTS (SELECT 1 FROM message WHERE item = OLD.id) BEGIN
    INSERT INTO message_words (message_words, rowid, text)
    SELECT 'delete', number, CASE WHEN json_valid(OLD.body) THEN OLD.body ->> '$.text' ELSE '' END FROM message WHERE item = OLD.id;
    DELETE FROM message WHERE item = OLD.id;
END;
