-- The processes that work on this database at the same time. A row is a lease: its owner can store nothing once it is gone.
CREATE TABLE nodes (
    id         TEXT COLLATE "C" PRIMARY KEY,
    -- The time of the database, in milliseconds since 1970.
    expires_at BIGINT NOT NULL
);

-- The numbers of changes that other nodes have in memory, by kind.
CREATE TABLE node_changes (
    kind   TEXT COLLATE "C" PRIMARY KEY,
    number BIGINT NOT NULL
);
