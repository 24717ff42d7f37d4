import { type AccountId, type ApplicationId, newId } from '@pixmesh/kernel/ids';
import { describe, expect, test } from 'vitest';

import type { Application } from './applications.sql.ts';
import { decideApplication } from './decide-application.ts';

function anApplication(changes: Partial<Application> = {}): Application {
  return {
    id: newId<ApplicationId>(),
    accountId: newId<AccountId>(),
    name: 'shop',
    active: true,
    version: 3,
    fingerprint: Buffer.alloc(32),
    createdAt: new Date(),
    ...changes,
  };
}

describe('a change of an application', () => {
  test.each([
    { from: true, to: false },
    { from: false, to: true },
  ])('of active $from to $to counts a version and is announced', ({ from, to }) => {
    const before = anApplication({ active: from });
    expect(decideApplication(before, { active: to })).toEqual({
      after: { ...before, active: to, version: 4 },
      isAnnounced: true,
    });
  });

  test.each([
    { content: 'nothing', changes: {} },
    { content: 'only nulls', changes: { name: null, active: null } },
    { content: 'what it is already', changes: { name: 'shop', active: true } },
  ])('of $content changes nothing', ({ changes }) => {
    const before = anApplication();
    expect(decideApplication(before, changes)).toEqual({ after: before, isAnnounced: false });
  });

  test('of the name alone is nobody else’s business', () => {
    const before = anApplication({ active: false });
    expect(decideApplication(before, { name: 'site' })).toEqual({
      after: { ...before, name: 'site' },
      isAnnounced: false,
    });
  });
});
