import { z } from 'zod';

import { adminName } from './admin-name.ts';
import { LimitField } from './limit-field.ts';
import { orDefault, orNull } from '../http/optional-field.ts';
import { Scope } from '../http/scopes.ts';

const ExpiresAt = z.iso.datetime({ offset: true }).transform((text) => new Date(text));

export const CreateOperatorBody = z.object({ name: adminName() });

export const CreateApplicationBody = z.object({
  name: adminName(),
  active: orDefault(z.boolean(), true),
});
/** Absent and null leave a field as it is (decision 7). */
export const UpdateApplicationBody = z.object({
  name: adminName().nullish(),
  active: z.boolean().nullish(),
});

export const CreateKeyBody = z.object({
  name: adminName(),
  scopes: z.array(Scope).transform((scopes) => [...new Set(scopes)].sort()),
  expires_at: orNull(ExpiresAt),
});
/** Null means something here: a key without expiry, or without that limit. */
export const UpdateKeyBody = z.object({
  suspended: z.boolean().nullish(),
  expires_at: ExpiresAt.nullable().optional(),
  requests_per_minute_max: LimitField,
  requests_in_flight_max: LimitField,
});
