-- Files of users and of tools. Their contents are in the data folder, below `files`, by user, conversation and stored name.
CREATE TABLE files (
    id              TEXT PRIMARY KEY,
    user_id         TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    -- Of a conversation that may not have begun: a file is uploaded before its message is sent.
    conversation_id TEXT NOT NULL,
    -- The message of the user, which may still wait in the queue, or the run whose tool made the file. Null until a message with
    -- the file is sent.
    message_id      TEXT,
    -- The order in its message.
    place           INTEGER NOT NULL DEFAULT 0,
    -- The random name of the file with the content. Versions of a message share it, and so do branches.
    stored_name     TEXT NOT NULL,
    -- The conversation below which the content is. A branch has the contents of the conversation that it was copied from.
    stored_in       TEXT NOT NULL,
    name            TEXT NOT NULL,
    media_type      TEXT NOT NULL,
    bytes           INTEGER NOT NULL,
    -- Of an image, upright, in pixels.
    width           INTEGER,
    height          INTEGER,
    created_at      INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX files_of_message ON files (message_id);
CREATE INDEX files_of_conversation ON files (conversation_id);
CREATE INDEX files_by_stored_name ON files (stored_name);

-- Contents whose rows are gone, as long as they are in the data folder.
CREATE TABLE deleted_files (
    stored_name     TEXT PRIMARY KEY,
    user_id         TEXT NOT NULL,
    stored_in       TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TRIGGER delete_files_of_message AFTER DELETE ON messages BEGIN
    DELETE FROM files WHERE user_id = OLD.user_id AND message_id = OLD.id;
END;

CREATE TRIGGER delete_files_of_conversation AFTER DELETE ON conversations BEGIN
    DELETE FROM files WHERE user_id = OLD.user_id AND conversation_id = OLD.id;
END;

CREATE TRIGGER note_deleted_file AFTER DELETE ON files
WHEN NOT EXISTS (SELECT 1 FROM files WHERE stored_name = OLD.stored_name) BEGIN
    INSERT OR IGNORE INTO deleted_files (stored_name, user_id, stored_in)
        VALUES (OLD.stored_name, OLD.user_id, OLD.stored_in);
END;

-- The table `attachments` had the contents of tools' files. Parlor moves its rows at the start and leaves it empty.
