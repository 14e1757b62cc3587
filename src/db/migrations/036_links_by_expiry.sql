-- The verification links in the order of their expiry, for the sweep that deletes a limited number of expired ones.
create index verifications_by_expiry on verifications (expires_at);
