import { createServiceApp } from '@pixmesh/http/service-app';
import type { Database } from '@pixmesh/postgres/pool';
import type { Logger } from '@pixmesh/telemetry/logger';
import type { FastifyInstance } from 'fastify';

import { type AccessTokens, createAccessTokens } from '#api-pix/access-token.ts';
import { addAdjustBalance } from '#balance/adjust-balance.route.ts';
import { addReadBalance } from '#balance/read-balance.route.ts';
import { addIssueToken } from '#api-pix/issue-token.route.ts';
import { sendProviderError, toProviderError } from '#api-pix/provider-answer.ts';
import { apiPixError } from '#api-pix/provider-error.ts';
import { addCancelCharge } from '#charges/cancel-charge.route.ts';
import { addIssueCharge } from '#charges/issue-charge.route.ts';
import { addReadCharge } from '#charges/read-charge.route.ts';
import type { Faults } from '#faults/faults.ts';
import { addFaults } from '#faults/faults.route.ts';
import { createWithFaults, type WithFaults } from '#faults/with-faults.ts';
import { addReadJournal } from '#journal/read-journal.route.ts';
import { addPayCharge } from '#pix/pay-charge.route.ts';
import { addReadReceived } from '#pix/read-received.route.ts';
import type { StoredProfile } from '#profile/profile.ts';
import { addSetProfile } from '#profile/set-profile.route.ts';
import { addControlSends } from '#sends/control-sends.route.ts';
import { releaseHeldSends } from '#sends/end-sends.sql.ts';
import { addReadSends } from '#sends/read-sends.route.ts';
import { addSendPix } from '#sends/send-pix.route.ts';
import type { StoredSetting } from '#settings/stored-setting.ts';
import { addRegisterWebhook } from '#webhooks/register-webhook.route.ts';

export type SimulatorDeps = {
  db: Database;
  logger: Logger;
  faults: Faults;
  kickCallbacks: () => void;
  /** Says that something stored becomes due in that time. */
  expectDue: (inMs: number) => void;
  profile: StoredSetting<StoredProfile>;
  clientId: string;
  clientSecret: string;
  pixKey: string;
};

/** The provider's API and the control API on one listener, not listening yet. */
export function buildSimulatorApp(deps: SimulatorDeps): FastifyInstance {
  const app = createServiceApp({ logger: deps.logger, listener: 'api' });
  const stopping = new AbortController();
  app.addHook('preClose', async () => stopping.abort());
  const withFaults = createWithFaults({ ...deps, stopping: stopping.signal });
  const tokens = createAccessTokens(deps.clientSecret, () => new Date());
  void app.register(async (provider) => addProvider(provider, { ...deps, withFaults, tokens }));
  addFaults(app, { faults: deps.faults, releaseHeld });
  addPayCharge(app, deps);
  addReadJournal(app, deps);
  addSetProfile(app, deps);
  addControlSends(app, deps);
  addAdjustBalance(app, deps);
  return app;

  async function releaseHeld(): Promise<void> {
    const holds = deps.faults.script().rules.some(isHold);
    if (holds) return;
    await releaseHeldSends(deps.db);
    deps.expectDue(0);
  }
}

function isHold(rule: { operation: string; fault: string }): boolean {
  return rule.operation === 'settlePayout' && rule.fault === 'hang';
}

/** What a client of the provider sees; errors here have the provider's form, not the mesh's. */
function addProvider(
  provider: FastifyInstance,
  deps: SimulatorDeps & { withFaults: WithFaults; tokens: AccessTokens },
): void {
  provider.setErrorHandler((error, _request, reply) => {
    const answer = toProviderError(error);
    if (answer.status >= 500) deps.logger.error({ err: error }, 'request failed');
    return sendProviderError(reply, answer);
  });
  provider.addHook('onRequest', async (request) => {
    if (request.routeOptions.url === '/oauth/token') return;
    const token = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
    if (!deps.tokens.isValid(token)) throw apiPixError('AcessoNegado', 401);
  });
  addIssueToken(provider, deps);
  addIssueCharge(provider, deps);
  addReadCharge(provider, deps);
  addCancelCharge(provider, deps);
  addReadReceived(provider, deps);
  addSendPix(provider, deps);
  addReadSends(provider, deps);
  addReadBalance(provider, deps);
  addRegisterWebhook(provider, deps);
}
