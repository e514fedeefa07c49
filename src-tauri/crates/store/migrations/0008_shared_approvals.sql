-- Whether the gateways that share its session decide the approval together: then no other process decides it alone.

ALTER TABLE approval ADD COLUMN shared INTEGER NOT NULL DEFAULT 0;
