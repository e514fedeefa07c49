-- What a session has used is looked up in `spent`: nothing looks for its calls any more.

DROP INDEX IF EXISTS spending_of_session;
