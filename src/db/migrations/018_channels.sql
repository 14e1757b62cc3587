-- 1 if each channel of the recording is transcribed separately.
alter table jobs add column split_channels integer not null default 0;
alter table jobs add column channel_count integer;
