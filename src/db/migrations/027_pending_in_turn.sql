-- For an engine that has room for any pending job: the oldest pending job of each account, whatever it needs.
create index jobs_pending_in_turn on jobs (account_id, seq) where state = 'pending';
