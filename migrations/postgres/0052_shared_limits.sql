-- Works with: 51

-- The uses of each subject of a limit, which all nodes count together. A crash of the database forgets them, so that no use waits for a disk.
CREATE UNLOGGED TABLE limits (
    -- A hash: it may be of the name of an account.
    key     TEXT COLLATE "C" PRIMARY KEY,
    count   BIGINT NOT NULL,
    -- The time of the database, in microseconds since 1970.
    next_at BIGINT NOT NULL
);
CREATE INDEX limits_by_time ON limits (next_at);

-- Facts that nodes tell each other, by kind: the host names under which Parlor was set up, and the hashes of tokens for the setup.
CREATE TABLE node_values (
    kind  TEXT COLLATE "C" NOT NULL,
    value TEXT COLLATE "C" NOT NULL,
    PRIMARY KEY (kind, value)
);

-- The version of the tables that a node knows. A node of an earlier version says nothing.
ALTER TABLE nodes ADD COLUMN tables BIGINT;

-- The number of the last transaction of each node, by which it finds out whether one was committed when the connection was lost. (The numbers
-- of Postgres do not tell: after a crash, it gives those of lost transactions again.)
CREATE TABLE node_commits (
    node   TEXT COLLATE "C" PRIMARY KEY REFERENCES nodes (id) ON DELETE CASCADE,
    number BIGINT NOT NULL
) WITH (fillfactor = 10);
