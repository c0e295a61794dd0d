-- Keys that users bring of their own, for services that they are offered.

-- Nothing reads it: the audit log has who added a model server.
ALTER TABLE endpoints DROP COLUMN created_by;
-- Users may use a key of their own at this address.
ALTER TABLE endpoints ADD COLUMN takes_own_keys INTEGER NOT NULL DEFAULT 0;

-- What administrators decide in the page for the whole server, by name.
CREATE TABLE server_options (
    name    TEXT PRIMARY KEY,
    value   TEXT NOT NULL
) STRICT, WITHOUT ROWID;
