-- How a conversation's model is asked: protocol::Parameters as JSON. Null while nobody has said anything about it.
ALTER TABLE conversations ADD COLUMN parameters TEXT;

-- Tools that a run's first call of the model has to use: their names as JSON. Null if there are none.
ALTER TABLE runs ADD COLUMN force_tools TEXT;

-- What the model was told in place of the oldest messages, when there was no room for all: made once, and kept.
CREATE TABLE summaries (
    user_id         TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    -- The last message that is in it. Branches that have it have the summary too.
    message_id      TEXT PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
    text            TEXT NOT NULL,
    created_at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX summaries_of_conversation ON summaries (conversation_id);
