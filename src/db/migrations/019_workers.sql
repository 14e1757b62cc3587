-- The number of claims of the job. Only the result of the last claim is stored.
alter table jobs add column fence integer not null default 0;
-- The claims of workers on other machines, and the last of these workers. Null for the engine of the server.
alter table jobs add column attempts integer not null default 0;
alter table jobs add column worker text;
create index jobs_pending on jobs (account_id, seq) where state = 'pending';
