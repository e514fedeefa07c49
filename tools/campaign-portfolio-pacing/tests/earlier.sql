-- The database of version 0.1.0: a row of the sample (dataset 0) and imported rows (dataset 1). Amounts are in millionths.
-- Day 739921 is 2026-11-01. Hour -1 is a whole day of the account; other hours are of UTC.
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE accounts (
    key INTEGER PRIMARY KEY, dataset INTEGER NOT NULL, id TEXT NOT NULL, name TEXT NOT NULL, zone TEXT, currency TEXT,
    UNIQUE (dataset, id)
) STRICT;
CREATE TABLE campaigns (
    key INTEGER PRIMARY KEY, account_key INTEGER NOT NULL REFERENCES accounts (key), id TEXT NOT NULL, name TEXT NOT NULL,
    advertiser TEXT NOT NULL, budget INTEGER, flight_start INTEGER, flight_end INTEGER, UNIQUE (account_key, id)
) STRICT;
CREATE TABLE line_items (
    key INTEGER PRIMARY KEY, campaign_key INTEGER NOT NULL REFERENCES campaigns (key), id TEXT NOT NULL, name TEXT NOT NULL,
    UNIQUE (campaign_key, id)
) STRICT;
CREATE TABLE delivery (
    line_item_key INTEGER NOT NULL REFERENCES line_items (key), day INTEGER NOT NULL, hour INTEGER NOT NULL,
    spend INTEGER NOT NULL, impressions INTEGER NOT NULL, PRIMARY KEY (line_item_key, day, hour)
) STRICT, WITHOUT ROWID;

PRAGMA user_version = 1;
INSERT INTO meta VALUES ('active', 'imported'), ('sample_version', '1');
INSERT INTO accounts VALUES
    (1, 0, '17', 'Northwind Outdoor', 'America/Los_Angeles', 'USD'),
    (2, 1, '7', 'Test', 'Europe/Stockholm', 'SEK'),
    (3, 1, '8', 'York', 'America/New_York', 'USD');
INSERT INTO campaigns VALUES
    (1, 1, 'c101', 'Fernhill Boots - Spring Trail', 'Fernhill Boots', 48000000000, -150, -60),
    (2, 2, 'A', 'Oak, all', 'Adv', 600000000, 739890, 739950),
    (3, 3, 'B', '-20 % sale', 'Bolt', 900000000, 739890, 739950);
INSERT INTO line_items VALUES (1, 1, 'c101-1', 'Display'), (2, 2, '1', 'Line'), (3, 3, '1', 'Line');
-- The first hour of account 8 is the evening before in New York.
INSERT INTO delivery VALUES
    (1, -61, -1, 1000000, 10),
    (2, 739920, -1, 12345678, 100),
    (2, 739921, -1, 10000000, 90),
    (3, 739921, 2, 3000000, 30),
    (3, 739921, 12, 4000000, 40);
