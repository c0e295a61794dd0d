-- What the person has accepted and rejected of what was made for the panel. It stands beside the payloads, whose rows are long.
CREATE TABLE payload_verdicts (
    user_id         TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    payload_id      TEXT NOT NULL,
    -- accepted or rejected
    verdict         TEXT NOT NULL,
    -- Where in the log it stands: their order.
    position        INTEGER NOT NULL,
    PRIMARY KEY (conversation_id, payload_id),
    FOREIGN KEY (conversation_id, payload_id) REFERENCES payloads (conversation_id, id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;
