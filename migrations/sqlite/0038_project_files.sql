-- Files of projects: what each of their conversations can read. They are in no message, and in no conversation: its id is nil.
ALTER TABLE files ADD COLUMN project_id TEXT REFERENCES projects (id) ON DELETE CASCADE;
CREATE INDEX files_of_project ON files (project_id) WHERE project_id IS NOT NULL;

DROP TRIGGER index_new_file;
DROP TRIGGER index_sent_file;
CREATE TRIGGER index_new_file AFTER INSERT ON files WHEN NEW.message_id IS NOT NULL OR NEW.project_id IS NOT NULL BEGIN
    INSERT OR REPLACE INTO search_pending (kind, source, is_new) VALUES ('file', CAST(NEW.id AS TEXT), 1), ('text', CAST(NEW.id AS TEXT), 0);
END;
CREATE TRIGGER index_sent_file AFTER UPDATE OF message_id, user_id ON files
WHEN NEW.message_id IS NOT NULL OR NEW.project_id IS NOT NULL BEGIN
    INSERT OR REPLACE INTO search_pending (kind, source, is_new) VALUES ('file', CAST(NEW.id AS TEXT), 1), ('text', CAST(NEW.id AS TEXT), 0);
END;

-- A conversation with that id, which clients choose, has no files of projects.
DROP TRIGGER delete_files_of_conversation;
CREATE TRIGGER delete_files_of_conversation AFTER DELETE ON conversations BEGIN
    DELETE FROM files WHERE user_id = OLD.user_id AND conversation_id = OLD.id AND project_id IS NULL;
END;
