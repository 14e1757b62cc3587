-- An event is sent until an attempt has ended: one that was attempted when the process was killed is sent again.
alter table webhook_events add column sent_at integer;
-- The body of an event whose transcript was deleted before the event was sent. Sealed; removed once it is sent.
alter table webhook_events add column sealed_body text;
update webhook_events set sent_at = attempted_at;
drop index webhook_events_due;
create index webhook_events_due on webhook_events (job_id, id) where sent_at is null;
