-- What only the provider of a model understands of an answer (signatures, encrypted thoughts): kept beside the part that it belongs
-- to and sent back to the same endpoint alone. It is in no message and no event, so nobody is shown it. Answers from before have
-- none.
CREATE TABLE opaque (
    message_id      TEXT NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    -- The order in which it came.
    number          INTEGER NOT NULL,
    user_id         TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    -- The place in the message; without a part it belongs to the node as a whole.
    node            INTEGER NOT NULL,
    part            INTEGER,
    -- Who said it, by the name in the settings, and which kind of endpoint that is.
    endpoint        TEXT NOT NULL,
    kind            TEXT NOT NULL,
    -- The field in which it came, and its JSON as it came.
    field           TEXT NOT NULL,
    value           TEXT NOT NULL,
    PRIMARY KEY (message_id, number)
) STRICT, WITHOUT ROWID;

CREATE INDEX opaque_of_conversation ON opaque (conversation_id);
