-- A job that has ended, or waits for a decision, since its user last looked at it.
ALTER TABLE jobs ADD COLUMN unseen bigint NOT NULL DEFAULT 0;
