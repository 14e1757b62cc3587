-- What the caller says of the recording. Both are removed with the transcript. The vocabulary is a JSON array of terms.
alter table jobs add column prompt text;
alter table jobs add column vocabulary text;
