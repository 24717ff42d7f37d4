import { z } from 'zod';

import { Timestamp } from '../timestamp.ts';

/** What the acquirer answered when it was asked for one resource. */
const AcquirerAnswer = z.object({
  reachable: z.boolean().meta({ description: 'Whether it answered anything at all.' }),
  answer: z.enum(['found', 'not_found', 'none']).meta({
    description:
      '`found`: it has the resource. `not_found`: its own word that it has not. `none`: nothing that proves either.',
  }),
  error: z
    .string()
    .nullable()
    .meta({
      description:
        'Why there is no answer: `connection` (refused or reset), `timeout`, `status_<n>`, `unreadable` (no JSON that can be ' +
        'read), `foreign_code` (a charge whose BR Code leads to another payment), ' +
        '`breaker_open:<why>` (not asked, because it did not answer before), `token_<why>` (no access token); else null.',
    }),
});
export type AcquirerAnswer = z.output<typeof AcquirerAnswer>;

/** Where the status checks of a resource stand. */
export const LastStatusCheck = z.object({
  checked_at: Timestamp.nullable().meta({
    description: 'The last status check since the resource changed; null where there was none.',
  }),
  acquirer: AcquirerAnswer.nullable(),
  next_check_at: Timestamp.nullable().meta({
    description:
      'Null: asked again on a callback or by an operator only. In the past: no process checks.',
  }),
});
export type LastStatusCheck = z.output<typeof LastStatusCheck>;

/** What a status check that an operator asked for has seen, with the resource right after. */
export function statusCheckOf<Resource extends z.ZodType>(resource: Resource) {
  return z.object({
    id: z.uuid().meta({ description: 'Of the charge or payout.' }),
    object: z.literal('status_check'),
    checked_at: Timestamp.nullable().meta({
      description:
        'Null where the check did not end within the time limit of the call; it goes on without it.',
    }),
    acquirer: AcquirerAnswer.nullable(),
    resource,
  });
}
