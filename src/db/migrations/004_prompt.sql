-- Two hints of the caller for the speech model: a text, and a JSON array of terms (the vocabulary). Both hints are
-- removed with the transcript.
alter table jobs add column prompt text;
alter table jobs add column vocabulary text;
