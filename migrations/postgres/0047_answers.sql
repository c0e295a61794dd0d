-- Answers to approvals of a run that is active on another node, as JSON, until that node has applied them.
ALTER TABLE runs ADD COLUMN answers TEXT COLLATE "C";
