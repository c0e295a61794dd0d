-- Accounts that are being deleted. The next start goes on with what a crash has interrupted.
CREATE TABLE pending_deletions (
    user_id         TEXT PRIMARY KEY REFERENCES accounts (user_id) ON DELETE CASCADE,
    -- The user who gets the conversations, the files and the library; null if they are deleted.
    heir            TEXT,
    -- The administrator, for the audit log.
    actor           TEXT NOT NULL,
    address         TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- The user below whose folder the content is, if that is another one: the file was handed over.
ALTER TABLE files ADD COLUMN stored_by TEXT;

DROP TRIGGER note_deleted_file;
CREATE TRIGGER note_deleted_file AFTER DELETE ON files
WHEN NOT EXISTS (SELECT 1 FROM files WHERE stored_name = OLD.stored_name) BEGIN
    INSERT OR IGNORE INTO deleted_files (stored_name, user_id, stored_in)
        VALUES (OLD.stored_name, coalesce(OLD.stored_by, OLD.user_id), OLD.stored_in);
END;
