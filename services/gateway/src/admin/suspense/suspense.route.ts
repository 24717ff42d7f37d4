import { SuspenseItem } from '@pixmesh/contracts/admin/admin-resources';
import {
  RESOLVE_SUSPENSE_PATH,
  ResolveSuspenseBody,
  type ResolveSuspenseRequest,
} from '@pixmesh/contracts/internal/suspense';
import { readBody } from '@pixmesh/http/json-request';
import { invalidRequest } from '@pixmesh/http/refusal';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { z } from 'zod';

import { findAccount } from '#account/accounts.sql.ts';

import type { OwnerAndTablesDeps } from '../owners/call-owner.ts';
import { registerOwnedChange } from '../owners/owned-change.route.ts';

/**
 * `POST /admin/suspense/{id}/resolve`: what becomes of money that waits for an operator (decision 141). The ledger
 * shows the item, and the service that booked it ends it. Accepted with 202: the ledger books it, and for a return the
 * acquirer sends the money back, after the answer.
 */
export function registerSuspense(app: FastifyInstance, deps: OwnerAndTablesDeps): void {
  registerOwnedChange(app, deps, {
    url: '/admin/suspense/:id/resolve',
    takesBody: true,
    owner: 'charges',
    ownerOf: ({ payout_id }) => (payout_id === null ? 'charges' : 'payouts'),
    reader: 'ledger',
    kind: 'suspense_item',
    get: '/internal/suspense/:id',
    path: RESOLVE_SUSPENSE_PATH,
    schema: SuspenseItem,
    asked: 'suspense.resolution_requested',
    done: 'suspense.resolution_accepted',
    mayChange: (item) => item.resolved_at === null,
    toBody: (item, request) => toRequest(deps, request, item),
  });
}

async function toRequest(
  deps: OwnerAndTablesDeps,
  request: FastifyRequest,
  item: z.output<typeof SuspenseItem>,
): Promise<z.input<typeof ResolveSuspenseRequest>> {
  const { action, account_id } = readBody(ResolveSuspenseBody, request);
  if (account_id !== null && (await findAccount(deps.db, account_id)) === null) {
    throw invalidRequest({ name: 'account_id', expected: 'the id of an account' });
  }
  const { account_id: owner, end_to_end_id, charge_id, payout_id, amount } = item;
  return {
    action,
    account_id,
    item: { account_id: owner, end_to_end_id, charge_id, payout_id, amount },
  };
}
