-- The time at which a permission last covered a read. Only reads after this migration are noted.

ALTER TABLE allowance ADD COLUMN last_used_at TEXT;
