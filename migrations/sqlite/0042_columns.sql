-- Columns: questions about the rows of something, such as the saved articles. Jobs fill them (docs/jobs.md).
CREATE TABLE row_columns (
    id           TEXT PRIMARY KEY,
    user_id      TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    -- protocol::columns::ColumnSource: what has the rows.
    source       TEXT NOT NULL,
    -- protocol::columns::Column as JSON.
    definition   TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX row_columns_of_source ON row_columns (user_id, source, id);

-- The cells that a person has corrected.
CREATE TABLE corrected_cells (
    column_id    TEXT NOT NULL REFERENCES row_columns (id) ON DELETE CASCADE,
    -- The key of the row, such as a PMID.
    row_key      TEXT NOT NULL,
    user_id      TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    -- The person's answer; empty if the row has none.
    value        TEXT NOT NULL,
    corrected_at INTEGER NOT NULL,
    PRIMARY KEY (column_id, row_key)
) STRICT, WITHOUT ROWID;

CREATE INDEX corrected_cells_of_user ON corrected_cells (user_id);
