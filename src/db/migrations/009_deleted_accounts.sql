-- A deleted account keeps its row, because the ledger refers to it. The row holds no personal data.
alter table accounts add column deleted_at integer;
