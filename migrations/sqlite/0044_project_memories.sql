-- Memories of projects: they are given to the conversations of their project only. Without a project, to all.
ALTER TABLE memories ADD COLUMN project_id TEXT REFERENCES projects (id) ON DELETE CASCADE;
CREATE INDEX memories_of_project ON memories (project_id) WHERE project_id IS NOT NULL;
