-- The last known states of the workers on other machines: one row with JSON. The server writes this row, and commands
-- such as `steno workers list` read it.
create table fleet (
  id integer primary key check (id = 1),
  workers text not null,
  written_at integer not null
) strict;
create index jobs_broken_off on jobs (completed_at) where attempts >= 4 and state = 'failed';
