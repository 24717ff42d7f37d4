import {
  COMPARE_APPLICATIONS_PATH,
  ComparedApplications,
  COMPARED_APPLICATIONS_MAX,
} from '@pixmesh/contracts/internal/compare-applications';
import { TOPICS } from '@pixmesh/contracts/topics';
import type { InternalClient } from '@pixmesh/http/internal-client';
import { requestJson } from '@pixmesh/http/request-json';
import type { Queryable } from '@pixmesh/postgres/pool';
import type { Check, FoundBreak } from '@pixmesh/reconciliation/check';
import { createResources } from '@pixmesh/reconciliation/resources';

import {
  type AnnouncedApplication,
  announceAgain,
  findAnnounced,
  listAnnounced,
} from './application-check.sql.ts';

export type ApplicationCheckDeps = {
  db: Queryable;
  dispatcher: InternalClient;
  wakeOutbox(): void;
};

/**
 * The dispatcher has stored the newest version of every application. One of which it has an older version in two runs
 * is announced again.
 */
export function applicationCheck(deps: ApplicationCheckDeps): Check {
  const { db } = deps;
  const applicationsIn = createResources<AnnouncedApplication>({
    db,
    topic: TOPICS.accountsEvents,
    pageSize: COMPARED_APPLICATIONS_MAX,
    read: (page) => listAnnounced(db, page),
    find: (ids) => findAnnounced(db, ids),
  });
  return {
    name: 'application',
    run: async (scope) => {
      const behind: string[] = [];
      let compared = 0;
      for await (const applications of applicationsIn(scope)) {
        scope.signal.throwIfAborted();
        compared += applications.length;
        for (const id of await compare(applications)) behind.push(id);
      }
      await heal(behind.filter((id) => scope.knownIds.includes(id)));
      const breaks = behind.map((id): FoundBreak => ({ kind: 'version', id }));
      return { compared, breaks };
    },
  };

  /** Those of which the dispatcher has an older version. Many may have changed since the last run. */
  async function compare(applications: readonly AnnouncedApplication[]): Promise<string[]> {
    const behind: string[] = [];
    for (let start = 0; start < applications.length; start += COMPARED_APPLICATIONS_MAX) {
      const some = applications.slice(start, start + COMPARED_APPLICATIONS_MAX);
      behind.push(...(await compareSome(some)));
    }
    return behind;
  }

  async function compareSome(applications: readonly AnnouncedApplication[]): Promise<string[]> {
    const asked = applications.map(({ id, version }) => ({ application_id: id, version }));
    const { behind } = await requestJson(deps.dispatcher, ComparedApplications, {
      service: 'webhook-dispatcher',
      route: `POST ${COMPARE_APPLICATIONS_PATH}`,
      body: { applications: asked },
    });
    return behind;
  }

  async function heal(lost: readonly string[]): Promise<void> {
    if (lost.length === 0) return;
    await announceAgain(db, lost);
    deps.wakeOutbox();
  }
}
