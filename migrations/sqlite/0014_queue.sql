-- Messages that wait for the end of their conversation's run. Each becomes one message of the user.
CREATE TABLE queued_messages (
    -- The id that the user's message will have.
    id              TEXT PRIMARY KEY,
    user_id         TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    -- The order in the queue.
    place           INTEGER NOT NULL,
    -- The id that the run will have.
    run             TEXT NOT NULL,
    created_at      INTEGER NOT NULL,
    -- protocol::intent::SendMessage as JSON.
    intent          TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX queued_messages_of_conversation ON queued_messages (conversation_id, place);

-- Whether the queue waits for the user, because the last run was stopped, failed or was interrupted.
ALTER TABLE conversations ADD COLUMN queue_held INTEGER NOT NULL DEFAULT 0;
