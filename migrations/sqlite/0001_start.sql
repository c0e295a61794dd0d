-- Ids are UUIDv7 as text, times are milliseconds since 1970 in UTC. Every row says whose it is.

CREATE TABLE users (
    id          TEXT PRIMARY KEY,
    -- The position of the last event in the user's log.
    position    INTEGER NOT NULL,
    -- The position of the last event that was trimmed from it: what is at or before it can't be replayed.
    trimmed     INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE TABLE conversations (
    id          TEXT PRIMARY KEY,
    user_id     TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    title       TEXT NOT NULL,
    -- The model of the next answer, as endpoint/model.
    model       TEXT,
    -- The message at the end of the branch that is shown.
    active_leaf TEXT,
    created_at  INTEGER NOT NULL,
    -- The last activity, and where in the log it stands: the list's order, since positions never tie.
    updated_at  INTEGER NOT NULL,
    activity    INTEGER NOT NULL,
    -- Whether a run has ended in it, other than by a person's stop, and nobody has opened it since.
    unseen      INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;

CREATE INDEX conversations_by_activity ON conversations (user_id, activity DESC);

-- Conversations that are gone, for as long as somebody may not have heard of it and write to them.
CREATE TABLE deleted_conversations (
    id          TEXT PRIMARY KEY,
    user_id     TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    deleted_at  INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

-- An assistant message is here from the start of its run on; its body becomes final with the run's end. Until
-- then the log has what the run produced.
CREATE TABLE messages (
    id              TEXT PRIMARY KEY,
    user_id         TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    parent_id       TEXT REFERENCES messages (id) ON DELETE CASCADE,
    -- Where in the log the message was made: the order of messages, unlike times, never ties.
    position        INTEGER NOT NULL,
    created_at      INTEGER NOT NULL,
    -- protocol::MessageBody as JSON.
    body            TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX messages_of_conversation ON messages (conversation_id, position);
CREATE INDEX messages_of_parent ON messages (parent_id);

CREATE TABLE runs (
    -- The id of the assistant message that the run produces.
    id              TEXT PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
    user_id         TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    conversation_id TEXT NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    status          TEXT NOT NULL,
    -- Where in the log the run begins (since it was last continued) and, once it has ended, ends. What it had produced
    -- before it was continued is in its message.
    first_position  INTEGER NOT NULL,
    last_position   INTEGER
) STRICT, WITHOUT ROWID;

CREATE INDEX runs_of_conversation ON runs (conversation_id);
CREATE UNIQUE INDEX one_active_run_per_conversation ON runs (conversation_id)
    WHERE status IN ('running', 'waiting');

CREATE TABLE events (
    user_id         TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    position        INTEGER NOT NULL,
    conversation_id TEXT NOT NULL,
    -- The run that the event belongs to.
    message_id      TEXT,
    created_at      INTEGER NOT NULL,
    -- protocol::Event as JSON, as it goes over the wire.
    event           TEXT NOT NULL,
    PRIMARY KEY (user_id, position)
) STRICT, WITHOUT ROWID;

-- What a run has produced so far is read from here whenever its conversation is opened.
CREATE INDEX events_of_run ON events (message_id, position) WHERE message_id IS NOT NULL;
-- With the one above: all that is there of a conversation, to empty it.
CREATE INDEX events_of_no_run ON events (conversation_id) WHERE message_id IS NULL;

-- What was asked for under a client's intent id, so that asking again does nothing again.
CREATE TABLE intents (
    user_id         TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    id              TEXT NOT NULL,
    -- A hash of the request, to tell the same one from another under the same id.
    fingerprint     TEXT NOT NULL,
    -- protocol::intent::Started as JSON.
    started         TEXT NOT NULL,
    created_at      INTEGER NOT NULL,
    PRIMARY KEY (user_id, id)
) STRICT, WITHOUT ROWID;

CREATE INDEX intents_by_age ON intents (created_at);
