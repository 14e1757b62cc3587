-- A transcript is stored as its head, which is the JSON without the utterances, and one row for each utterance.
alter table transcripts rename to whole_transcripts;
create table transcripts (
  job_id text primary key references jobs (id) on delete cascade,
  -- Null once the transcript is deleted. The row stays until the last utterance is removed.
  head text,
  -- The head as the engine made it, once the transcript has been edited.
  original_head text,
  edits integer not null default 0,
  -- Number of utterances at the start of the transcript that the search index does not contain yet.
  unindexed integer not null
) strict;
create index transcripts_due on transcripts (job_id) where unindexed > 0 or head is null;

create table utterances (
  -- The seq of the job times 2^20, plus 2^20 - 1, minus the index of the utterance.
  -- In descending order: the newest job first, and its utterances from the first to the last.
  id integer primary key,
  body text not null,
  -- The body as the engine made it, once the utterance has been edited.
  original text
) strict;

-- The search index. It stores no text: the text is in utterances, and both have the same row ids.
create virtual table search using fts5(
  account, text, content = '', tokenize = "unicode61 remove_diacritics 0 categories 'L* N* Co M*'"
);
-- With secure-delete, the words of a deleted utterance leave the index at once. Merges run in small pieces.
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
