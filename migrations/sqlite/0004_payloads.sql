-- What tools and models have made to be shown in a panel. Messages know them by their ids and summaries; what is in them is
-- loaded when somebody looks.
CREATE TABLE payloads (
    user_id         TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    -- Short, since the model has to repeat it: unique in its conversation.
    id              TEXT NOT NULL,
    -- The run that made it.
    message_id      TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    -- Its type: decides how it is shown.
    kind            TEXT NOT NULL,
    -- One line about it.
    summary         TEXT NOT NULL,
    -- JSON.
    data            TEXT NOT NULL,
    created_at      INTEGER NOT NULL,
    PRIMARY KEY (conversation_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX payloads_of_message ON payloads (message_id);
