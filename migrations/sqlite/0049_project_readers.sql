-- The people who may read a project of another person.
CREATE TABLE project_readers (
    project_id      TEXT NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    user_id         TEXT NOT NULL REFERENCES accounts (user_id) ON DELETE CASCADE,
    added_at        INTEGER NOT NULL,
    PRIMARY KEY (project_id, user_id)
) STRICT, WITHOUT ROWID;

CREATE INDEX projects_of_reader ON project_readers (user_id);
