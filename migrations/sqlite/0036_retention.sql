-- The days after which a person's conversations are erased, if they have chosen a number.
CREATE TABLE retention (
    user_id     TEXT PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    days        INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
