import type { Queryable } from '@pixmesh/postgres/pool';
import { sql, type Statement } from '@pixmesh/postgres/sql';

/**
 * What is wrong with the books, from the tables alone and with nothing of the service's own code: an empty list, or
 * one line for each break. Each check is a statement of its own, so that large books stay below the time limit.
 */
export async function auditBooks(db: Queryable): Promise<string[]> {
  const breaks: string[] = [];
  for (const check of CHECKS) {
    const rows = await db.query<{ text: string }>(check);
    breaks.push(...rows.map(({ text }) => text));
  }
  return breaks;
}

const JOURNALS_NET_TO_ZERO = sql`
  select 'journal ' || version || ' of ' || account_id || ' nets to ' || sum(amount) as text
  from entries group by account_id, version having sum(amount) <> 0`;

const ACCOUNTS_HOLD_THEIR_ENTRIES = sql`
  select 'account ' || account_id || ' holds ' || stands.kind || ' ' || stands.balance as text
  from accounts
  cross join lateral (
    values
      ('available', available), ('pending', pending), ('held', held), ('blocked', blocked),
      ('suspense', suspense), ('acquirer_clearing', acquirer_clearing), ('fees', fees),
      ('acquirer_tariffs', acquirer_tariffs)
  ) as stands (kind, balance)
  full join (
    select account_id, kind::text, sum(amount) as total from entries group by account_id, kind
  ) as derived using (account_id, kind)
  where coalesce(stands.balance, 0) <> coalesce(derived.total, 0)`;

const RUNNING_BALANCES = sql`
  select 'entry ' || kind || ' ' || version || ' of ' || account_id || ' says ' || balance_after as text
  from (
    select
      *,
      sum(amount) over (partition by account_id, kind order by version) as running
    from entries
  ) as entry
  where balance_after <> running`;

const JOURNALS_ARE_NUMBERED = sql`
  select 'owner ' || account_id || ' is at ' || version || ' with ' || count || ' journals' as text
  from accounts
  full join (
    select account_id, count(version) as count, max(version) as last
    from journals where version is not null group by account_id
  ) as numbered using (account_id)
  where version is distinct from coalesce(count, 0) or coalesce(last, 0) <> coalesce(count, 0)`;

const JOURNALS_AND_ENTRIES_MEET = sql`
  select 'journal ' || version || ' of ' || account_id || ' stands on one side only' as text
  from (select account_id, version from journals where version is not null) as booked
  full join (select distinct account_id, version from entries) as moved using (account_id, version)
  where booked.version is null or moved.version is null`;

const TIMES_FOLLOW_NUMBERS = sql`
  select 'journal ' || version || ' of ' || account_id || ' is older than the one before' as text
  from (
    select
      account_id, version, created_at,
      lag(created_at) over (partition by account_id order by version) as before
    from journals where version is not null
  ) as journal
  where created_at < before`;

/** What is held is what open holds say, amount and fee. */
const HELD_IS_OPEN_HOLDS = sql`
  select 'owner ' || account_id || ' holds ' || held || ', its open holds ' || coalesce(total, 0) as text
  from accounts
  full join (
    select account_id, sum(amount + fee) as total from holds where state = 'open' group by account_id
  ) as open using (account_id)
  where coalesce(held, 0) <> coalesce(total, 0)`;

/** No payout has two holds that stand; and of an owner, as many holds have ended as were taken and are not open. */
const HOLDS_END_ONCE = sql`
  select 'resource ' || resource_id || ' has two holds' as text
  from holds where state in ('open', 'settled') group by resource_id having count(*) > 1
  union all
  select 'owner ' || account_id || ' took ' || taken || ' holds, ended ' || ended || ', open ' || coalesce(open, 0)
  from (
    select
      account_id,
      count(*) filter (where kind = 'take_hold') as taken,
      count(*) filter (where kind in ('settle_hold', 'release_hold')) as ended
    from journals where version is not null group by account_id
  ) as journal
  left join (
    select account_id, count(*) as open from holds where state = 'open' group by account_id
  ) as standing using (account_id)
  where taken <> ended + coalesce(open, 0)`;

