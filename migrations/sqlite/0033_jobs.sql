-- Jobs: work with a plan of steps (docs/jobs.md).

-- The process that works on an answer.
ALTER TABLE runs ADD COLUMN owner TEXT;

CREATE TABLE jobs (
    id          TEXT PRIMARY KEY,
    user_id     TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    -- The name and the version of the plan.
    kind        TEXT NOT NULL,
    version     INTEGER NOT NULL,
    title       TEXT NOT NULL,
    -- JSON of the kind's type.
    input       TEXT NOT NULL,
    -- A hash of the request, to tell the same one from another under the same id.
    fingerprint TEXT NOT NULL,
    -- The model of its steps, as endpoint/model.
    model       TEXT NOT NULL,
    -- In billionths of a US dollar.
    cost_limit  INTEGER,
    -- protocol::RunStatus
    status      TEXT NOT NULL,
    -- Finished steps, known steps, and the estimated time left in milliseconds.
    done        INTEGER NOT NULL DEFAULT 0,
    total       INTEGER NOT NULL DEFAULT 0,
    left_ms     INTEGER,
    -- protocol::TokenTotals as JSON.
    totals      TEXT NOT NULL,
    -- protocol::RunError as JSON: the reason why it waits or did not complete.
    error       TEXT,
    -- The key of the step whose outcome is unknown.
    waits_for   TEXT,
    -- JSON of the kind's type.
    result      TEXT,
    -- The number of times that it was resumed by itself since a step finished.
    resumptions INTEGER NOT NULL DEFAULT 0,
    created_at  INTEGER NOT NULL,
    ended_at    INTEGER,
    -- The process that works on it, and a number that grows each time the job is taken or stopped.
    owner       TEXT NOT NULL,
    fence       INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX jobs_of_user ON jobs (user_id, created_at, id);
CREATE INDEX running_jobs ON jobs (status) WHERE status = 'running';

CREATE TABLE job_steps (
    job_id      TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    -- The same in each replay of the plan.
    key         TEXT NOT NULL,
    user_id     TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    -- The order of the first starts.
    number      INTEGER NOT NULL,
    kind        TEXT NOT NULL,
    version     INTEGER NOT NULL,
    -- JSON of the step's types. Without output and error the step has no result yet.
    input       TEXT NOT NULL,
    output      TEXT,
    error       TEXT,
    -- The number of starts.
    attempts    INTEGER NOT NULL DEFAULT 1,
    started_at  INTEGER NOT NULL,
    ended_at    INTEGER,
    PRIMARY KEY (job_id, key)
) STRICT, WITHOUT ROWID;

-- The model calls of steps, for the diagnostics.
CREATE TABLE job_calls (
    job_id      TEXT NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    -- Made later, sorted later.
    id          TEXT NOT NULL,
    user_id     TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    step        TEXT NOT NULL,
    request     TEXT NOT NULL,
    response    TEXT NOT NULL,
    PRIMARY KEY (job_id, id)
) STRICT, WITHOUT ROWID;
