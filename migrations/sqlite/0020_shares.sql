-- Conversations that others may read: whoever has a link, or people by name. A share that was ended has no row.
CREATE TABLE shares (
    id              TEXT PRIMARY KEY,
    user_id         TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    -- The SHA-256 of the link's secret, which has 256 random bits and is nowhere. Null for people by name.
    hash            BLOB UNIQUE,
    -- A snapshot: the title, the last message and the number of its nodes, and the position in the log, as they were then. All
    -- are null if the share is live.
    title           TEXT,
    leaf_id         TEXT,
    leaf_nodes      INTEGER,
    position        INTEGER,
    created_at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX shares_of_user ON shares (user_id, id);
CREATE INDEX shares_of_conversation ON shares (conversation_id);

-- The people who may read a share.
CREATE TABLE share_readers (
    share_id        TEXT NOT NULL REFERENCES shares (id) ON DELETE CASCADE,
    user_id         TEXT NOT NULL REFERENCES accounts (user_id) ON DELETE CASCADE,
    PRIMARY KEY (share_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX shares_of_reader ON share_readers (user_id);
