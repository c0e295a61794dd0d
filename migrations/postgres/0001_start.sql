-- The schema of Postgres. It begins with the tables that SQLite has after its migration 0030; a later migration of SQLite has one of
-- the same number here. Ids are UUIDs as text, times are milliseconds since 1970 in UTC, JSON is text. Texts are compared by their
-- bytes, as in SQLite. U+0000 is stored in another form (crates/storage/src/sql/database/escape.rs).

-- Functions that SQLite has, with the same meaning: so most statements are written once.

CREATE FUNCTION max(BIGINT, BIGINT) RETURNS BIGINT LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT greatest($1, $2)';
CREATE FUNCTION min(BIGINT, BIGINT) RETURNS BIGINT LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT least($1, $2)';
CREATE FUNCTION iif(BOOLEAN, BIGINT, BIGINT) RETURNS BIGINT LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS 'SELECT CASE WHEN $1 THEN $2 ELSE $3 END';
-- A column has values of its type only.
CREATE FUNCTION typeof(BIGINT) RETURNS TEXT LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$SELECT CASE WHEN $1 IS NULL THEN 'null' ELSE 'integer' END$$;
CREATE FUNCTION instr(TEXT, TEXT) RETURNS BIGINT LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT CAST(strpos($1, $2) AS BIGINT)';
-- Nobody but Parlor writes JSON here, and Postgres checks its pages.
CREATE FUNCTION json_valid(TEXT) RETURNS BOOLEAN LANGUAGE sql IMMUTABLE PARALLEL SAFE AS 'SELECT $1 IS NOT NULL';
-- The items of a list of texts, which is an array here.
CREATE FUNCTION json_each(TEXT[]) RETURNS TABLE (key BIGINT, value TEXT) LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS 'SELECT number - 1, item FROM unnest($1) WITH ORDINALITY AS items (item, number)';
-- The value at a path such as $.usage.totals. No statement reads a text with U+0000 in this way, but such may be beside it, and
-- Postgres refuses to look into a JSON text that has one.
CREATE FUNCTION readable_json(TEXT) RETURNS JSON LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$SELECT CAST(replace($1, '\u0000', '\u0001') AS JSON)$$;
CREATE FUNCTION json_extract(TEXT, TEXT) RETURNS TEXT LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$SELECT readable_json($1) #>> string_to_array(substr($2, 3), '.')$$;
CREATE FUNCTION json_item(TEXT, INTEGER) RETURNS TEXT LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$SELECT readable_json($1) ->> $2$$;
CREATE OPERATOR ->> (LEFTARG = TEXT, RIGHTARG = TEXT, FUNCTION = json_extract);
CREATE OPERATOR ->> (LEFTARG = TEXT, RIGHTARG = INTEGER, FUNCTION = json_item);

-- The index of a passage: see search_documents.
CREATE FUNCTION search_lexemes(tags TEXT, words TEXT, parts TEXT, file TEXT) RETURNS TSVECTOR LANGUAGE sql IMMUTABLE PARALLEL SAFE
    AS $$SELECT array_to_tsvector(array_remove(string_to_array(
        '@' || replace($1, ' ', ' @') || $2 || $3 || $4 || replace($4, ' ', ' /'), ' '), ''))$$;

-- The tables.

