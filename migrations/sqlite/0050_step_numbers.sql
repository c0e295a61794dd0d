-- The number of a job's next step is one more than the last: found at once, however many steps there are.
CREATE INDEX job_steps_by_number ON job_steps (job_id, number);
