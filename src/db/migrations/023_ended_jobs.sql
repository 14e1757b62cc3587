-- The ended jobs in the order of their end, to find transcripts whose retention time is over, and for the totals of the
-- last day.
create index jobs_ended on jobs (completed_at, deleted_at) where completed_at is not null;
-- The charges of each account in the order of their time.
create index ledger_settled on ledger (account_id, created_at, units) where kind = 'settle';
