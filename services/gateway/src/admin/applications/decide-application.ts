import type { Application } from './applications.sql.ts';

/** What is absent or null stays as it is. */
type Changes = { name?: string | null | undefined; active?: boolean | null | undefined };

/**
 * What a change makes of an application, and whether it is announced: other services follow whether it is active and
 * nothing else, so only that counts a version and makes an event. Said twice it changes nothing more.
 */
export function decideApplication(
  before: Application,
  changes: Changes,
): { after: Application; isAnnounced: boolean } {
  const active = changes.active ?? before.active;
  const isAnnounced = active !== before.active;
  const version = isAnnounced ? before.version + 1 : before.version;
  return {
    after: { ...before, name: changes.name ?? before.name, active, version },
    isAnnounced,
  };
}