CREATE TABLE users (
    id          TEXT COLLATE "C" PRIMARY KEY,
    -- The position of the last event in the user's log.
    position    BIGINT NOT NULL,
    -- The position of the last event that was trimmed from it: what is at or before it can't be replayed.
    trimmed     BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE conversations (
    id          TEXT COLLATE "C" PRIMARY KEY,
    user_id     TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    title       TEXT COLLATE "C" NOT NULL,
    -- The model of the next answer, as endpoint/model.
    model       TEXT COLLATE "C",
    -- The message at the end of the branch that is shown.
    active_leaf TEXT COLLATE "C",
    created_at  BIGINT NOT NULL,
    -- The last activity, and where in the log it stands: the list's order, since positions never tie.
    updated_at  BIGINT NOT NULL,
    activity    BIGINT NOT NULL,
    -- Whether a run has ended in it, other than by a person's stop, and nobody has opened it since.
    unseen      BIGINT NOT NULL DEFAULT 0,
    parameters TEXT COLLATE "C",
    queue_held BIGINT NOT NULL DEFAULT 0
);

CREATE INDEX conversations_by_activity ON conversations (user_id, activity DESC);

CREATE TABLE deleted_conversations (
    id          TEXT COLLATE "C" PRIMARY KEY,
    user_id     TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    deleted_at  BIGINT NOT NULL
);

CREATE TABLE messages (
    id              TEXT COLLATE "C" PRIMARY KEY,
    user_id         TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    conversation_id TEXT COLLATE "C" NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    parent_id       TEXT COLLATE "C" REFERENCES messages (id) ON DELETE CASCADE,
    -- Where in the log the message was made: the order of messages, unlike times, never ties.
    position        BIGINT NOT NULL,
    created_at      BIGINT NOT NULL,
    -- protocol::MessageBody as JSON.
    body            TEXT COLLATE "C" NOT NULL
);

CREATE INDEX messages_of_conversation ON messages (conversation_id, position);

CREATE INDEX messages_of_parent ON messages (parent_id);

CREATE TABLE runs (
    -- The id of the assistant message that the run produces.
    id              TEXT COLLATE "C" PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
    user_id         TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    conversation_id TEXT COLLATE "C" NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    status          TEXT COLLATE "C" NOT NULL,
    -- Where in the log the run begins (since it was last continued) and, once it has ended, ends. What it had produced
    -- before it was continued is in its message.
    first_position  BIGINT NOT NULL,
    last_position   BIGINT,
    stored_position BIGINT NOT NULL DEFAULT 0,
    force_tools TEXT COLLATE "C",
    counted_input BIGINT NOT NULL DEFAULT 0,
    counted_output BIGINT NOT NULL DEFAULT 0,
    counted_cost BIGINT NOT NULL DEFAULT 0
);

CREATE INDEX runs_of_conversation ON runs (conversation_id);

CREATE UNIQUE INDEX one_active_run_per_conversation ON runs (conversation_id)
    WHERE status IN ('running', 'waiting');

CREATE TABLE events (
    user_id         TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    position        BIGINT NOT NULL,
    conversation_id TEXT COLLATE "C" NOT NULL,
    -- The run that the event belongs to.
    message_id      TEXT COLLATE "C",
    created_at      BIGINT NOT NULL,
    -- protocol::Event as JSON, as it goes over the wire.
    event           TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (user_id, position)
);

CREATE INDEX events_of_run ON events (message_id, position) WHERE message_id IS NOT NULL;

CREATE INDEX events_of_no_run ON events (conversation_id) WHERE message_id IS NULL;

CREATE TABLE intents (
    user_id         TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    id              TEXT COLLATE "C" NOT NULL,
    -- A hash of the request, to tell the same one from another under the same id.
    fingerprint     TEXT COLLATE "C" NOT NULL,
    -- protocol::intent::Started as JSON.
    started         TEXT COLLATE "C" NOT NULL,
    created_at      BIGINT NOT NULL,
    PRIMARY KEY (user_id, id)
);

CREATE INDEX intents_by_age ON intents (created_at);

CREATE TABLE memories (
    -- Made later, sorted later.
    id          TEXT COLLATE "C" PRIMARY KEY,
    user_id     TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    text        TEXT COLLATE "C" NOT NULL,
    created_at  BIGINT NOT NULL
);

CREATE INDEX memories_of_user ON memories (user_id, id);

CREATE TABLE payloads (
    user_id         TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    conversation_id TEXT COLLATE "C" NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    -- Short, since the model has to repeat it: unique in its conversation.
    id              TEXT COLLATE "C" NOT NULL,
    -- The run that made it.
    message_id      TEXT COLLATE "C" NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    -- Its type: decides how it is shown.
    kind            TEXT COLLATE "C" NOT NULL,
    -- One line about it.
    summary         TEXT COLLATE "C" NOT NULL,
    -- JSON.
    data            TEXT COLLATE "C" NOT NULL,
    created_at      BIGINT NOT NULL,
    PRIMARY KEY (conversation_id, id)
);

CREATE INDEX payloads_of_message ON payloads (message_id);

CREATE TABLE allowed_tools (
    user_id         TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    conversation_id TEXT COLLATE "C" NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    tool            TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (conversation_id, tool)
);

CREATE TABLE summaries (
    user_id         TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    conversation_id TEXT COLLATE "C" NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    -- The last message that is in it. Branches that have it have the summary too.
    message_id      TEXT COLLATE "C" PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
    text            TEXT COLLATE "C" NOT NULL,
    created_at      BIGINT NOT NULL
);

CREATE INDEX summaries_of_conversation ON summaries (conversation_id);

CREATE TABLE model_calls (
    -- The run that made the call.
    message_id      TEXT COLLATE "C" NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    -- Made later, sorted later.
    id              TEXT COLLATE "C" NOT NULL,
    user_id         TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    conversation_id TEXT COLLATE "C" NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    -- What was sent, as JSON (diagnostics::record::Request); written once.
    request         TEXT COLLATE "C" NOT NULL,
    -- What came of it so far, as JSON (diagnostics::record::Response).
    response        TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (message_id, id)
);

CREATE INDEX model_calls_of_conversation ON model_calls (conversation_id, message_id);

CREATE TABLE payload_verdicts (
    user_id         TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    conversation_id TEXT COLLATE "C" NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    payload_id      TEXT COLLATE "C" NOT NULL,
    -- accepted or rejected
    verdict         TEXT COLLATE "C" NOT NULL,
    -- Where in the log it stands: their order.
    position        BIGINT NOT NULL,
    fields          TEXT COLLATE "C",
    PRIMARY KEY (conversation_id, payload_id),
    FOREIGN KEY (conversation_id, payload_id) REFERENCES payloads (conversation_id, id) ON DELETE CASCADE
);

CREATE TABLE articles (
    user_id     TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    -- Its number in PubMed.
    pmid        TEXT COLLATE "C" NOT NULL,
    title       TEXT COLLATE "C" NOT NULL,
    -- A JSON array.
    authors     TEXT COLLATE "C" NOT NULL,
    journal     TEXT COLLATE "C" NOT NULL,
    -- As PubMed writes it: the year, and perhaps more.
    published   TEXT COLLATE "C" NOT NULL,
    doi         TEXT COLLATE "C",
    -- The abstract's paragraphs, as a JSON array.
    summary     TEXT COLLATE "C" NOT NULL,
    -- What the person has written about it.
    note        TEXT COLLATE "C" NOT NULL,
    saved_at    BIGINT NOT NULL,
    PRIMARY KEY (user_id, pmid)
);

CREATE TABLE streams (
    id           TEXT COLLATE "C" PRIMARY KEY,
    user_id      TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name         TEXT COLLATE "C" NOT NULL,
    query        TEXT COLLATE "C" NOT NULL,
    -- What the assistant is to mind there.
    instructions TEXT COLLATE "C" NOT NULL,
    purpose TEXT COLLATE "C" NOT NULL DEFAULT '',
    schema TEXT COLLATE "C" NOT NULL DEFAULT '[]',
    categories TEXT COLLATE "C" NOT NULL DEFAULT '[]'
);

CREATE INDEX streams_of_user ON streams (user_id);

CREATE TABLE contexts (
    message_id   TEXT COLLATE "C" PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
    user_id      TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    -- protocol::PageContext as JSON.
    context      TEXT COLLATE "C" NOT NULL,
    text         TEXT COLLATE "C" NOT NULL,
    instructions TEXT COLLATE "C" NOT NULL
);

CREATE TABLE attachments (
    id              TEXT COLLATE "C" PRIMARY KEY,
    user_id         TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    conversation_id TEXT COLLATE "C" NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    -- The run whose tool gave it.
    message_id      TEXT COLLATE "C" NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    name            TEXT COLLATE "C" NOT NULL,
    media_type      TEXT COLLATE "C" NOT NULL,
    data            BYTEA NOT NULL,
    created_at      BIGINT NOT NULL
);

CREATE INDEX attachments_of_message ON attachments (message_id);

CREATE INDEX attachments_of_conversation ON attachments (conversation_id);

CREATE TABLE instructions (
    user_id     TEXT COLLATE "C" PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    text        TEXT COLLATE "C" NOT NULL
);

CREATE TABLE api_tokens (
    -- Made later, sorted later.
    id              TEXT COLLATE "C" PRIMARY KEY,
    user_id         TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name            TEXT COLLATE "C" NOT NULL,
    -- Its SHA-256. It has 256 random bits, so that salt and stretching would add nothing.
    hash            BYTEA NOT NULL UNIQUE,
    -- Its first characters, for the person to tell it by.
    beginning       TEXT COLLATE "C" NOT NULL,
    created_at      BIGINT NOT NULL,
    expires_at      BIGINT,
    last_used_at    BIGINT
);

CREATE INDEX api_tokens_of_user ON api_tokens (user_id, id);

CREATE TABLE opaque (
    message_id      TEXT COLLATE "C" NOT NULL REFERENCES messages (id) ON DELETE CASCADE,
    -- The order in which it came.
    number          BIGINT NOT NULL,
    user_id         TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    conversation_id TEXT COLLATE "C" NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    -- The place in the message; without a part it belongs to the node as a whole.
    node            BIGINT NOT NULL,
    part            BIGINT,
    -- Who said it, by the name in the settings, and which kind of endpoint that is.
    endpoint        TEXT COLLATE "C" NOT NULL,
    kind            TEXT COLLATE "C" NOT NULL,
    -- The field in which it came, and its JSON as it came.
    field           TEXT COLLATE "C" NOT NULL,
    value           TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (message_id, number)
);

CREATE INDEX opaque_of_conversation ON opaque (conversation_id);

CREATE TABLE queued_messages (
    -- The id that the user's message will have.
    id              TEXT COLLATE "C" PRIMARY KEY,
    user_id         TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    conversation_id TEXT COLLATE "C" NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    -- The order in the queue.
    place           BIGINT NOT NULL,
    -- The id that the run will have.
    run             TEXT COLLATE "C" NOT NULL,
    created_at      BIGINT NOT NULL,
    -- protocol::intent::SendMessage as JSON.
    intent          TEXT COLLATE "C" NOT NULL
);

CREATE INDEX queued_messages_of_conversation ON queued_messages (conversation_id, place);

CREATE INDEX root_messages ON messages (conversation_id) WHERE parent_id IS NULL;

CREATE TABLE hidden_messages (
    message_id      TEXT COLLATE "C" PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
    user_id         TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    conversation_id TEXT COLLATE "C" NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    hidden_at       BIGINT NOT NULL
);

CREATE INDEX hidden_messages_of_conversation ON hidden_messages (conversation_id);

CREATE TABLE files (
    id              TEXT COLLATE "C" PRIMARY KEY,
    user_id         TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    -- Of a conversation that may not have begun: a file is uploaded before its message is sent.
    conversation_id TEXT COLLATE "C" NOT NULL,
    -- The message of the user, which may still wait in the queue, or the run whose tool made the file. Null until a message with
    -- the file is sent.
    message_id      TEXT COLLATE "C",
    -- The order in its message.
    place           BIGINT NOT NULL DEFAULT 0,
    -- The random name of the file with the content. Versions of a message share it, and so do branches.
    stored_name     TEXT COLLATE "C" NOT NULL,
    -- The conversation below which the content is. A branch has the contents of the conversation that it was copied from.
    stored_in       TEXT COLLATE "C" NOT NULL,
    name            TEXT COLLATE "C" NOT NULL,
    media_type      TEXT COLLATE "C" NOT NULL,
    bytes           BIGINT NOT NULL,
    -- Of an image, upright, in pixels.
    width           BIGINT,
    height          BIGINT,
    created_at      BIGINT NOT NULL,
    stored_by TEXT COLLATE "C",
    text_bytes BIGINT,
    problem TEXT COLLATE "C"
);

CREATE INDEX files_of_message ON files (message_id);

CREATE INDEX files_of_conversation ON files (conversation_id);

CREATE INDEX files_by_stored_name ON files (stored_name);

CREATE TABLE deleted_files (
    stored_name     TEXT COLLATE "C" PRIMARY KEY,
    user_id         TEXT COLLATE "C" NOT NULL,
    stored_in       TEXT COLLATE "C" NOT NULL
);

CREATE TABLE accounts (
    user_id         TEXT COLLATE "C" PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    -- Normalized: two names that look the same are the same.
    name            TEXT COLLATE "C" NOT NULL UNIQUE,
    -- The argon2id hash with its parameters and salt (PHC format). Null if a proxy authenticates.
    password        TEXT COLLATE "C",
    role            TEXT COLLATE "C" NOT NULL,
    created_at      BIGINT NOT NULL,
    -- Whether the account may not be used.
    disabled        BIGINT NOT NULL DEFAULT 0
);

CREATE TABLE sessions (
    id              TEXT COLLATE "C" PRIMARY KEY,
    -- The SHA-256 of its secret, which has 256 random bits.
    hash            BYTEA NOT NULL UNIQUE,
    user_id         TEXT COLLATE "C" NOT NULL REFERENCES accounts (user_id) ON DELETE CASCADE,
    -- For the user to recognise it.
    device          TEXT COLLATE "C" NOT NULL,
    address         TEXT COLLATE "C" NOT NULL,
    created_at      BIGINT NOT NULL,
    last_used_at    BIGINT NOT NULL,
    -- The milliseconds without use after which it ends, and the time at which it ends in any case.
    idle_ms         BIGINT NOT NULL,
    expires_at      BIGINT NOT NULL,
    method TEXT COLLATE "C" NOT NULL DEFAULT 'password'
);

CREATE INDEX sessions_of_user ON sessions (user_id, id);

CREATE TABLE invitations (
    id              TEXT COLLATE "C" PRIMARY KEY,
    hash            BYTEA NOT NULL UNIQUE,
    -- The account that gets a new password; null for an invitation.
    user_id         TEXT COLLATE "C" REFERENCES accounts (user_id) ON DELETE CASCADE,
    -- The role of an invited account.
    role            TEXT COLLATE "C" NOT NULL,
    created_at      BIGINT NOT NULL,
    expires_at      BIGINT NOT NULL,
    made_by TEXT COLLATE "C" REFERENCES accounts (user_id) ON DELETE CASCADE
);

CREATE INDEX invitations_of_user ON invitations (user_id);

CREATE TABLE identities (
    issuer          TEXT COLLATE "C" NOT NULL,
    subject         TEXT COLLATE "C" NOT NULL,
    user_id         TEXT COLLATE "C" NOT NULL REFERENCES accounts (user_id) ON DELETE CASCADE,
    created_at      BIGINT NOT NULL,
    PRIMARY KEY (issuer, subject)
);

CREATE INDEX identities_of_user ON identities (user_id);

CREATE TABLE audit_log (
    id              BIGINT GENERATED BY DEFAULT AS IDENTITY PRIMARY KEY,
    at              BIGINT NOT NULL,
    -- Who did it; null if nobody was signed in.
    user_id         TEXT COLLATE "C",
    -- The name of that account then.
    name            TEXT COLLATE "C" NOT NULL,
    action          TEXT COLLATE "C" NOT NULL,
    -- The name of the account that it was done to, or what kind of thing.
    about           TEXT COLLATE "C" NOT NULL,
    address         TEXT COLLATE "C" NOT NULL
);

CREATE INDEX audit_log_by_time ON audit_log (at);

CREATE TABLE shares (
    id              TEXT COLLATE "C" PRIMARY KEY,
    user_id         TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    conversation_id TEXT COLLATE "C" NOT NULL REFERENCES conversations (id) ON DELETE CASCADE,
    -- The SHA-256 of the link's secret, which has 256 random bits and is nowhere. Null for people by name.
    hash            BYTEA UNIQUE,
    -- A snapshot: the title, the last message and the number of its nodes, and the position in the log, as they were then. All
    -- are null if the share is live.
    title           TEXT COLLATE "C",
    leaf_id         TEXT COLLATE "C",
    leaf_nodes      BIGINT,
    position        BIGINT,
    created_at      BIGINT NOT NULL
);

CREATE INDEX shares_of_user ON shares (user_id, id);

CREATE INDEX shares_of_conversation ON shares (conversation_id);

CREATE TABLE share_readers (
    share_id        TEXT COLLATE "C" NOT NULL REFERENCES shares (id) ON DELETE CASCADE,
    user_id         TEXT COLLATE "C" NOT NULL REFERENCES accounts (user_id) ON DELETE CASCADE,
    PRIMARY KEY (share_id, user_id)
);

CREATE INDEX shares_of_reader ON share_readers (user_id);

CREATE TABLE daily_usage (
    user_id         TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    -- The days since 1970-01-01 (UTC).
    day             BIGINT NOT NULL,
    -- The answers that were begun.
    runs            BIGINT NOT NULL DEFAULT 0,
    input_tokens    BIGINT NOT NULL DEFAULT 0,
    output_tokens   BIGINT NOT NULL DEFAULT 0,
    -- In billionths of a US dollar.
    cost            BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, day)
);

