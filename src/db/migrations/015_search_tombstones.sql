-- The search index only marks deleted rows, and later merges remove their words. This is faster than the setting
-- secure-delete, which rewrites the index for every word. This migration empties the index, and the server fills it
-- again in the background.
drop table search;
create virtual table search using fts5(
  account, text, content = '', contentless_delete = 1,
  tokenize = "unicode61 remove_diacritics 0 categories 'L* N* Co M*'"
);
-- The automatic merges of FTS5 are off, because the program merges the index in small steps. Two segments are enough
-- for a merge, so few segments remain.
insert into search (search, rank) values ('automerge', 0), ('crisismerge', 1000), ('usermerge', 2);
-- The numbers of deleted jobs whose words are still in the segments of the index.
create table unpurged (seq integer primary key) strict;
update transcripts set unindexed = (
  select count(*) from utterances
  join jobs on jobs.id = job_id and utterances.id between seq * 1048576 and seq * 1048576 + 1048575
);
