-- The workers that were ready within the last day, with their models and languages, as JSON. A job that only such a
-- worker can do waits until the worker connects again.
alter table fleet add column remembered text not null default '[]';