CREATE INDEX daily_usage_by_day ON daily_usage (day);

CREATE TABLE pending_deletions (
    user_id         TEXT COLLATE "C" PRIMARY KEY REFERENCES accounts (user_id) ON DELETE CASCADE,
    -- The user who gets the conversations, the files and the library; null if they are deleted.
    heir            TEXT COLLATE "C",
    -- The administrator, for the audit log.
    actor           TEXT COLLATE "C" NOT NULL,
    address         TEXT COLLATE "C" NOT NULL
);

CREATE TABLE endpoints (
    id              TEXT COLLATE "C" PRIMARY KEY,
    -- The only user who may use it. Null if everybody may.
    user_id         TEXT COLLATE "C" REFERENCES users (id) ON DELETE CASCADE,
    -- The first half of its models' ids.
    name            TEXT COLLATE "C" NOT NULL,
    kind            TEXT COLLATE "C" NOT NULL,
    base_url        TEXT COLLATE "C" NOT NULL,
    -- Sealed with a key that is not in the database. Null without a key.
    key             BYTEA,
    -- Its models by name, and the listed ones that are not offered (JSON arrays).
    models          TEXT COLLATE "C" NOT NULL,
    hidden_models   TEXT COLLATE "C" NOT NULL,
    enabled         BIGINT NOT NULL,
    -- Its place in the list.
    place           BIGINT NOT NULL,
    created_at      BIGINT NOT NULL,
    updated_by      TEXT COLLATE "C" NOT NULL,
    updated_at      BIGINT NOT NULL,
    takes_own_keys BIGINT NOT NULL DEFAULT 0
);

