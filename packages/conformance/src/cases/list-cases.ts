import { equal } from '../client/expectations.ts';
import { it, type Observe, type ObservedCase } from '../suite/case.ts';
import { includes } from '../world/collection.ts';
import { fourOf } from '../world/fixtures.ts';
import type { Kind } from '../world/merchant.ts';
import { refused } from '../world/refusals.ts';

/** Cases of the filters that charges and payouts have in common. */
export function listCases(kind: Kind) {
  return {
    statusCases: (statuses: readonly string[]): ObservedCase[] =>
      statuses.map((status) =>
        it(
          `status.${status}`,
          `\`status\`: \`${status}\` gives ${kind} of this status`,
          async (w) => {
            const { data } = await w.own[kind].list(`status=${status}&limit=100`);
            for (const item of data) equal(item.status, status, 'status');
          },
        ),
      ),
    badFilter: (name: string, value: string): ObservedCase =>
      it(`${name}.not-${value}`, `\`${name}\`: "${value}" is refused`, async (w) => {
        refused(await w.own.call(`GET /v1/${kind}?${name}=${value}`), 'VALIDATION_ERROR', [name]);
      }),
    /** Asks from the second of four; the one beyond it is there, and none on this side. */
    createdCase: (filter: CreatedFilter, sentence: string, observe: Observe): ObservedCase =>
      observe(filter, `\`${filter}\`: ${sentence}`, async (w) => {
        const { merchant, items } = await fourOf(w, kind);
        const limit = items[1]?.created_at ?? '';
        const { data } = await merchant[kind].list(`${filter}=${limit}&limit=100`);
        const isRight = (at: string) => (filter === 'created_after' ? at > limit : at < limit);
        equal(data.filter(({ created_at }) => !isRight(created_at)).length, 0, 'others');
        includes(data, items[filter === 'created_after' ? 0 : 2]?.id);
      }),
  };
}

type CreatedFilter = 'created_after' | 'created_before';