const PENDING_IS_RELEASES = sql`
  select 'owner ' || account_id || ' has ' || pending || ' pending, releases of ' || coalesce(total, 0) as text
  from accounts
  full join (select account_id, sum(amount) as total from releases group by account_id) as due using (account_id)
  where coalesce(pending, 0) <> coalesce(total, 0)`;

const SUSPENSE_IS_ITEMS = sql`
  select 'owner ' || account_id || ' has ' || suspense || ' in suspense, items of ' || coalesce(total, 0) as text
  from accounts
  full join (
    select account_id, sum(amount) as total from suspense_items where resolved_at is null group by account_id
  ) as item using (account_id)
  where coalesce(suspense, 0) <> coalesce(total, 0)`;

const BLOCKED_IS_PIX = sql`
  select 'owner ' || account_id || ' has ' || blocked || ' blocked, its Pix ' || coalesce(total, 0) as text
  from accounts
  full join (
    select account_id, sum(blocked) as total from pix_debits group by account_id
  ) as pix using (account_id)
  where coalesce(accounts.blocked, 0) <> coalesce(total, 0)`;

/** Refunds of a Pix are its holds, and the Pix is as much as its credit says. */
const PIX_ARE_THEIR_PARTS = sql`
  select 'Pix ' || end_to_end_id || ' says ' || refunding || ' on its way and ' || refunded || ' refunded' as text
  from pix_debits
  full join (
    select
      refund_holds.account_id, end_to_end_id,
      coalesce(sum(amount) filter (where state = 'open'), 0) as open,
      coalesce(sum(amount) filter (where state = 'settled'), 0) as settled
    from refund_holds join holds using (hold_id)
    group by refund_holds.account_id, end_to_end_id
  ) as hold using (account_id, end_to_end_id)
  where coalesce(refunding, 0) <> coalesce(open, 0) or coalesce(refunded, 0) <> coalesce(settled, 0)`;

/** Never more goes back of a Pix than it was, and what is gone is not blocked (decision 79). */
const PIX_BOUNDS = sql`
  select 'Pix ' || end_to_end_id || ' of ' || received || ' lost ' || (refunded + returned) as text
  from pix_debits
  where refunded + returned + blocked > received or least(refunding, refunded, returned, blocked, shortfall) < 0`;

/** What left an owner for the acquirer under a return is what its Pix say. */
const RETURNS_LEFT = sql`
  select 'owner ' || account_id || ' returned ' || coalesce(total, 0) || ', its Pix say ' || coalesce(said, 0) as text
  from (
    select account_id, sum(amount) as total
    from journals join entries using (account_id, version)
    where journals.kind in ('return_disputed', 'return_received_pix')
      and entries.kind = 'acquirer_clearing'
    group by account_id
  ) as moved
  full join (
    select account_id, sum(returned) as said from pix_debits group by account_id
  ) as pix using (account_id)
  where coalesce(total, 0) <> coalesce(said, 0)`;

/** Below zero only as far as the MED has forced it. */
const FLOORS = sql`
  select 'owner ' || account_id || ' is below its floor' as text
  from accounts
  where available + forced_debit < 0 or forced_debit < 0 or pending < 0 or held < 0 or blocked < 0`;

const CHECKS: readonly Statement[] = [
  JOURNALS_NET_TO_ZERO,
  ACCOUNTS_HOLD_THEIR_ENTRIES,
  RUNNING_BALANCES,
  JOURNALS_ARE_NUMBERED,
  JOURNALS_AND_ENTRIES_MEET,
  TIMES_FOLLOW_NUMBERS,
  HELD_IS_OPEN_HOLDS,
  HOLDS_END_ONCE,
  PENDING_IS_RELEASES,
  SUSPENSE_IS_ITEMS,
  BLOCKED_IS_PIX,
  PIX_ARE_THEIR_PARTS,
  PIX_BOUNDS,
  RETURNS_LEFT,
  FLOORS,
];
