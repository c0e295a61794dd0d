-- The text of a document, as models get it, lies beside its content: its size, or the reason why there is none.
ALTER TABLE files ADD COLUMN text_bytes INTEGER;
ALTER TABLE files ADD COLUMN problem TEXT;
