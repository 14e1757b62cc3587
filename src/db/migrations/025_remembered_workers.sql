-- The abilities of the workers that were ready within the last day, as JSON: jobs wait for them.
alter table fleet add column remembered text not null default '[]';
