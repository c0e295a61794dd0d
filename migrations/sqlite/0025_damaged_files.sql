-- The deletion of a file with damaged values must not fail: values that a table does not take reject the statement that deletes.
DROP TRIGGER note_deleted_file;
CREATE TRIGGER note_deleted_file AFTER DELETE ON files
WHEN NOT EXISTS (SELECT 1 FROM files WHERE stored_name = OLD.stored_name) BEGIN
    INSERT OR IGNORE INTO deleted_files (stored_name, user_id, stored_in)
        VALUES (CAST(OLD.stored_name AS TEXT), CAST(coalesce(OLD.stored_by, OLD.user_id) AS TEXT), CAST(OLD.stored_in AS TEXT));
END;
