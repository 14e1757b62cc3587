-- The size of a resumable upload, as the client announced it. Null for an upload that is not resumable, and for an
-- expired upload whose file was removed.
alter table uploads add column declared_bytes integer;
drop index uploads_unused_of_account;
create index uploads_unused_of_account on uploads (account_id, file_bytes, declared_bytes) where used_at is null;
