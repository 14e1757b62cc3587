-- The delivery of a webhook event: the number of attempts, the result of the last attempt, and the time of the next
-- attempt. The list of deliveries leaves out events that were sent before this migration, because their results are not
-- known.
alter table webhook_events add column account_id text;
alter table webhook_events add column attempts integer not null default 0;
alter table webhook_events add column outcome text;
alter table webhook_events add column response_status integer;
alter table webhook_events add column next_at integer;
update webhook_events set account_id = (select account_id from jobs where jobs.id = job_id) where sent_at is null;
create index webhook_events_of_account on webhook_events (account_id, id);
