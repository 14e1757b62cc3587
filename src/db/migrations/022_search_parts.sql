-- The jobs of each account are divided into parts for the search index. Each indexed word begins with the id of its
-- part, so no word has more rows than a part has utterances. FTS5 merges all rows of a word in one step: a word in two
-- million utterances blocked the event loop for 150 ms.
create table search_parts (
  -- An id is never used again (autoincrement), because the words of a deleted part stay in the index until a purge.
  id integer primary key autoincrement,
  account_id text not null references accounts (id),
  -- The lowest and the highest number (jobs.seq) of the jobs in this part. The ranges of an account's parts do not
  -- overlap.
  first_seq integer not null,
  last_seq integer not null,
  -- The number of utterances in the transcripts of this part, indexed or not.
  utterances integer not null
) strict;
create unique index search_parts_of_account on search_parts (account_id, first_seq);
-- The id of the part in search_parts. Null until the job of the transcript has completed.
alter table transcripts add column part integer;

drop table search;
create virtual table search using fts5(
  text, content = '', contentless_delete = 1,
  tokenize = "unicode61 remove_diacritics 0 categories 'L* N* Co M*'"
);
insert into search (search, rank) values ('automerge', 0), ('crisismerge', 1000), ('usermerge', 2);
delete from unpurged;
update transcripts set unindexed = (
  select count(*) from utterances
  join jobs on jobs.id = job_id and utterances.id between seq * 1048576 and seq * 1048576 + 1048575
) where head is not null;

-- This migration has emptied the index, and the server fills it again in the background.
insert into search_parts (account_id, first_seq, last_seq, utterances)
select account_id, min(seq), max(seq), sum(unindexed) from (
  select account_id, seq, unindexed,
    (sum(unindexed) over (partition by account_id order by seq) - unindexed) / 65536 as place
  from transcripts join jobs on jobs.id = job_id where head is not null
) group by account_id, place;
update transcripts set part = (
  select search_parts.id from jobs join search_parts
    on search_parts.account_id = jobs.account_id and seq between first_seq and last_seq
  where jobs.id = job_id
) where head is not null;
