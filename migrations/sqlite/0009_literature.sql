-- Articles that a person keeps.
CREATE TABLE articles (
    user_id     TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    -- Its number in PubMed.
    pmid        TEXT NOT NULL,
    title       TEXT NOT NULL,
    -- A JSON array.
    authors     TEXT NOT NULL,
    journal     TEXT NOT NULL,
    -- As PubMed writes it: the year, and perhaps more.
    published   TEXT NOT NULL,
    doi         TEXT,
    -- The abstract's paragraphs, as a JSON array.
    summary     TEXT NOT NULL,
    -- What the person has written about it.
    note        TEXT NOT NULL,
    saved_at    INTEGER NOT NULL,
    PRIMARY KEY (user_id, pmid)
) STRICT, WITHOUT ROWID;

-- Streams of research: queries that are kept.
CREATE TABLE streams (
    id           TEXT PRIMARY KEY,
    user_id      TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    name         TEXT NOT NULL,
    query        TEXT NOT NULL,
    -- What the assistant is to mind there.
    instructions TEXT NOT NULL
) STRICT, WITHOUT ROWID;

CREATE INDEX streams_of_user ON streams (user_id);

-- What a person was looking at when they wrote a message, as the model was told of it: whenever the message is answered, it is
-- told the same.
CREATE TABLE contexts (
    message_id   TEXT PRIMARY KEY REFERENCES messages (id) ON DELETE CASCADE,
    user_id      TEXT NOT NULL REFERENCES users (id) ON DELETE CASCADE,
    -- protocol::PageContext as JSON.
    context      TEXT NOT NULL,
    text         TEXT NOT NULL,
    instructions TEXT NOT NULL
) STRICT, WITHOUT ROWID;
