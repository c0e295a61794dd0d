-- Messages that the user has deleted, with those that follow them, as long as the deletion can be undone. Then they are erased.
CREATE TABLE hidden_messages (
    message_id      TEXT PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
    user_id         TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    hidden_at       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX hidden_messages_of_conversation ON hidden_messages (conversation_id);
