-- The voices that an account has enrolled, each with a name. For an account without such voices, no voice prints of
-- speakers are computed.
create table voices (
  id text primary key,
  account_id text not null references accounts (id),
  name text not null,
  -- The name of the embedding model. Voice prints of different models cannot be compared.
  model text not null,
  -- The voice print as JSON, encrypted with the key in the file secret.key.
  sealed_print text not null,
  seconds real not null,
  created_at integer not null,
  -- The time at which the voice was enrolled, or at which a speaker last got its name.
  used_at integer not null,
  unique (account_id, name)
) strict;
create index voices_by_use on voices (used_at);
-- 1 if the speakers get the names of the enrolled voices.
alter table jobs add column name_speakers integer not null default 0;
