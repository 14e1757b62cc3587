-- 1 if the owner of the account is an operator, who sees the state of the whole service in the web app.
alter table accounts add column operator integer not null default 0;
-- When a key was last used, to within a minute.
alter table keys add column last_used_at integer;
