import type { Queryable } from '@pixmesh/postgres/pool';

import type { Oracle } from '#test/oracle.ts';
import { ORACLE_KINDS } from '#test/oracle-books.ts';

import type { Decided } from './linearise.ts';
import {
  readAccounts,
  readHolds,
  readItems,
  readOutcomes,
  readPix,
  readReleases,
} from './read-books.sql.ts';

/** Differences between the ledger's tables and the oracle's books, for these owners. */
export async function compareBooks(
  db: Queryable,
  oracle: Oracle,
  accountIds: readonly string[],
): Promise<string[]> {
  return [
    ...compareAccounts(await readAccounts(db, accountIds), oracle, accountIds),
    ...compareHolds(await readHolds(db, [...oracle.books.holds.keys()]), oracle),
    ...comparePix(await readPix(db, accountIds), oracle),
    ...compareItems(await readItems(db, accountIds), oracle),
    ...compareReleases(await readReleases(db, accountIds), oracle),
  ];
}

function compareAccounts(
  found: Awaited<ReturnType<typeof readAccounts>>,
  oracle: Oracle,
  accountIds: readonly string[],
): string[] {
  return accountIds.flatMap((accountId) => {
    const wanted = oracle.accountOf(accountId);
    const row = found.get(accountId);
    return ([...ORACLE_KINDS, 'forced', 'version'] as const).flatMap((name) => {
      const value = row?.[name] ?? 0;
      return value === wanted[name]
        ? []
        : [`account ${accountId} has ${name} ${value}, must have ${wanted[name]}`];
    });
  });
}

function compareHolds(found: Awaited<ReturnType<typeof readHolds>>, oracle: Oracle): string[] {
  const wanted = oracle.books.holds;
  const breaks = found.flatMap(({ holdId, state, amount }) => {
    const hold = wanted.get(holdId);
    if (hold?.state === state && hold.amount === amount) return [];
    return [`hold ${holdId} is ${state} of ${amount}, must be ${hold?.state} of ${hold?.amount}`];
  });
  if (found.length !== wanted.size) breaks.push(`${found.length} holds, must be ${wanted.size}`);
  return breaks;
}

function comparePix(found: Awaited<ReturnType<typeof readPix>>, oracle: Oracle): string[] {
  const wanted = oracle.books.pix;
  const breaks = found.flatMap(({ name, ...stands }) => {
    const { dispute = null, ...pix } = wanted.get(name) ?? {};
    const must = JSON.stringify({
      ...pix,
      dispute: dispute?.id ?? null,
      disputed: dispute?.amount ?? 0,
    });
    const is = JSON.stringify(stands);
    return is === must ? [] : [`Pix ${name} is ${is}, must be ${must}`];
  });
  if (found.length !== wanted.size) breaks.push(`${found.length} Pix, must be ${wanted.size}`);
  return breaks;
}

function compareItems(found: Awaited<ReturnType<typeof readItems>>, oracle: Oracle): string[] {
  const wanted = oracle.books.items;
  const breaks = found.flatMap(({ itemId, ...item }) => {
    const must = wanted.get(itemId);
    const isRight = must?.amount === item.amount && must.isOpen === item.isOpen;
    return isRight
      ? []
      : [`item ${itemId} is ${JSON.stringify(item)}, must be ${JSON.stringify(must)}`];
  });
  if (found.length !== wanted.size) breaks.push(`${found.length} items, must be ${wanted.size}`);
  return breaks;
}

function compareReleases(
  found: Awaited<ReturnType<typeof readReleases>>,
  oracle: Oracle,
): string[] {
  const wanted = oracle.books.waiting;
  const breaks = found.flatMap(({ creditId, amount }) =>
    wanted.get(creditId)?.amount === amount ? [] : [`release of ${creditId} must not wait`],
  );
  if (found.length !== wanted.size) breaks.push(`${found.length} wait, must be ${wanted.size}`);
  return breaks;
}

/** Kinds of commands whose outcome is published; the others are answered by HTTP, or nobody waits for them. */
const UNPUBLISHED = new Set(['hold.take', 'hold.void', 'pending.release']);

/** Every outcome of a command by topic is published once, in the order of its owner's journals. */
export async function compareOutcomes(
  db: Queryable,
  decided: readonly Decided[],
  accountIds: readonly string[],
): Promise<string[]> {
  const outcomes = await readOutcomes(db, accountIds);
  const found = new Map(decided.map(({ command, found }) => [command.id, found]));
  const wanted = decided.filter(({ command }) => !UNPUBLISHED.has(command.kind));
  const breaks: string[] = [];
  const counts = new Map<string, number>();
  const newest = new Map<string, number>();
  for (const { commandId, accountId } of outcomes) {
    counts.set(commandId, (counts.get(commandId) ?? 0) + 1);
    const version = found.get(commandId)?.version ?? null;
    if (version === null) continue;
    const before = newest.get(accountId) ?? 0;
    if (version < before) breaks.push(`the outcome of ${commandId} is published out of order`);
    newest.set(accountId, version);
  }
  for (const { command } of wanted) {
    const count = counts.get(command.id) ?? 0;
    if (count !== 1)
      breaks.push(`the outcome of ${command.kind} ${command.id} stands ${count} times`);
  }
  if (outcomes.length !== wanted.length) {
    breaks.push(`${outcomes.length} outcomes are published, must be ${wanted.length}`);
  }
  return breaks;
}
