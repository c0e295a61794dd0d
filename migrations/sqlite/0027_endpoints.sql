-- Model servers that administrators have added in the page, besides those of the settings.
CREATE TABLE endpoints (
    id              TEXT PRIMARY KEY,
    -- The only user who may use it. Null if everybody may.
    user_id         TEXT REFERENCES users (id) ON DELETE CASCADE,
    -- The first half of its models' ids.
    name            TEXT NOT NULL,
    kind            TEXT NOT NULL,
    base_url        TEXT NOT NULL,
    -- Sealed with a key that is not in the database. Null without a key.
    key             BLOB,
    -- Its models by name, and the listed ones that are not offered (JSON arrays).
    models          TEXT NOT NULL,
    hidden_models   TEXT NOT NULL,
    enabled         INTEGER NOT NULL,
    -- Its place in the list.
    place           INTEGER NOT NULL,
    created_by      TEXT NOT NULL,
    created_at      INTEGER NOT NULL,
    updated_by      TEXT NOT NULL,
    updated_at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE UNIQUE INDEX endpoints_by_name ON endpoints (coalesce(user_id, ''), name);
CREATE INDEX endpoints_of_user ON endpoints (user_id);
