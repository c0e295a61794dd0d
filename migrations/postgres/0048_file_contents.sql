-- The contents of files, if `files.store` is "database": several nodes can read them there.
CREATE TABLE file_contents (
    stored_name     TEXT COLLATE "C" NOT NULL,
    -- original, prepared (for models) or picture (of a chart)
    form            TEXT COLLATE "C" NOT NULL,
    user_id         TEXT COLLATE "C" NOT NULL,
    -- The conversation of the file when it was stored.
    stored_in       TEXT COLLATE "C" NOT NULL,
    bytes           BIGINT NOT NULL,
    -- SHA-256 in hexadecimal digits.
    sha256          TEXT COLLATE "C" NOT NULL,
    created_at      BIGINT NOT NULL,
    PRIMARY KEY (stored_name, form)
);

CREATE TABLE file_parts (
    stored_name     TEXT COLLATE "C" NOT NULL,
    form            TEXT COLLATE "C" NOT NULL,
    -- 0, 1, 2 … All but the last have 1 MiB.
    part            BIGINT NOT NULL,
    user_id         TEXT COLLATE "C" NOT NULL,
    data            BYTEA NOT NULL,
    PRIMARY KEY (stored_name, form, part),
    FOREIGN KEY (stored_name, form) REFERENCES file_contents (stored_name, form) ON DELETE CASCADE
);
-- Most files are compressed already.
ALTER TABLE file_parts ALTER COLUMN data SET STORAGE EXTERNAL;