CREATE UNIQUE INDEX endpoints_by_name ON endpoints (coalesce(user_id, ''), name);

CREATE INDEX endpoints_of_user ON endpoints (user_id);

CREATE TABLE server_options (
    name    TEXT COLLATE "C" PRIMARY KEY,
    value   TEXT COLLATE "C" NOT NULL
);

CREATE TABLE search_documents (
    -- The second of the text's time, times 2^20, and a number within it: the order of hits.
    id              BIGINT PRIMARY KEY,
    user_id         TEXT COLLATE "C" NOT NULL,
    -- What has the text: a message, a conversation (its title), a file, or an article (user/pmid).
    source          TEXT COLLATE "C" NOT NULL,
    -- The number of the passage in its text; of a file, the name is 0.
    passage         BIGINT NOT NULL,
    -- protocol::HitKind
    kind            TEXT COLLATE "C" NOT NULL,
    conversation_id TEXT COLLATE "C",
    message_id      TEXT COLLATE "C",
    -- Words that no text has: the user, the kind, the author, the conversation.
    tags            TEXT COLLATE "C" NOT NULL,
    words           TEXT COLLATE "C" NOT NULL,
    -- Parts of words, and the words of a file's name.
    parts           TEXT COLLATE "C" NOT NULL,
    file            TEXT COLLATE "C" NOT NULL,
    -- The text of a file, which is not in the database otherwise.
    text            TEXT COLLATE "C",
    -- The words of all columns: those of tags begin with @, and those of a file's name are there with a / before them, too.
    lexemes         TSVECTOR GENERATED ALWAYS AS (search_lexemes(tags, words, parts, file)) STORED
);

