-- Several processes work on Postgres only, which has their tables.
SELECT 1;
