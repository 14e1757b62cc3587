-- When SQLite deletes an account, it looks for rows that refer to the account in every table. A partial index cannot
-- serve this search. At 300,000 jobs, it read the tables jobs and uploads for 70 ms for each account.
drop index jobs_listed;
create index jobs_listed on jobs (account_id, deleted_at, created_at, seq);
drop index uploads_unused_of_account;
create index uploads_of_account on uploads (account_id, used_at, file_bytes, declared_bytes);
create index verifications_of_account on verifications (account_id, expires_at);
