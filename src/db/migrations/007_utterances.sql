-- A transcript is stored as its head, which is the JSON without the utterances, and one row for each utterance.
alter table transcripts rename to whole_transcripts;
create table transcripts (
  job_id text primary key references jobs (id) on delete cascade,
  -- Null after the deletion of the transcript. The row stays until the last utterance is removed.
  head text,
  -- The head that the engine made. Null until the first edit of the transcript.
  original_head text,
  edits integer not null default 0,
  -- Number of utterances at the start of the transcript that the search index does not contain yet.
  unindexed integer not null
) strict;
create index transcripts_due on transcripts (job_id) where unindexed > 0 or head is null;

create table utterances (
  -- The number of the job (jobs.seq) times 2^20, plus 2^20 - 1, minus the index of the utterance in the transcript. In
  -- descending order of these ids, the newest job is first, and its utterances are in the order of the transcript.
  id integer primary key,
  body text not null,
  -- The body that the engine made. Null until the first edit of the utterance.
  original text
) strict;

-- The full-text search index. The index stores no text: a row of the index has the id of the utterance with the text.
create virtual table search using fts5(
  account, text, content = '', tokenize = "unicode61 remove_diacritics 0 categories 'L* N* Co M*'"
);
-- With secure-delete, the words of a deleted utterance are removed from the index at once. The automatic merges of FTS5
-- are off, because the program merges the index in small steps.
insert into search (search, rank) values ('secure-delete', 1), ('automerge', 0), ('crisismerge', 1000);

insert into transcripts (job_id, head, unindexed)
select job_id, json_remove(cast(body as text), '$.utterances'),
  json_array_length(cast(body as text), '$.utterances')
from whole_transcripts;
insert into utterances (id, body)
select jobs.seq * 1048576 + 1048575 - utterance.key, utterance.value
from whole_transcripts join jobs on jobs.id = job_id,
  json_each(cast(body as text), '$.utterances') as utterance;
drop table whole_transcripts;
