-- The ended jobs by their end: for the retention time of transcripts, and for the totals of the last day.
create index jobs_ended on jobs (completed_at, deleted_at) where completed_at is not null;
-- The charges of each account by their time.
create index ledger_settled on ledger (account_id, created_at, units) where kind = 'settle';
