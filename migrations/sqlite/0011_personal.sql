-- What a person wants the assistant to be told in every conversation.
CREATE TABLE instructions (
    user_id     TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    text        TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Tokens with which programs act as a person. The token itself is nowhere.
CREATE TABLE api_tokens (
    -- Made later, sorted later.
    id              TEXT PRIMARY KEY,
    user_id         TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name            TEXT NOT NULL,
    -- Its SHA-256. It has 256 random bits, so that salt and stretching would add nothing.
    hash            BLOB NOT NULL UNIQUE,
    -- Its first characters, for the person to tell it by.
    beginning       TEXT NOT NULL,
    created_at      INTEGER NOT NULL,
    expires_at      INTEGER,
    last_used_at    INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX api_tokens_of_user ON api_tokens (user_id, id);
