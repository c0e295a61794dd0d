-- Works with: 52

-- The only process that works on this database, and the number of its last transaction. A later process deletes the row: the earlier one can
-- store nothing more, and knows which of its transactions are stored. (Nodes have rows in nodes and node_commits.)
CREATE TABLE process_commits (
    process TEXT COLLATE "C" PRIMARY KEY,
    number  BIGINT NOT NULL
) WITH (fillfactor = 10);
