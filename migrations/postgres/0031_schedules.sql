-- Prompts that are sent at planned times.
CREATE TABLE schedules (
    id          TEXT COLLATE "C" PRIMARY KEY,
    user_id     TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    -- protocol::Schedule as JSON.
    definition  TEXT COLLATE "C" NOT NULL,
    -- The next planned time. Null if the schedule is paused or has ended.
    next_at     BIGINT,
    -- What its user should know; empty if nothing.
    notice      TEXT COLLATE "C" NOT NULL DEFAULT ''
);

CREATE INDEX schedules_of_user ON schedules (user_id);
CREATE INDEX schedules_by_time ON schedules (next_at) WHERE next_at IS NOT NULL;

-- What schedules have sent. The key makes a planned time count once.
CREATE TABLE schedule_runs (
    -- The schedule, which may be deleted since: Undo brings it back.
    schedule_id TEXT COLLATE "C" NOT NULL,
    planned_at  BIGINT NOT NULL,
    user_id     TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    -- The answer, which may be deleted since. Its cost counts in its month all the same.
    run_id      TEXT COLLATE "C" NOT NULL,
    started_at  BIGINT NOT NULL,
    -- In billionths of a dollar.
    cost        BIGINT NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, schedule_id, planned_at)
);

CREATE INDEX schedule_runs_by_start ON schedule_runs (user_id, schedule_id, started_at);
CREATE INDEX schedule_runs_by_run ON schedule_runs (run_id);

CREATE FUNCTION count_schedule_cost() RETURNS TRIGGER LANGUAGE plpgsql AS $$BEGIN
    UPDATE schedule_runs SET cost = NEW.counted_cost WHERE run_id = NEW.id;
    RETURN NULL;
END$$;
CREATE TRIGGER count_schedule_cost AFTER UPDATE OF counted_cost ON runs FOR EACH ROW
    EXECUTE FUNCTION count_schedule_cost();
