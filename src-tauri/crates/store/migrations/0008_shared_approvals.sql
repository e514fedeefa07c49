-- Whether the gateways that share its session decide it together: then no other process decides it by itself.

ALTER TABLE approval ADD COLUMN shared INTEGER NOT NULL DEFAULT 0;
