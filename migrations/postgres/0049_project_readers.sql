-- The people who may read a project of another person.
CREATE TABLE project_readers (
    project_id      TEXT COLLATE "C" NOT NULL REFERENCES projects (id) ON DELETE CASCADE,
    user_id         TEXT COLLATE "C" NOT NULL REFERENCES accounts (user_id) ON DELETE CASCADE,
    added_at        BIGINT NOT NULL,
    PRIMARY KEY (project_id, user_id)
);

CREATE INDEX projects_of_reader ON project_readers (user_id);
