-- What an engine must be able to do for a job, as one text. The pending jobs are found by it.
alter table jobs add column needs text
  generated always as (coalesce(language, '') || ' ' || diarize || ' ' || translate) virtual;
drop index jobs_pending;
create index jobs_pending on jobs (needs, account_id, seq) where state = 'pending';
