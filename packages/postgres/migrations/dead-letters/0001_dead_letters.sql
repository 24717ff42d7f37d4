-- Messages that are wrong in themselves, with their cause, until somebody replays them.
create table dead_letters (
  id uuid primary key,
  consumer text not null,
  topic text not null,
  partition integer not null,
  "offset" bigint not null,
  key text,
  headers json not null,
  value bytea,
  code text not null,
  reason text not null,
  created_at timestamptz(3) not null default now(),
  replayed_at timestamptz(3)
);

-- One row per message and consumer. The value belongs to it: a topic that was created anew repeats its offsets.
create unique index dead_letters_message
  on dead_letters (consumer, topic, partition, "offset", coalesce(sha256(value), ''));

create index dead_letters_open on dead_letters (id desc) where replayed_at is null;
