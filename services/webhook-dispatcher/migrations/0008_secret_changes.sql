-- Since when an endpoint has the secret that it has, or has none: what replaced a secret is otherwise seen in nothing that
-- may be shown. Resealing changes no secret. Null: not since this was kept.
alter table endpoints add column secret_changed_at timestamptz(3);
