-- Projects: conversations that belong together.
CREATE TABLE projects (
    id          TEXT COLLATE "C" PRIMARY KEY,
    user_id     TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    -- protocol::Project as JSON.
    definition  TEXT COLLATE "C" NOT NULL
);

CREATE INDEX projects_of_user ON projects (user_id);

-- A conversation is in one project or none.
ALTER TABLE conversations ADD COLUMN project_id TEXT COLLATE "C" REFERENCES projects (id) ON DELETE SET NULL;
CREATE INDEX conversations_of_project ON conversations (project_id, activity DESC) WHERE project_id IS NOT NULL;
