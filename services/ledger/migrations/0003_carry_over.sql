-- Carries every journal over, in the order in which it was booked; its id is its command's from now on.

insert into accounts (
  account_id, available, pending, held, blocked, suspense, acquirer_clearing, forced_debit, version, moved_at
)
select
  account_id,
  coalesce(sum(balance) filter (where kind = 'available'), 0),
  coalesce(sum(balance) filter (where kind = 'pending'), 0),
  coalesce(sum(balance) filter (where kind = 'held'), 0),
  coalesce(sum(balance) filter (where kind = 'blocked'), 0),
  coalesce(sum(balance) filter (where kind = 'suspense'), 0),
  coalesce(sum(balance) filter (where kind = 'acquirer_clearing'), 0),
  sum(forced_debit),
  (select count(*) from journals_0001 where journals_0001.account_id = accounts_0001.account_id),
  coalesce(
    (select max(created_at) from journals_0001 where journals_0001.account_id = accounts_0001.account_id),
    '-infinity'
  )
from accounts_0001
group by account_id;

-- Every journal of the first version has one entry of its owner's clearing, which the owner's lock numbered without
-- gaps: its number is the journal's. Ids do not tell the order, since those of one millisecond have none. Times follow
-- the numbers: a journal is not older than the one before it.
insert into journals (command_id, account_id, version, created_at, kind, outcome, fingerprint, resource_id)
select
  command_id,
  journals_0001.account_id,
  clearing.version,
  max(created_at) over owners_journals,
  journals_0001.kind::journal_kind,
  'booked',
  encode(substring(fingerprint for 16), 'hex')::uuid,
  resource_id
from journals_0001
left join entries_0001 as clearing
  on clearing.journal_id = journals_0001.id
  and clearing.account_id = journals_0001.account_id
  and clearing.kind = 'acquirer_clearing'
window owners_journals as (partition by journals_0001.account_id order by clearing.version);

insert into entries (account_id, version, amount, balance_after, kind)
select
  entries_0001.account_id,
  journals.version,
  entries_0001.amount,
  entries_0001.balance_after,
  entries_0001.kind::text::account_kind
from entries_0001
join journals_0001 on journals_0001.id = entries_0001.journal_id
join journals on journals.command_id = journals_0001.command_id;

insert into suspense_items (id, account_id, end_to_end_id, charge_id, amount, reason, created_at, resolved_at)
select command_id, item.account_id, end_to_end_id, charge_id, amount, reason, item.created_at, resolved_at
from suspense_items_0001 as item
join journals_0001 on journals_0001.id = item.id;

insert into releases (command_id, account_id, amount, release_at)
select command_id, release.account_id, amount, release_at
from releases_0001 as release
join journals_0001 on journals_0001.id = release.journal_id;
