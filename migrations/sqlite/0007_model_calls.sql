-- How an answer was made: the calls of the model, for who wants to know what was sent and what came back. Nothing is shown
-- to a model from here, and only the newest are kept.
CREATE TABLE model_calls (
    -- The run that made the call.
    message_id      TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    -- Made later, sorted later.
    id              TEXT NOT NULL,
    user_id         TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    -- What was sent, as JSON (diagnostics::record::Request); written once.
    request         TEXT NOT NULL,
    -- What came of it so far, as JSON (diagnostics::record::Response).
    response        TEXT NOT NULL,
    PRIMARY KEY (message_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX model_calls_of_conversation ON model_calls (conversation_id, message_id);
