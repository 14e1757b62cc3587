-- The header Upload-Metadata of the request that created a resumable upload. The protocol (tus) requires this header in
-- responses to HEAD, as the client has sent it. Null for an upload that is not resumable.
alter table uploads add column tus_metadata text;
