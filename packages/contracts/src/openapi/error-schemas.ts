import { z } from 'zod';

import { ERROR_STATUS, ErrorBody, type PublicErrorCode } from '../http/error-body.ts';
import { PUBLIC_ROUTES } from '../http/public-routes.ts';

/** Codes that a route of `/v1` may answer beside its own, or that the router answers where no route is. */
const BESIDE: ReadonlySet<PublicErrorCode> = new Set([
  'UNAUTHORIZED',
  'INSUFFICIENT_SCOPE',
  'NOT_FOUND',
  'METHOD_NOT_ALLOWED',
  'RATE_LIMITED',
  'INTERNAL_ERROR',
] as const);

const OF_ROUTES = new Set<PublicErrorCode>(
  Object.values(PUBLIC_ROUTES).flatMap((route) => route.errors),
);

/** Codes that merchants may get, in the order of the table of statuses. */
export const PublicCode = z.enum(
  listCodes().filter((code) => OF_ROUTES.has(code) || BESIDE.has(code)),
);

/** Codes that operators may get: those of merchants too, which their creations answer. */
export const AdminCode = z.enum(listCodes());

const TEXT =
  '`code` is stable and made for programs, `message` is for people and may change, `details` lists failing fields, ' +
  'headers, parameters or required scopes.';

export const ErrorSchema = ErrorBody.omit({ charge_id: true })
  .extend({ code: PublicCode })
  .meta({ description: TEXT });

const TEXT_WITH_CHARGE = `${TEXT} \`charge_id\` names the charge that was stored all the same.`;

/** The body of an error of a creation of a charge, which may name that charge. */
export const ChargeErrorSchema = ErrorBody.extend({ code: PublicCode }).meta({
  description: TEXT_WITH_CHARGE,
});

/** The body of every error of `/admin`: operators create charges too. */
export const AdminErrorSchema = ErrorBody.extend({ code: AdminCode }).meta({
  description: TEXT_WITH_CHARGE,
});

function listCodes(): PublicErrorCode[] {
  return Object.keys(ERROR_STATUS) as PublicErrorCode[];
}
