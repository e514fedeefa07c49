-- Calls are counted by day as they are entered, so that no query reads the whole ledger and old entries can be deleted. The newest entries
-- always stay, so no id is given twice.

DROP TRIGGER spending_entered;
DROP TRIGGER spending_settled;

CREATE TEMP TABLE spent_before AS SELECT * FROM spent;
DROP TABLE spent;
CREATE TABLE spent (
    -- day or session
    scope TEXT NOT NULL,
    name TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    nano_usd INTEGER NOT NULL,
    -- Of a day: its calls, and those of them that used something and have no price.
    calls INTEGER NOT NULL,
    unpriced INTEGER NOT NULL,
    PRIMARY KEY (scope, name)
) STRICT, WITHOUT ROWID;
INSERT INTO spent SELECT scope, name, tokens, nano_usd, 0, 0 FROM temp.spent_before WHERE scope = 'day' OR name IN (SELECT id FROM session);
UPDATE spent SET calls = counted.calls, unpriced = counted.unpriced
FROM (SELECT day, COUNT(*) AS calls, COUNT(*) FILTER (WHERE tokens > 0 AND nano_usd IS NULL) AS unpriced FROM spending GROUP BY day) AS counted
WHERE spent.scope = 'day' AND spent.name = counted.day;
DROP TABLE temp.spent_before;

CREATE TEMP TABLE newest AS SELECT * FROM spending ORDER BY id DESC LIMIT 20000;
DROP TABLE spending;
CREATE TABLE spending (
    id INTEGER NOT NULL PRIMARY KEY,
    at TEXT NOT NULL,
    -- The user's local day, so that text order is the order of days.
    day TEXT NOT NULL,
    session TEXT NOT NULL,
    turn TEXT NOT NULL,
    model TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    -- Billionths of a US dollar; NULL where the model has no price.
    nano_usd INTEGER,
    settled INTEGER NOT NULL DEFAULT 0
) STRICT;
CREATE INDEX spending_of_turn ON spending (turn);
INSERT INTO spending SELECT id, at, day, session, turn, model, tokens, nano_usd, settled FROM temp.newest;
DROP TABLE temp.newest;

CREATE TRIGGER spending_entered AFTER INSERT ON spending BEGIN
    INSERT INTO spent (scope, name, tokens, nano_usd, calls, unpriced)
    VALUES ('day', NEW.day, NEW.tokens, COALESCE(NEW.nano_usd, 0), 1, NEW.nano_usd IS NULL AND NEW.tokens > 0),
        ('session', NEW.session, NEW.tokens, COALESCE(NEW.nano_usd, 0), 0, 0)
    ON CONFLICT (scope, name) DO UPDATE SET tokens = tokens + excluded.tokens, nano_usd = nano_usd + excluded.nano_usd,
        calls = calls + excluded.calls, unpriced = unpriced + excluded.unpriced;
END;

CREATE TRIGGER spending_settled AFTER UPDATE OF tokens, nano_usd ON spending BEGIN
    UPDATE spent SET tokens = tokens + NEW.tokens - OLD.tokens, nano_usd = nano_usd + COALESCE(NEW.nano_usd, 0) - COALESCE(OLD.nano_usd, 0),
        unpriced = unpriced + (scope = 'day') * ((NEW.nano_usd IS NULL AND NEW.tokens > 0) - (OLD.nano_usd IS NULL AND OLD.tokens > 0))
    WHERE (scope = 'day' AND name = NEW.day) OR (scope = 'session' AND name = NEW.session);
END;
