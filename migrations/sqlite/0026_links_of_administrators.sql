-- The administrator who made a link, which ends with their role. Null for links that were made at the machine itself.
ALTER TABLE invitations ADD COLUMN made_by TEXT REFERENCES accounts (user_id) ON DELETE CASCADE;

-- Nobody knows who made the others: an administrator can make new ones.
DELETE FROM invitations;
