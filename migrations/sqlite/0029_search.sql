-- Full-text search. The words of a text are cut by Parlor (crates/storage/src/search), so that every database finds the same.

-- Passages of texts: their words, separated by spaces, and what they are found by besides.
CREATE TABLE search_documents (
    -- The second of the text's time, times 2^20, and a number within it: the order of hits.
    id              INTEGER PRIMARY KEY,
    user_id         TEXT NOT NULL,
    -- What has the text: a message, a conversation (its title), a file, or an article (user/pmid).
    source          TEXT NOT NULL,
    -- The number of the passage in its text; of a file, the name is 0.
    passage         INTEGER NOT NULL,
    -- protocol::HitKind
    kind            TEXT NOT NULL,
    conversation_id TEXT,
    message_id      TEXT,
    -- Words that no text has: the user, the kind, the author, the conversation.
    tags            TEXT NOT NULL,
    words           TEXT NOT NULL,
    -- Parts of words, and the words of a file's name.
    parts           TEXT NOT NULL,
    file            TEXT NOT NULL,
    -- The text of a file, which is not in the database otherwise.
    text            TEXT
) STRICT;

CREATE INDEX search_documents_of_source ON search_documents (source, passage);

-- Words and nothing else are in the index, so all but ASCII letters and digits are parts of words.
CREATE VIRTUAL TABLE search_index USING fts5 (
    tags, words, parts, file,
    content = 'search_documents', content_rowid = 'id', tokenize = "ascii tokenchars '+#'"
);
-- A deleted word leaves the index at once, and not with a later merge.
INSERT INTO search_index (search_index, rank) VALUES ('secure-delete', 1);

CREATE TRIGGER index_document AFTER INSERT ON search_documents BEGIN
    INSERT INTO search_index (rowid, tags, words, parts, file) VALUES (NEW.id, NEW.tags, NEW.words, NEW.parts, NEW.file);
END;

CREATE TRIGGER forget_document AFTER DELETE ON search_documents BEGIN
    INSERT INTO search_index (search_index, rowid, tags, words, parts, file)
        VALUES ('delete', OLD.id, OLD.tags, OLD.words, OLD.parts, OLD.file);
END;

-- What is to be indexed: at the end of the transaction that has changed it, or in the background.
CREATE TABLE search_pending (
    -- message, title, file, text (of a file) or article
    kind            TEXT NOT NULL,
    source          TEXT NOT NULL,
    is_new          INTEGER NOT NULL,
    PRIMARY KEY (kind, source)
) STRICT, WITHOUT ROWID;

CREATE INDEX new_search_pending ON search_pending (is_new) WHERE is_new = 1;

-- Answers in progress are indexed at their end.
CREATE TRIGGER index_new_message AFTER INSERT ON messages BEGIN
    INSERT OR REPLACE INTO search_pending (kind, source, is_new) VALUES ('message', CAST(NEW.id AS TEXT), 1);
END;
CREATE TRIGGER index_changed_message AFTER UPDATE OF body, user_id ON messages
WHEN NOT EXISTS (SELECT 1 FROM runs WHERE id = NEW.id AND status IN ('running', 'waiting')) BEGIN
    INSERT OR REPLACE INTO search_pending (kind, source, is_new) VALUES ('message', CAST(NEW.id AS TEXT), 1);
END;
CREATE TRIGGER forget_message AFTER DELETE ON messages BEGIN
    DELETE FROM search_documents WHERE source = OLD.id;
    DELETE FROM search_pending WHERE kind = 'message' AND source = OLD.id;
END;

CREATE TRIGGER index_new_title AFTER INSERT ON conversations BEGIN
    INSERT OR REPLACE INTO search_pending (kind, source, is_new) VALUES ('title', CAST(NEW.id AS TEXT), 1);
END;
CREATE TRIGGER index_changed_title AFTER UPDATE OF title, user_id ON conversations BEGIN
    INSERT OR REPLACE INTO search_pending (kind, source, is_new) VALUES ('title', CAST(NEW.id AS TEXT), 1);
END;
CREATE TRIGGER forget_title AFTER DELETE ON conversations BEGIN
    DELETE FROM search_documents WHERE source = OLD.id;
    DELETE FROM search_pending WHERE kind = 'title' AND source = OLD.id;
END;

-- A file is found once its message is sent.
CREATE TRIGGER index_new_file AFTER INSERT ON files WHEN NEW.message_id IS NOT NULL BEGIN
    INSERT OR REPLACE INTO search_pending (kind, source, is_new) VALUES ('file', CAST(NEW.id AS TEXT), 1), ('text', CAST(NEW.id AS TEXT), 0);
END;
CREATE TRIGGER index_sent_file AFTER UPDATE OF message_id, user_id ON files WHEN NEW.message_id IS NOT NULL BEGIN
    INSERT OR REPLACE INTO search_pending (kind, source, is_new) VALUES ('file', CAST(NEW.id AS TEXT), 1), ('text', CAST(NEW.id AS TEXT), 0);
END;
CREATE TRIGGER forget_file AFTER DELETE ON files BEGIN
    DELETE FROM search_documents WHERE source = OLD.id;
    DELETE FROM search_pending WHERE kind IN ('file', 'text') AND source = OLD.id;
END;

CREATE TRIGGER index_new_article AFTER INSERT ON articles BEGIN
    INSERT OR REPLACE INTO search_pending (kind, source, is_new) VALUES ('article', NEW.user_id || '/' || NEW.pmid, 1);
END;
CREATE TRIGGER index_changed_article AFTER UPDATE OF title, authors, summary, note, user_id ON articles BEGIN
    DELETE FROM search_documents WHERE source = OLD.user_id || '/' || OLD.pmid;
    INSERT OR REPLACE INTO search_pending (kind, source, is_new) VALUES ('article', NEW.user_id || '/' || NEW.pmid, 1);
END;
CREATE TRIGGER forget_article AFTER DELETE ON articles BEGIN
    DELETE FROM search_documents WHERE source = OLD.user_id || '/' || OLD.pmid;
    DELETE FROM search_pending WHERE kind = 'article' AND source = OLD.user_id || '/' || OLD.pmid;
END;

-- Users who let the assistant search their earlier conversations.
CREATE TABLE chat_search (
    user_id         TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE
) STRICT, WITHOUT ROWID;

-- All that there was before is indexed in the background.
INSERT OR IGNORE INTO search_pending (kind, source, is_new) SELECT 'message', CAST(id AS TEXT), 0 FROM messages;
INSERT OR IGNORE INTO search_pending (kind, source, is_new) SELECT 'title', CAST(id AS TEXT), 0 FROM conversations;
INSERT OR IGNORE INTO search_pending (kind, source, is_new) SELECT 'file', CAST(id AS TEXT), 0 FROM files WHERE message_id IS NOT NULL;
INSERT OR IGNORE INTO search_pending (kind, source, is_new) SELECT 'text', CAST(id AS TEXT), 0 FROM files WHERE message_id IS NOT NULL;
INSERT OR IGNORE INTO search_pending (kind, source, is_new) SELECT 'article', user_id || '/' || pmid, 0 FROM articles;
