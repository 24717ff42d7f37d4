-- Schema webhook_dispatcher: the sum of its migrations. Written by a test; UPDATE_GOLDEN=1 refreshes it.

create table applications (
  application_id uuid not null,
  account_id uuid not null,
  active boolean not null,
  version integer not null,
  changed_at timestamp(3) with time zone not null,
  constraint applications_pkey PRIMARY KEY (application_id)
);

create table attempts (
  delivery_id uuid not null,
  number integer not null,
  started_at timestamp(3) with time zone not null,
  duration_ms integer not null,
  outcome text not null,
  status integer,
  error text,
  response_excerpt text,
  address text,
  manual boolean default false not null,
  constraint attempts_number PRIMARY KEY (delivery_id, number),
  constraint attempts_outcome CHECK ((outcome = ANY (ARRAY['succeeded'::text, 'failed'::text])))
);

create table dead_letters (
  id uuid not null,
  consumer text not null,
  topic text not null,
  partition integer not null,
  "offset" bigint not null,
  key text,
  headers json not null,
  value bytea,
  code text not null,
  reason text not null,
  created_at timestamp(3) with time zone default now() not null,
  replayed_at timestamp(3) with time zone,
  constraint dead_letters_pkey PRIMARY KEY (id)
);
CREATE UNIQUE INDEX dead_letters_message ON dead_letters USING btree (consumer, topic, partition, "offset", COALESCE(sha256(value), '\x'::bytea));
CREATE INDEX dead_letters_open ON dead_letters USING btree (id DESC) WHERE replayed_at IS NULL;

create table deliveries (
  id uuid not null,
  event_id uuid not null,
  destination_id uuid not null,
  account_id uuid not null,
  resource_id uuid not null,
  event text not null,
  lane_id uuid not null,
  status text default 'pending'::text not null,
  attempt_count integer default 0 not null,
  next_attempt_at timestamp(3) with time zone,
  due_at timestamp(3) with time zone default now() not null,
  leased boolean default false not null,
  fence integer default 0 not null,
  traceparent text,
  created_at timestamp(3) with time zone default now() not null,
  endpoint_id uuid,
  for_resource_url boolean default false not null,
  constraint deliveries_pkey PRIMARY KEY (id),
  constraint deliveries_event_destination UNIQUE (event_id, destination_id),
  constraint deliveries_next_attempt CHECK (((status = 'pending'::text) OR (next_attempt_at IS NULL))),
  constraint deliveries_status CHECK ((status = ANY (ARRAY['pending'::text, 'succeeded'::text, 'failed'::text, 'skipped'::text, 'canceled'::text])))
) with (autovacuum_vacuum_cost_delay=0, autovacuum_vacuum_scale_factor=0.02);
CREATE INDEX deliveries_due ON deliveries USING btree (due_at) WHERE status = 'pending'::text;
CREATE INDEX deliveries_endpoint_pending ON deliveries USING btree (endpoint_id, due_at, id) WHERE status = 'pending'::text AND endpoint_id IS NOT NULL AND NOT for_resource_url;
CREATE INDEX deliveries_resource ON deliveries USING btree (resource_id, id DESC);

create table delivery_bodies (
  delivery_id uuid not null,
  body bytea not null,
  constraint delivery_bodies_pkey PRIMARY KEY (delivery_id)
);

create table destinations (
  resource_id uuid not null,
  account_id uuid not null,
  url text not null,
  sealed_secret text,
  created_at timestamp(3) with time zone default now() not null,
  constraint destinations_pkey PRIMARY KEY (resource_id)
);

create table endpoints (
  id uuid not null,
  account_id uuid not null,
  application_id uuid not null,
  url text not null,
  description text not null,
  events text[] not null,
  active boolean default true not null,
  sealed_secret text,
  created_at timestamp(3) with time zone default now() not null,
  deleted_at timestamp(3) with time zone,
  paused_at timestamp(3) with time zone,
  application_inactive_since timestamp(3) with time zone,
  constraint endpoints_pkey PRIMARY KEY (id),
  constraint endpoints_paused CHECK (((paused_at IS NULL) OR (NOT active)))
);
CREATE INDEX endpoints_account ON endpoints USING btree (account_id) WHERE deleted_at IS NULL;
CREATE INDEX endpoints_application ON endpoints USING btree (application_id, created_at DESC, id DESC) WHERE deleted_at IS NULL;

create table events (
  event_id uuid not null,
  type text not null,
  account_id uuid not null,
  application_id uuid,
  resource_id uuid not null,
  source text not null,
  sequence integer not null,
  occurred_at timestamp(3) with time zone not null,
  constraint events_pkey PRIMARY KEY (event_id)
);
CREATE INDEX events_resource ON events USING btree (resource_id, sequence);

grant delete, insert, select, update on dead_letters to pixmesh_webhook_dispatcher;
grant insert, select on attempts to pixmesh_webhook_dispatcher;
grant insert, select on delivery_bodies to pixmesh_webhook_dispatcher;
grant insert, select on events to pixmesh_webhook_dispatcher;
grant insert, select, update on applications to pixmesh_webhook_dispatcher;
grant insert, select, update on deliveries to pixmesh_webhook_dispatcher;
grant insert, select, update on destinations to pixmesh_webhook_dispatcher;
grant insert, select, update on endpoints to pixmesh_webhook_dispatcher;
