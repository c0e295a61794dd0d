-- The newest version of Parlor whose news the user has closed, or with which their first data were stored. Users from before this column
-- have seen none since 0.1.0.
ALTER TABLE users ADD COLUMN seen_version TEXT NOT NULL DEFAULT '0.1.0';
