-- Data of the caller that the API returns with the job: a JSON object whose values are texts. Removed with the
-- transcript.
alter table jobs add column metadata text;
