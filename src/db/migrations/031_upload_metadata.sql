-- The header Upload-Metadata of the request that created a resumable upload. The protocol wants it in the answers to
-- HEAD, as the client has sent it. Null for an upload with a signed address.
alter table uploads add column tus_metadata text;
