-- What the answers of users have used, by day.
CREATE TABLE daily_usage (
    user_id         TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    -- The days since 1970-01-01 (UTC).
    day             INTEGER NOT NULL,
    -- The answers that were begun.
    runs            INTEGER NOT NULL DEFAULT 0,
    input_tokens    INTEGER NOT NULL DEFAULT 0,
    output_tokens   INTEGER NOT NULL DEFAULT 0,
    -- In billionths of a US dollar.
    cost            INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY (user_id, day)
) STRICT, WITHOUT ROWID;

CREATE INDEX daily_usage_by_day ON daily_usage (day);

-- The part of an answer's usage that is counted in its day. An answer reports sums.
ALTER TABLE runs ADD COLUMN counted_input INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN counted_output INTEGER NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN counted_cost INTEGER NOT NULL DEFAULT 0;
