-- Voices that an account has enrolled by name. Without a voice here, no print is ever made or compared.
create table voices (
  id text primary key,
  account_id text not null references accounts (id),
  name text not null,
  -- The embedding model. Prints of two models cannot be compared.
  model text not null,
  -- The print as JSON, encrypted with secret.key.
  sealed_print text not null,
  seconds real not null,
  created_at integer not null,
  -- When the voice was enrolled, or last named a speaker.
  used_at integer not null,
  unique (account_id, name)
) strict;
create index voices_by_use on voices (used_at);
-- 1 if the speakers get the names of the enrolled voices.
alter table jobs add column name_speakers integer not null default 0;
