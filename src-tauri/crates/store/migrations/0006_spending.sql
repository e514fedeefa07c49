-- The usage of a session is looked up in `spent`, so the index of its calls has no reader any more.

DROP INDEX IF EXISTS spending_of_session;
