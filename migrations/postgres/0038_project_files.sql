-- Files of projects: what each of their conversations can read. They are in no message, and in no conversation: its id is nil.
ALTER TABLE files ADD COLUMN project_id TEXT COLLATE "C" REFERENCES projects (id) ON DELETE CASCADE;
CREATE INDEX files_of_project ON files (project_id) WHERE project_id IS NOT NULL;

DROP TRIGGER index_new_file ON files;
DROP TRIGGER index_sent_file ON files;
CREATE TRIGGER index_new_file AFTER INSERT ON files FOR EACH ROW
    WHEN (NEW.message_id IS NOT NULL OR NEW.project_id IS NOT NULL) EXECUTE FUNCTION index_file();
CREATE TRIGGER index_sent_file AFTER UPDATE OF message_id, user_id ON files FOR EACH ROW
    WHEN (NEW.message_id IS NOT NULL OR NEW.project_id IS NOT NULL) EXECUTE FUNCTION index_file();

-- A conversation with that id, which clients choose, has no files of projects.
CREATE OR REPLACE FUNCTION delete_files_of_conversation() RETURNS TRIGGER LANGUAGE plpgsql AS $$BEGIN
    DELETE FROM files WHERE user_id = OLD.user_id AND conversation_id = OLD.id AND project_id IS NULL;
    RETURN NULL;
END$$;
