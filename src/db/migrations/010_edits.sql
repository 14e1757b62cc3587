alter table jobs add column edited_at integer;
-- The names that callers gave to speakers: a JSON object from the engine's label to the name.
alter table transcripts add column speaker_names text;
