-- Sign-ins of the dashboard and of the consent page. A session that a key opened ends when the key is revoked.
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
-- The key that signs the job's webhooks. Null when the job was not asked for with a key and the account had none.
alter table jobs alter column key_id drop not null;
