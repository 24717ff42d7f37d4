/**
 * One event of each account in turn, then a second one of each, and an account's own in their order: where a batch is
 * stored in portions, nobody's event waits behind those of an account with many endpoints.
 */
export function eventsInTurn<Event extends { accountId: string }>(
  events: readonly Event[],
): Event[] {
  const byAccount = [...Map.groupBy(events, ({ accountId }) => accountId).values()];
  const rounds = Math.max(0, ...byAccount.map(({ length }) => length));
  return Array.from({ length: rounds }, (_, round) =>
    byAccount.flatMap((ofAccount) => ofAccount.slice(round, round + 1)),
  ).flat();
}
