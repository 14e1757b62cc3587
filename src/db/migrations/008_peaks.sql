-- The waveform of a transcribed recording: one byte per 50 ms.
create table peaks (
  job_id text primary key references transcripts (job_id) on delete cascade,
  body blob not null
) strict;
