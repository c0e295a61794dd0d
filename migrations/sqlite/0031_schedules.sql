-- Prompts that are sent at planned times.
CREATE TABLE schedules (
    id          TEXT PRIMARY KEY,
    user_id     TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    -- protocol::Schedule as JSON.
    definition  TEXT NOT NULL,
    -- The next planned time. Null if the schedule is paused or has ended.
    next_at     INTEGER,
    -- What its user should know; empty if nothing.
    notice      TEXT NOT NULL DEFAULT ''
) STRICT, WITHOUT ROWID;

CREATE INDEX schedules_of_user ON schedules (user_id);
CREATE INDEX schedules_by_time ON schedules (next_at) WHERE next_at IS NOT NULL;

-- What schedules have sent. The key makes a planned time count once.
CREATE TABLE schedule_runs (
    -- The schedule, which may be deleted since: Undo brings it back.
    schedule_id TEXT NOT NULL,
    planned_at  INTEGER NOT NULL,
    user_id     TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    -- The answer, which may be deleted since. Its cost counts in its month all the same.
    run_id      TEXT NOT NULL,
    started_at  INTEGER NOT NULL,
    -- In billionths of a dollar.
    cost        INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, schedule_id, planned_at)
) STRICT, WITHOUT ROWID;

CREATE INDEX schedule_runs_by_start ON schedule_runs (user_id, schedule_id, started_at);
CREATE INDEX schedule_runs_by_run ON schedule_runs (run_id);

-- A damaged cost is none.
CREATE TRIGGER count_schedule_cost AFTER UPDATE OF counted_cost ON runs WHEN typeof(NEW.counted_cost) = 'integer'
BEGIN
    UPDATE schedule_runs SET cost = NEW.counted_cost WHERE run_id = NEW.id;
END;
