-- The days after which a person's conversations are erased, if they have chosen a number.
CREATE TABLE retention (
    user_id     TEXT COLLATE "C" PRIMARY KEY REFERENCES users (id) ON DELETE CASCADE,
    days        BIGINT NOT NULL
);
