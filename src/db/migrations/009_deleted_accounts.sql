-- A deleted account keeps its row, because the ledger refers to it. All personal data in the row is removed.
alter table accounts add column deleted_at integer;
