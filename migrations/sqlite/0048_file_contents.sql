-- The contents of files, if `files.store` is "database": several nodes can read them there. Written by Postgres only; a backup of Postgres
-- is a database of SQLite.
CREATE TABLE file_contents (
    stored_name     TEXT NOT NULL,
    -- original, prepared (for models) or picture (of a chart)
    form            TEXT NOT NULL,
    user_id         TEXT NOT NULL,
    -- The conversation of the file when it was stored.
    stored_in       TEXT NOT NULL,
    bytes           INTEGER NOT NULL,
    -- SHA-256 in hexadecimal digits.
    sha256          TEXT NOT NULL,
    created_at      INTEGER NOT NULL,
    PRIMARY KEY (stored_name, form)
) STRICT, WITHOUT ROWID;

CREATE TABLE file_parts (
    stored_name     TEXT NOT NULL,
    form            TEXT NOT NULL,
    -- 0, 1, 2 … All but the last have 1 MiB.
    part            INTEGER NOT NULL,
    user_id         TEXT NOT NULL,
    data            BLOB NOT NULL,
    PRIMARY KEY (stored_name, form, part),
    FOREIGN KEY (stored_name, form) REFERENCES file_contents (stored_name, form) ON DELETE CASCADE
) STRICT;
