-- The clients of OAuth: programs that may ask the owner of an account for access. A client registers itself by a
-- request.
create table clients (
  id text primary key,
  name text not null,
  -- A JSON array of the addresses to which the browser may be redirected after the owner's decision.
  redirect_uris text not null,
  created_at integer not null,
  used_at integer not null
) strict;
create index clients_by_use on clients (used_at);

-- The grants: each one gives a client access to an account. When a grant is deleted, its authorization code and its
-- tokens become invalid.
create table grants (
  id text primary key,
  account_id text not null references accounts (id) on delete cascade,
  client_id text not null references clients (id),
  scope text not null,
  resources text not null,
  created_at integer not null,
  last_used_at integer not null,
  code_hash text not null unique,
  code_challenge text not null,
  code_redirect_uri text not null,
  code_expires_at integer not null,
  code_used_at integer
) strict;
create index grants_of_account on grants (account_id, last_used_at);
create index grants_of_client on grants (client_id);
create index grants_without_tokens on grants (code_expires_at) where code_used_at is null;

create table grant_tokens (
  hash text primary key,
  grant_id text not null references grants (id) on delete cascade,
  kind text not null check (kind in ('access', 'refresh')),
  scope text not null,
  expires_at integer not null,
  -- A refresh token may be used only once. Its hash is kept until the token expires, so that a second use is noticed.
  used_at integer
) strict;
create index grant_tokens_of_grant on grant_tokens (grant_id);
create index grant_tokens_by_expiry on grant_tokens (expires_at);
