-- Files that tools have given: images and whatever else is no text. Messages know them by their ids; what is in them is loaded
-- when somebody looks.
CREATE TABLE attachments (
    id              TEXT PRIMARY KEY,
    user_id         TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    -- The run whose tool gave it.
    message_id      TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    name            TEXT NOT NULL,
    media_type      TEXT NOT NULL,
    data            BLOB NOT NULL,
    created_at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX attachments_of_message ON attachments (message_id);
CREATE INDEX attachments_of_conversation ON attachments (conversation_id);
