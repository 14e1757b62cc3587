-- Finds the oldest pending job of each account. Used if the engine can start any pending job.
create index jobs_pending_in_turn on jobs (account_id, seq) where state = 'pending';
