-- The state of a job as callers see it. A job whose media file was lost is downloaded again, but its status does not go
-- back to an earlier status. Callers can filter the list of jobs by this column.
alter table jobs add column status text generated always as (
  case
    when state in ('downloading', 'pending') and started_at is not null then 'processing'
    when state = 'downloading' and duration_ms is not null then 'pending'
    else state
  end
) virtual;
drop index jobs_listed_by_state;
create index jobs_listed_by_status on jobs (account_id, status, created_at, seq) where deleted_at is null;
