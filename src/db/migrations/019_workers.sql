-- The number of times that an engine of the server or a worker on another machine has claimed the job. Only the result
-- of the last claim is stored.
alter table jobs add column fence integer not null default 0;
-- The number of claims by workers on other machines, and the name of the worker with the last claim. The name is null
-- if the last claim was by the server.
alter table jobs add column attempts integer not null default 0;
alter table jobs add column worker text;
create index jobs_pending on jobs (account_id, seq) where state = 'pending';
