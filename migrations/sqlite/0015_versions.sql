-- The versions of a conversation's first message.
CREATE INDEX root_messages ON messages (conversation_id) WHERE parent_id IS NULL;
