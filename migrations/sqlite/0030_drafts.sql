-- The fields of a proposal that the person accepted, as a JSON array; NULL if the verdict is about the whole of it.
ALTER TABLE payload_verdicts ADD COLUMN fields TEXT;

-- What a stream is for, what is read out of each of its articles (a JSON array of fields), and how articles are grouped (a
-- JSON array of categories).
ALTER TABLE streams ADD COLUMN purpose TEXT NOT NULL DEFAULT '';
ALTER TABLE streams ADD COLUMN schema TEXT NOT NULL DEFAULT '[]';
ALTER TABLE streams ADD COLUMN categories TEXT NOT NULL DEFAULT '[]';
