-- What the agent is to remember of a person, across conversations.
CREATE TABLE memories (
    -- Made later, sorted later.
    id          TEXT PRIMARY KEY,
    user_id     TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    text        TEXT NOT NULL,
    created_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX memories_of_user ON memories (user_id, id);
