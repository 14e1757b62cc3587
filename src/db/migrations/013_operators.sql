-- 1 if the owner of the account is an operator, who sees the state of the whole service in the web app.
alter table accounts add column operator integer not null default 0;
-- The time of the last use of the key, exact to about a minute.
alter table keys add column last_used_at integer;
