-- One text with the three values that decide which engine can do a job: language, diarization and translation. An index
-- of this column finds the pending jobs that an engine can do.
alter table jobs add column needs text
  generated always as (coalesce(language, '') || ' ' || diarize || ' ' || translate) virtual;
drop index jobs_pending;
create index jobs_pending on jobs (needs, account_id, seq) where state = 'pending';
