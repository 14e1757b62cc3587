-- When SQLite deletes an account, it looks for rows that refer to the account in every table. SQLite cannot use a
-- partial index for this search. With 300,000 jobs and only partial indexes, it read the whole tables jobs and uploads:
-- 70 ms for each account.
drop index jobs_listed;
create index jobs_listed on jobs (account_id, deleted_at, created_at, seq);
drop index uploads_unused_of_account;
create index uploads_of_account on uploads (account_id, used_at, file_bytes, declared_bytes);
create index verifications_of_account on verifications (account_id, expires_at);
