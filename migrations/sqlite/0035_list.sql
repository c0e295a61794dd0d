-- What a person does with a conversation in the list.
ALTER TABLE conversations ADD COLUMN pinned INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversations ADD COLUMN archived INTEGER NOT NULL DEFAULT 0;
-- It is erased some time after its last activity, and never in the search index.
ALTER TABLE conversations ADD COLUMN temporary INTEGER NOT NULL DEFAULT 0;
-- When it was deleted: it is gone for everybody, and can be restored until it is erased.
ALTER TABLE conversations ADD COLUMN trashed_at INTEGER;

-- The list, the pinned ones of which are on its first page, and the archive.
CREATE INDEX listed_conversations ON conversations (user_id, activity DESC)
    WHERE pinned = 0 AND archived = 0 AND trashed_at IS NULL;
CREATE INDEX pinned_conversations ON conversations (user_id, activity DESC) WHERE pinned <> 0;
CREATE INDEX archived_conversations ON conversations (user_id, activity DESC) WHERE archived <> 0;
CREATE INDEX unseen_conversations ON conversations (user_id) WHERE unseen <> 0;
CREATE INDEX trashed_conversations ON conversations (trashed_at) WHERE trashed_at IS NOT NULL;
-- Those that end by their age.
CREATE INDEX temporary_conversations ON conversations (updated_at) WHERE temporary <> 0;
CREATE INDEX conversations_by_age ON conversations (user_id, updated_at) WHERE pinned = 0;
