import { type OperatorId, parseId } from '@pixmesh/kernel/ids';
import { z } from 'zod';

/** An id of one kind; the brand is all that the schema adds. */
export function idOf<Id extends string>() {
  return z.uuid().transform((id) => id as Id);
}

/** Who acts. */
export const OperatorIdField = idOf<OperatorId>();

/** A UUID in any case, as the database writes it. */
export const AnyCaseId = z
  .string()
  .refine((text) => parseId(text) !== null, { error: 'expected a UUID' })
  .toLowerCase();
