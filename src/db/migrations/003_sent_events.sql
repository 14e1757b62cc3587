-- The time at which the last delivery attempt of the webhook event ended. Null as long as an attempt must follow, and
-- also during an attempt. So if the process is killed during an attempt, the event is sent again.
alter table webhook_events add column sent_at integer;
-- The encrypted body of an event whose transcript was deleted before the event was sent. Removed when the event is
-- sent.
alter table webhook_events add column sealed_body text;
update webhook_events set sent_at = attempted_at;
drop index webhook_events_due;
create index webhook_events_due on webhook_events (job_id, id) where sent_at is null;
