-- 1 if the transcript is an English translation of the speech.
alter table jobs add column translate integer not null default 0 check (translate in (0, 1));
