-- The sessions of users who have signed in to the web app. A session that was opened with an API key ends when this key
-- is revoked.
create table sessions (
  token_hash text primary key,
  account_id text not null references accounts (id) on delete cascade,
  key_id text references keys (id),
  created_at integer not null,
  last_used_at integer not null,
  expires_at integer not null
) strict;
create index sessions_of_account on sessions (account_id, last_used_at);
create index sessions_by_expiry on sessions (expires_at);
-- The API key whose secret signs the job's webhooks. Null if the job was created without an API key, and the account
-- had none.
alter table jobs alter column key_id drop not null;
