-- Jobs: work with a plan of steps (docs/jobs.md).

-- The process that works on an answer.
ALTER TABLE runs ADD COLUMN owner TEXT COLLATE "C";

CREATE TABLE jobs (
    id          TEXT COLLATE "C" PRIMARY KEY,
    user_id     TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    -- The name and the version of the plan.
    kind        TEXT COLLATE "C" NOT NULL,
    version     BIGINT NOT NULL,
    title       TEXT COLLATE "C" NOT NULL,
    -- JSON of the kind's type.
    input       TEXT COLLATE "C" NOT NULL,
    -- A hash of the request, to tell the same one from another under the same id.
    fingerprint TEXT COLLATE "C" NOT NULL,
    -- The model of its steps, as endpoint/model.
    model       TEXT COLLATE "C" NOT NULL,
    -- In billionths of a US dollar.
    cost_limit  BIGINT,
    -- protocol::RunStatus
    status      TEXT COLLATE "C" NOT NULL,
    -- Finished steps, known steps, and the estimated time left in milliseconds.
    done        BIGINT NOT NULL DEFAULT 0,
    total       BIGINT NOT NULL DEFAULT 0,
    left_ms     BIGINT,
    -- protocol::TokenTotals as JSON.
    totals      TEXT COLLATE "C" NOT NULL,
    -- protocol::RunError as JSON: the reason why it waits or did not complete.
    error       TEXT COLLATE "C",
    -- The key of the step whose outcome is unknown.
    waits_for   TEXT COLLATE "C",
    -- JSON of the kind's type.
    result      TEXT COLLATE "C",
    -- The number of times that it was resumed by itself since a step finished.
    resumptions BIGINT NOT NULL DEFAULT 0,
    created_at  BIGINT NOT NULL,
    ended_at    BIGINT,
    -- The process that works on it, and a number that grows each time the job is taken or stopped.
    owner       TEXT COLLATE "C" NOT NULL,
    fence       BIGINT NOT NULL
);

CREATE INDEX jobs_of_user ON jobs (user_id, created_at, id);
CREATE INDEX running_jobs ON jobs (status) WHERE status = 'running';

CREATE TABLE job_steps (
    job_id      TEXT COLLATE "C" NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    -- The same in each replay of the plan.
    key         TEXT COLLATE "C" NOT NULL,
    user_id     TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    -- The order of the first starts.
    number      BIGINT NOT NULL,
    kind        TEXT COLLATE "C" NOT NULL,
    version     BIGINT NOT NULL,
    -- JSON of the step's types. Without output and error the step has no result yet.
    input       TEXT COLLATE "C" NOT NULL,
    output      TEXT COLLATE "C",
    error       TEXT COLLATE "C",
    -- The number of starts.
    attempts    BIGINT NOT NULL DEFAULT 1,
    started_at  BIGINT NOT NULL,
    ended_at    BIGINT,
    PRIMARY KEY (job_id, key)
);

-- The model calls of steps, for the diagnostics.
CREATE TABLE job_calls (
    job_id      TEXT COLLATE "C" NOT NULL REFERENCES jobs (id) ON DELETE CASCADE,
    -- Made later, sorted later.
    id          TEXT COLLATE "C" NOT NULL,
    user_id     TEXT COLLATE "C" NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    step        TEXT COLLATE "C" NOT NULL,
    request     TEXT COLLATE "C" NOT NULL,
    response    TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (job_id, id)
);