CREATE INDEX search_documents_of_source ON search_documents (source, passage);

CREATE TABLE search_pending (
    -- message, title, file, text (of a file) or article
    kind            TEXT COLLATE "C" NOT NULL,
    source          TEXT COLLATE "C" NOT NULL,
    is_new          BIGINT NOT NULL,
    PRIMARY KEY (kind, source)
);

CREATE INDEX new_search_pending ON search_pending (is_new) WHERE is_new = 1;

CREATE TABLE chat_search (
    user_id         TEXT COLLATE "C" PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE
);

CREATE INDEX search_documents_by_lexemes ON search_documents USING gin (lexemes);

-- Whole pages of these tables become free at once, by trimming and by indexing: their space is found again early.
ALTER TABLE events SET (autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.1);
ALTER TABLE search_pending SET (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);
-- A row of each active user changes with every commit: room for its next version beside it.
ALTER TABLE users SET (fillfactor = 50, autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

-- The contents of files go with their messages and conversations.

CREATE FUNCTION delete_files_of_message() RETURNS TRIGGER LANGUAGE plpgsql AS $$BEGIN
    DELETE FROM files WHERE user_id = OLD.user_id AND message_id = OLD.id;
    RETURN NULL;
END$$;
CREATE TRIGGER delete_files_of_message AFTER DELETE ON messages FOR EACH ROW EXECUTE FUNCTION delete_files_of_message();

CREATE FUNCTION delete_files_of_conversation() RETURNS TRIGGER LANGUAGE plpgsql AS $$BEGIN
    DELETE FROM files WHERE user_id = OLD.user_id AND conversation_id = OLD.id;
    RETURN NULL;
END$$;
CREATE TRIGGER delete_files_of_conversation AFTER DELETE ON conversations FOR EACH ROW
    EXECUTE FUNCTION delete_files_of_conversation();

CREATE FUNCTION note_deleted_file() RETURNS TRIGGER LANGUAGE plpgsql AS $$BEGIN
    IF NOT EXISTS (SELECT 1 FROM files WHERE stored_name = OLD.stored_name) THEN
        INSERT INTO deleted_files (stored_name, user_id, stored_in)
            VALUES (OLD.stored_name, coalesce(OLD.stored_by, OLD.user_id), OLD.stored_in) ON CONFLICT DO NOTHING;
    END IF;
    RETURN NULL;
END$$;
CREATE TRIGGER note_deleted_file AFTER DELETE ON files FOR EACH ROW EXECUTE FUNCTION note_deleted_file();

-- What has changed is noted, to be indexed; the words of what is deleted are deleted.

CREATE FUNCTION note_to_index(kind TEXT, source TEXT, is_new BIGINT) RETURNS VOID LANGUAGE sql AS $$
    INSERT INTO search_pending (kind, source, is_new) VALUES ($1, $2, $3)
        ON CONFLICT (kind, source) DO UPDATE SET is_new = excluded.is_new$$;

CREATE FUNCTION forget_words(kinds TEXT[], source TEXT) RETURNS VOID LANGUAGE sql AS $$
    DELETE FROM search_documents d WHERE d.source = $2;
    DELETE FROM search_pending p WHERE p.kind = ANY ($1) AND p.source = $2$$;

-- Answers in progress are indexed at their end.
CREATE FUNCTION index_message() RETURNS TRIGGER LANGUAGE plpgsql AS $$BEGIN
    IF TG_OP = 'INSERT' OR NOT EXISTS (SELECT 1 FROM runs WHERE id = NEW.id AND status IN ('running', 'waiting')) THEN
        PERFORM note_to_index('message', NEW.id, 1);
    END IF;
    RETURN NULL;
END$$;
CREATE TRIGGER index_new_message AFTER INSERT ON messages FOR EACH ROW EXECUTE FUNCTION index_message();
CREATE TRIGGER index_changed_message AFTER UPDATE OF body, user_id ON messages FOR EACH ROW EXECUTE FUNCTION index_message();
CREATE FUNCTION forget_message() RETURNS TRIGGER LANGUAGE plpgsql AS $$BEGIN
    PERFORM forget_words(ARRAY['message'], OLD.id);
    RETURN NULL;
END$$;
CREATE TRIGGER forget_message AFTER DELETE ON messages FOR EACH ROW EXECUTE FUNCTION forget_message();

CREATE FUNCTION index_title() RETURNS TRIGGER LANGUAGE plpgsql AS $$BEGIN
    PERFORM note_to_index('title', NEW.id, 1);
    RETURN NULL;
END$$;
CREATE TRIGGER index_new_title AFTER INSERT ON conversations FOR EACH ROW EXECUTE FUNCTION index_title();
CREATE TRIGGER index_changed_title AFTER UPDATE OF title, user_id ON conversations FOR EACH ROW EXECUTE FUNCTION index_title();
CREATE FUNCTION forget_title() RETURNS TRIGGER LANGUAGE plpgsql AS $$BEGIN
    PERFORM forget_words(ARRAY['title'], OLD.id);
    RETURN NULL;
END$$;
CREATE TRIGGER forget_title AFTER DELETE ON conversations FOR EACH ROW EXECUTE FUNCTION forget_title();

-- A file is found once its message is sent.
CREATE FUNCTION index_file() RETURNS TRIGGER LANGUAGE plpgsql AS $$BEGIN
    PERFORM note_to_index('file', NEW.id, 1), note_to_index('text', NEW.id, 0);
    RETURN NULL;
END$$;
CREATE TRIGGER index_new_file AFTER INSERT ON files FOR EACH ROW WHEN (NEW.message_id IS NOT NULL)
    EXECUTE FUNCTION index_file();
CREATE TRIGGER index_sent_file AFTER UPDATE OF message_id, user_id ON files FOR EACH ROW WHEN (NEW.message_id IS NOT NULL)
    EXECUTE FUNCTION index_file();
CREATE FUNCTION forget_file() RETURNS TRIGGER LANGUAGE plpgsql AS $$BEGIN
    PERFORM forget_words(ARRAY['file', 'text'], OLD.id);
    RETURN NULL;
END$$;
CREATE TRIGGER forget_file AFTER DELETE ON files FOR EACH ROW EXECUTE FUNCTION forget_file();

CREATE FUNCTION index_article() RETURNS TRIGGER LANGUAGE plpgsql AS $$BEGIN
    IF TG_OP = 'UPDATE' THEN
        DELETE FROM search_documents WHERE source = OLD.user_id || '/' || OLD.pmid;
    END IF;
    PERFORM note_to_index('article', NEW.user_id || '/' || NEW.pmid, 1);
    RETURN NULL;
END$$;
CREATE TRIGGER index_new_article AFTER INSERT ON articles FOR EACH ROW EXECUTE FUNCTION index_article();
CREATE TRIGGER index_changed_article AFTER UPDATE OF title, authors, summary, note, user_id ON articles FOR EACH ROW
    EXECUTE FUNCTION index_article();
CREATE FUNCTION forget_article() RETURNS TRIGGER LANGUAGE plpgsql AS $$BEGIN
    PERFORM forget_words(ARRAY['article'], OLD.user_id || '/' || OLD.pmid);
    RETURN NULL;
END$$;
CREATE TRIGGER forget_article AFTER DELETE ON articles FOR EACH ROW EXECUTE FUNCTION forget_article();
