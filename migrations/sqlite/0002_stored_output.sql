-- What a run has produced up to here is in its message already: a long answer that is being made need not be put together
-- from all of its events whenever somebody opens it.
ALTER TABLE runs ADD COLUMN stored_position INTEGER NOT NULL DEFAULT 0;
