-- The transcribed share of the recording, in percent. Null before an engine has started the job.
alter table jobs add column progress_percent integer;
update jobs set progress_percent = 100 where state = 'completed';
update jobs set progress_percent = 0 where state = 'processing';
