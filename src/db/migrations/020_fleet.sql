-- The workers on other machines as the server last knew them, for commands: one row with JSON.
create table fleet (
  id integer primary key check (id = 1),
  workers text not null,
  written_at integer not null
) strict;
create index jobs_broken_off on jobs (completed_at) where attempts >= 4 and state = 'failed';
