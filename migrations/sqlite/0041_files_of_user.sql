-- The page Data lists the newest tables among a user's files, and the sidebar asks for one with each page.
CREATE INDEX files_of_user ON files (user_id, created_at);
