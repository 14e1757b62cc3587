-- The announced size of a file that arrives in several requests. Null for an upload with a signed address, and
-- when the bytes of an expired upload were removed.
alter table uploads add column declared_bytes integer;
drop index uploads_unused_of_account;
create index uploads_unused_of_account on uploads (account_id, file_bytes, declared_bytes) where used_at is null;
