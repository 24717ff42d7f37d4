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
  replayed_at timestamptz(3),
  constraint dead_letters_message unique (consumer, topic, partition, "offset")
);

create index dead_letters_open on dead_letters (id desc) where replayed_at is null;
