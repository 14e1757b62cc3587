-- What the caller wants to find again with the job: a JSON object of texts. Removed with the transcript.
alter table jobs add column metadata text;
