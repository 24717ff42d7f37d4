-- Read by `GET /admin/keys`: the keys of the installation that are not revoked, newest first.
create index api_keys_in_use on api_keys (created_at desc, id desc) where revoked_at is null;
