create table accounts (
  id text primary key,
  email text not null unique,
  password_hash text,
  verified_at integer,
  webhook_url text,
  -- Only the triggers on the table ledger change the next two columns. The reserved amount can never exceed the
  -- balance.
  balance_units integer not null default 0 check (balance_units >= 0),
  reserved_units integer not null default 0 check (reserved_units between 0 and balance_units),
  money_moved_at integer not null,
  -- The accounts take turns (round robin). Each start of a job gets the next number, and this is the number of the last
  -- start of a job of this account. The next job is taken from the account with the lowest number.
  served_turn integer not null default 0,
  created_at integer not null
) strict;

create table verifications (
  token_hash text primary key,
  account_id text not null references accounts (id) on delete cascade,
  password_hash text not null,
  expires_at integer not null,
  used_at integer
) strict;

create table keys (
  id text primary key,
  account_id text not null references accounts (id),
  name text,
  prefix text not null,
  -- A hash of the API key. The plain SHA-256 of the key is not used, because it is the secret that signs the webhooks.
  hash text not null unique,
  sealed_secret text not null,
  created_at integer not null,
  revoked_at integer
) strict;
create index keys_of_account on keys (account_id);

-- The deposits, the reserved amounts and the charges of the accounts. Rows are only added. The totals are in the table
-- accounts.
create table ledger (
  id integer primary key,
  account_id text not null references accounts (id),
  job_id text,
  kind text not null check (kind in ('deposit', 'reserve', 'settle', 'release')),
  units integer not null check (units >= 0),
  created_at integer not null,
  check ((kind = 'deposit') = (job_id is null))
) strict;
create index ledger_of_account on ledger (account_id);
create unique index ledger_one_reserve on ledger (job_id) where kind = 'reserve';
create unique index ledger_one_end on ledger (job_id) where kind in ('settle', 'release');

create trigger ledger_end_matches_reserve before insert on ledger when new.kind in ('settle', 'release')
begin
  select raise(abort, 'no reserve of this amount') where not exists (
    select 1 from ledger
    where job_id = new.job_id and kind = 'reserve' and account_id = new.account_id and units = new.units
  );
end;
create trigger ledger_moves_money after insert on ledger
begin
  update accounts set
    balance_units = balance_units
      + case new.kind when 'deposit' then new.units when 'settle' then -new.units else 0 end,
    reserved_units = reserved_units
      + case new.kind when 'reserve' then new.units when 'deposit' then 0 else -new.units end,
    money_moved_at = new.created_at
  where id = new.account_id;
end;
create trigger ledger_never_changes before update on ledger
begin
  select raise(abort, 'ledger rows are only added');
end;
create trigger ledger_never_shrinks before delete on ledger
begin
  select raise(abort, 'ledger rows are only added');
end;

create table uploads (
  id text primary key,
  account_id text not null references accounts (id),
  filename text not null,
  content_type text not null,
  created_at integer not null,
  expires_at integer not null,
  -- The size of the file. Null until the whole file is uploaded.
  file_bytes integer,
  too_large integer not null default 0,
  used_at integer
) strict;
create index uploads_unused on uploads (expires_at) where used_at is null;

create table jobs (
  seq integer primary key,
  id text not null unique,
  account_id text not null references accounts (id),
  key_id text not null references keys (id),
  state text not null check (state in ('created', 'downloading', 'pending', 'processing', 'completed', 'failed')),
  state_at integer not null,
  source_url text,
  upload_id text unique references uploads (id),
  language text,
  diarize integer not null,
  speaker_count integer,
  align integer not null,
  webhook_url text,
  file_bytes integer,
  duration_ms integer,
  cost_units integer,
  progress text,
  error_code text,
  error_message text,
  created_at integer not null,
  started_at integer,
  completed_at integer,
  media_kept integer not null default 1,
  deleted_at integer,
  check ((source_url is null) <> (upload_id is null)),
  check ((error_code is not null) = (state = 'failed')),
  check ((completed_at is not null) = (state in ('completed', 'failed')))
) strict;
create index jobs_listed on jobs (account_id, created_at, seq) where deleted_at is null;
create index jobs_listed_by_state on jobs (account_id, state, created_at, seq) where deleted_at is null;
create index jobs_unfinished on jobs (state, state_at) where completed_at is null;
create index jobs_with_media on jobs (completed_at) where media_kept = 1 and completed_at is not null;
create index jobs_deleted on jobs (deleted_at) where deleted_at is not null;

create table transcripts (
  job_id text primary key references jobs (id) on delete cascade,
  -- The transcript as JSON. The column has bytes and not text, because a response sends these bytes unchanged.
  body blob not null
) strict;

-- The webhook events of jobs, delivered or not. A job has at most one event of each kind.
create table webhook_events (
  id integer primary key,
  job_id text not null references jobs (id) on delete cascade,
  event text not null,
  created_at integer not null,
  attempted_at integer,
  unique (job_id, event)
) strict;
create index webhook_events_due on webhook_events (job_id, id) where attempted_at is null;

create table idempotent_replies (
  account_id text not null references accounts (id),
  endpoint text not null,
  key text not null,
  body_hash text not null,
  reply text not null,
  created_at integer not null,
  primary key (account_id, endpoint, key)
) strict, without rowid;
create index idempotent_replies_by_age on idempotent_replies (created_at);
