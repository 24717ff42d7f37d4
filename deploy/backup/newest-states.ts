import type { AuditExport } from './audited-states.ts';

type Closed = AuditExport['closed'];

/**
 * What was closed when the last of these exports was made. They come oldest first. Of what its entries name, an export
 * lists only what was closed then: what it names and does not list was open.
 */
export function newestStates(exports: readonly AuditExport[]): Closed {
  return {
    keys: newestOf(exports, ({ keys }) => keys),
    operators: newestOf(exports, ({ operators }) => operators),
    accounts: newestOf(exports, ({ accounts }) => accounts),
    stops: newestOf(exports, ({ stops }) => stops),
    applications: newestOf(exports, ({ applications }) => applications),
  };
}

function newestOf<State extends { id: string }>(
  exports: readonly AuditExport[],
  ofKind: (closed: Closed) => State[],
): State[] {
  const states = new Map<string, State>();
  for (const { entries, closed } of exports) {
    for (const { target_id } of entries) states.delete(target_id);
    for (const state of ofKind(closed)) states.set(state.id, state);
  }
  return [...states.values()];
}
