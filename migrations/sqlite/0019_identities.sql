-- Users of an OpenID provider. A mail address can pass to somebody else, so it identifies nobody.
CREATE TABLE identities (
    issuer          TEXT NOT NULL,
    subject         TEXT NOT NULL,
    user_id         TEXT NOT NULL REFERENCES accounts (user_id) ON DELETE CASCADE,
    created_at      INTEGER NOT NULL,
    PRIMARY KEY (issuer, subject)
) STRICT, WITHOUT ROWID;

CREATE INDEX identities_of_user ON identities (user_id);

-- How the user signed in: 'password' or 'provider'. A session counts only while that is the way.
ALTER TABLE sessions ADD COLUMN method TEXT NOT NULL DEFAULT 'password';

-- Who did what, without contents and secrets. It outlives the accounts that it names.
CREATE TABLE audit_log (
    id              INTEGER PRIMARY KEY AUTOINCREMENT,
    at              INTEGER NOT NULL,
    -- Who did it; null if nobody was signed in.
    user_id         TEXT,
    -- The name of that account then.
    name            TEXT NOT NULL,
    action          TEXT NOT NULL,
    -- The name of the account that it was done to, or what kind of thing.
    about           TEXT NOT NULL,
    address         TEXT NOT NULL
) STRICT;

CREATE INDEX audit_log_by_time ON audit_log (at);
