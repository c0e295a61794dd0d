-- People who sign in. Without accounts there is one user, who has no row here.
CREATE TABLE accounts (
    user_id         TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    -- Normalized: two names that look the same are the same.
    name            TEXT NOT NULL UNIQUE,
    -- The argon2id hash with its parameters and salt (PHC format). Null if a proxy authenticates.
    password        TEXT,
    role            TEXT NOT NULL,
    created_at      INTEGER NOT NULL,
    -- Whether the account may not be used.
    disabled        INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

-- Signed-in browsers. The secret of a session is nowhere.
CREATE TABLE sessions (
    id              TEXT PRIMARY KEY,
    -- The SHA-256 of its secret, which has 256 random bits.
    hash            BLOB NOT NULL UNIQUE,
    user_id         TEXT NOT NULL REFERENCES accounts (user_id) ON DELETE CASCADE,
    -- For the user to recognise it.
    device          TEXT NOT NULL,
    address         TEXT NOT NULL,
    created_at      INTEGER NOT NULL,
    last_used_at    INTEGER NOT NULL,
    -- The milliseconds without use after which it ends, and the time at which it ends in any case.
    idle_ms         INTEGER NOT NULL,
    expires_at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX sessions_of_user ON sessions (user_id, id);

-- One-time links: invitations, and links for a new password. Their secrets are nowhere.
CREATE TABLE invitations (
    id              TEXT PRIMARY KEY,
    hash            BLOB NOT NULL UNIQUE,
    -- The account that gets a new password; null for an invitation.
    user_id         TEXT REFERENCES accounts (user_id) ON DELETE CASCADE,
    -- The role of an invited account.
    role            TEXT NOT NULL,
    created_at      INTEGER NOT NULL,
    expires_at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX invitations_of_user ON invitations (user_id);
