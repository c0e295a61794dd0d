-- Tools that a person has allowed once for all, in one conversation.
CREATE TABLE allowed_tools (
    user_id         TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    tool            TEXT NOT NULL,
    PRIMARY KEY (conversation_id, tool)
) STRICT, WITHOUT ROWID;
