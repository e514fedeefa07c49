-- Sums of usage by day and by session. Triggers of the ledger update them, so that a limit is checked without summing all calls.

CREATE TABLE spent (
    -- day or session
    scope TEXT NOT NULL,
    name TEXT NOT NULL,
    tokens INTEGER NOT NULL,
    nano_usd INTEGER NOT NULL,
    PRIMARY KEY (scope, name)
) STRICT, WITHOUT ROWID;

INSERT INTO spent SELECT 'day', day, SUM(tokens), SUM(COALESCE(nano_usd, 0)) FROM spending GROUP BY day;
INSERT INTO spent SELECT 'session', session, SUM(tokens), SUM(COALESCE(nano_usd, 0)) FROM spending GROUP BY session;

CREATE TRIGGER spending_entered AFTER INSERT ON spending BEGIN
    INSERT INTO spent (scope, name, tokens, nano_usd)
    VALUES ('day', NEW.day, NEW.tokens, COALESCE(NEW.nano_usd, 0)), ('session', NEW.session, NEW.tokens, COALESCE(NEW.nano_usd, 0))
    ON CONFLICT (scope, name) DO UPDATE SET tokens = tokens + excluded.tokens, nano_usd = nano_usd + excluded.nano_usd;
END;

CREATE TRIGGER spending_settled AFTER UPDATE OF tokens, nano_usd ON spending BEGIN
    UPDATE spent SET tokens = tokens + NEW.tokens - OLD.tokens, nano_usd = nano_usd + COALESCE(NEW.nano_usd, 0) - COALESCE(OLD.nano_usd, 0)
    WHERE (scope = 'day' AND name = NEW.day) OR (scope = 'session' AND name = NEW.session);
END;
