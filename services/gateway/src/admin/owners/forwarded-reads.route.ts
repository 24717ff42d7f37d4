import { DISPATCHERS_PATH } from '@pixmesh/contracts/internal/dispatchers';
import { OPERATOR_CHARGE_PATHS } from '@pixmesh/contracts/internal/operator-charges';
import { OPERATOR_DELIVERY_PATHS } from '@pixmesh/contracts/internal/operator-deliveries';
import { OPERATOR_DISPUTE_PATHS } from '@pixmesh/contracts/internal/operator-disputes';
import { OPERATOR_PAYOUT_PATHS } from '@pixmesh/contracts/internal/operator-payouts';
import { PAYOUT_STOP_PATHS } from '@pixmesh/contracts/internal/payout-stops';
import type { AccountId } from '@pixmesh/kernel/ids';
import type { FastifyInstance } from 'fastify';

import { findAccount } from '#account/accounts.sql.ts';
import { buildUpstreamPath } from '#forwarding/build-upstream-path.ts';
import { relayAnswer } from '#forwarding/forwardable-answer.ts';

import { found, requirePathId } from '../read-request.ts';
import { callOwner, type OwnerAndTablesDeps, type OwnerService } from './call-owner.ts';

/** One read that its owner answers as it stands: filters, paging and faults are the owner's. */
type ForwardedRead = {
  path: `/admin/${string}`;
  owner: OwnerService;
  upstream: `/internal/${string}`;
  /** Whether `:id` is an account, which only the gateway can tell from an unknown one. */
  ofAccount?: true;
};

const FORWARDED_READS: readonly ForwardedRead[] = [
  { path: '/admin/charges', owner: 'charges', upstream: OPERATOR_CHARGE_PATHS.list },
  { path: '/admin/charges/:id', owner: 'charges', upstream: OPERATOR_CHARGE_PATHS.get },
  { path: '/admin/charges/:id/refunds', owner: 'charges', upstream: OPERATOR_CHARGE_PATHS.refunds },
  { path: '/admin/disputes', owner: 'charges', upstream: OPERATOR_DISPUTE_PATHS.list },
  { path: '/admin/disputes/:id', owner: 'charges', upstream: OPERATOR_DISPUTE_PATHS.get },
  { path: '/admin/payouts', owner: 'payouts', upstream: OPERATOR_PAYOUT_PATHS.list },
  { path: '/admin/payouts/stops', owner: 'payouts', upstream: PAYOUT_STOP_PATHS.list },
  { path: '/admin/payouts/:id', owner: 'payouts', upstream: OPERATOR_PAYOUT_PATHS.get },
  {
    path: '/admin/accounts/:id/balances',
    owner: 'ledger',
    upstream: '/internal/accounts/:id/balances',
    ofAccount: true,
  },
  {
    path: '/admin/accounts/:id/journals',
    owner: 'ledger',
    upstream: '/internal/accounts/:id/journals',
    ofAccount: true,
  },
  { path: '/admin/suspense', owner: 'ledger', upstream: '/internal/suspense' },
  {
    path: '/admin/deliveries',
    owner: 'webhook-dispatcher',
    upstream: OPERATOR_DELIVERY_PATHS.listDeliveries,
  },
  {
    path: '/admin/deliveries/:id',
    owner: 'webhook-dispatcher',
    upstream: OPERATOR_DELIVERY_PATHS.getDelivery,
  },
  {
    path: '/admin/recoveries',
    owner: 'webhook-dispatcher',
    upstream: OPERATOR_DELIVERY_PATHS.listRecoveries,
  },
  {
    path: '/admin/recoveries/:id',
    owner: 'webhook-dispatcher',
    upstream: OPERATOR_DELIVERY_PATHS.getRecovery,
  },
  { path: '/admin/dispatchers', owner: 'webhook-dispatcher', upstream: DISPATCHERS_PATH },
];

/** Registers the reads of operators that other services answer. */
export function registerForwardedReads(app: FastifyInstance, deps: OwnerAndTablesDeps): void {
  for (const { path, owner, upstream, ofAccount } of FORWARDED_READS) {
    app.get<{ Params: Record<string, string> }>(path, async (request, reply) => {
      if (ofAccount) found(await findAccount(deps.db, requirePathId(request) as AccountId));
      const target = buildUpstreamPath(upstream, request.params, request.raw.url ?? '');
      const call = { request, method: 'GET', path: target } as const;
      return relayAnswer(reply, await callOwner(deps, owner, call));
    });
  }
}
