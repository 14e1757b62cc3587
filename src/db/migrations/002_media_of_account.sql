-- Indexes for the sum of an account's bytes on disk, which is computed before each upload.
create index jobs_media_of_account on jobs (account_id, file_bytes) where media_kept = 1;
create index uploads_unused_of_account on uploads (account_id, file_bytes) where used_at is null;
