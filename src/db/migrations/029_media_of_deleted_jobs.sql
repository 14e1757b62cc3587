-- The deleted jobs that still have media, because the server crashed during the deletion. Without this index, each sweep
-- read the row of every job that has media: 0.9 s at 200,000 jobs.
create index jobs_deleted_with_media on jobs (deleted_at) where media_kept = 1 and deleted_at is not null;
