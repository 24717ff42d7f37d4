import { createServiceApp, type MutualTls } from '@pixmesh/http/service-app';
import type { TlsIdentity } from '@pixmesh/service/tls-identity';
import type { Logger } from '@pixmesh/telemetry/logger';
import { AppError } from '@pixmesh/kernel/app-error';
import type { FastifyInstance, FastifyRequest } from 'fastify';

import { type AccessTokens, createAccessTokens } from '#tokens/access-token.ts';
import { addAdjustBalance } from '#balance/adjust-balance.route.ts';
import { addReadBalance } from '#balance/read-balance.route.ts';
import type { ChangeDeps } from '#callbacks/announce.ts';
import { addIssueToken } from '#tokens/issue-token.route.ts';
import { scopeOf } from '#tokens/scopes.ts';
import { isStorableBody } from '#api-pix/plain-request.ts';
import { sendAnswer, toProviderError } from '#api-pix/provider-answer.ts';
import { apiPixError } from '#api-pix/provider-error.ts';
import { addReadAndCancelCharge } from '#charges/charge.route.ts';
import type { ChargeReads } from '#charges/charges.sql.ts';
import { addIssueCharge } from '#charges/issue-charge.route.ts';
import { addListCharges } from '#charges/list-charges.route.ts';
import type { NewCharges } from '#charges/new-charges.sql.ts';
import { addResendCallbacks } from '#resends/resend-callbacks.route.ts';
import { refuseForeignHosts, refuseOtherSites } from '#control/refuse-other-sites.ts';
import { addClock } from '#clock/clock.route.ts';
import type { Clock } from '#clock/clock.ts';
import { addControlDisputes } from '#disputes/control-disputes.route.ts';
import { addDisputes } from '#disputes/disputes.route.ts';
import { addFaults } from '#faults/faults.route.ts';
import { createProvider, type Provider } from '#faults/provider.ts';
import { addReadJournal } from '#journal/read-journal.route.ts';
import { addPage, addReadState } from '#page/page.route.ts';
import { addPayBrCode } from '#payer/pay-br-code.route.ts';
import { addShowPayload } from '#payloads/show-payload.route.ts';
import { addControlArrivals } from '#pix/control-arrivals.route.ts';
import type { Payments } from '#pix/payments.ts';
import { addReadReceived } from '#pix/read-received.route.ts';
import { addSetTariff } from '#pix/set-tariff.route.ts';
import type { StoredProfile } from '#profile/profile.ts';
import { addSetProfile } from '#profile/set-profile.route.ts';
import { addControlReturns } from '#refunds/control-returns.route.ts';
import { addRefundPix } from '#refunds/refund-pix.route.ts';
import { releaseHeldRefunds } from '#refunds/refunds.sql.ts';
import { addControlSends } from '#sends/control-sends.route.ts';
import { releaseHeldSends } from '#sends/end-sends.sql.ts';
import type { NewSends } from '#sends/new-sends.sql.ts';
import { addReadSends } from '#sends/read-sends.route.ts';
import { addSendPix } from '#sends/send-pix.route.ts';
import type { SendReads } from '#sends/sends.sql.ts';
import type { StoredSetting } from '#settings/stored-setting.ts';
import { addRegisterWebhook } from '#webhooks/register-webhook.route.ts';

export type SimulatorDeps = ChangeDeps & {
  logger: Logger;
  newCharges: NewCharges;
  chargeReads: ChargeReads;
  newSends: NewSends;
  sendReads: SendReads;
  /** Those that share statements. */
  payments: Payments;
  /** The provider's time. */
  clock: Clock;
  /** Notifies that something stored becomes due in that time. */
  expectDue: (inMs: number) => void;
  profile: StoredSetting<StoredProfile>;
  clientId: string;
  clientSecret: string;
  otherClientSecret: string | undefined;
  /** What the listener is bound to. */
  host: string;
  /** What callbacks show to a URL that asks for a certificate. */
  clientTls: TlsIdentity | null;
};

type ProviderDeps = SimulatorDeps & { tokens: AccessTokens };

/** The provider's API and the control API on one listener, not listening yet. */
export function buildSimulatorApp(deps: SimulatorDeps): FastifyInstance {
  const app = createServiceApp({ logger: deps.logger, listener: 'api' });
  registerProvider(app, deps);
  addShowPayload(app, deps);
  void app.register(async (local) => {
    refuseForeignHosts(local, deps.host);
    addPage(local, deps);
    void local.register(async (control) => {
      refuseOtherSites(control);
      control.addHook('preHandler', async ({ body }) => {
        if (!isStorableBody(body)) throw new AppError('VALIDATION_ERROR', { details: ['body'] });
      });
      addControl(control, deps);
    });
  });
  return app;
}

function addControl(control: FastifyInstance, deps: SimulatorDeps): void {
  addClock(control, deps);
  addFaults(control, { faults: deps.faults, releaseHeld });
  addControlArrivals(control, deps);
  addPayBrCode(control, deps);
  addReadJournal(control, deps);
  addSetProfile(control, deps);
  addControlSends(control, deps);
  addControlReturns(control, deps);
  addControlDisputes(control, deps);
  addSetTariff(control, deps);
  addAdjustBalance(control, deps);
  addReadState(control, deps);

  async function releaseHeld(): Promise<void> {
    await releaseHeldSends(deps.db, deps.faults.heldBack('settlePayout'));
    await releaseHeldRefunds(deps.db, deps.faults.heldBack('settleRefund'));
    deps.expectDue(0);
  }
}

/** The provider's API alone, for clients with a certificate; the control API is for the developer who runs it. */
export function buildProviderApp(deps: SimulatorDeps, mutualTls: MutualTls): FastifyInstance {
  const app = createServiceApp({ logger: deps.logger, listener: 'api-tls', mutualTls });
  registerProvider(app, deps);
  return app;
}

function registerProvider(app: FastifyInstance, deps: SimulatorDeps): void {
  const stopping = new AbortController();
  app.addHook('preClose', async () => stopping.abort());
  const tokens = createAccessTokens(deps.clientSecret);
  for (const [prefix, routes] of Object.entries(PROVIDER)) {
    void app.register(
      async (scope) => {
        guardProvider(scope, { ...deps, tokens });
        const provider = createProvider(scope, { ...deps, stopping: stopping.signal });
        for (const add of routes) add(provider, { ...deps, tokens });
      },
      { prefix },
    );
  }
}

/** What a client of the provider sees; errors here have the provider's form, not the mesh's. */
function guardProvider(scope: FastifyInstance, deps: ProviderDeps): void {
  scope.setErrorHandler((error, _request, reply) => {
    const answer = toProviderError(error);
    if (answer.status >= 500) deps.logger.error({ err: error }, 'request failed');
    return sendAnswer(reply, answer);
  });
  const isOpen = scope.prefix === TOKENS;
  if (!isOpen) scope.addHook('onRequest', async (request) => authorize(request, deps.tokens));
  // A path that ends before its last parameter comes here without the hook.
  scope.setNotFoundHandler((request) => {
    if (!isOpen) authorize(request, deps.tokens);
    throw apiPixError('NaoEncontrado', 404);
  });
}

/** @throws ProviderError 401 without a token in force, 403 where it does not allow the route */
function authorize(request: FastifyRequest, tokens: AccessTokens): void {
  const token = /^Bearer (.+)$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
  const scopes = tokens.read(token);
  if (scopes === null) throw apiPixError('AcessoNegado', 401);
  const { url } = request.routeOptions;
  if (request.is404 || url === undefined) return;
  const needed = scopeOf(request.method, url);
  if (needed === null || !scopes.includes(needed)) throw apiPixError('AcessoNegado', 403);
}

type AddRoutes = (provider: Provider, deps: ProviderDeps) => void;

const TOKENS = '/oauth';

/** By the first segment of a path: below it everything, known or not, is answered in the provider's forms. */
const PROVIDER: Readonly<Record<string, readonly AddRoutes[]>> = {
  [TOKENS]: [addIssueToken],
  '/v2': [
    addIssueCharge,
    addReadAndCancelCharge,
    addListCharges,
    addReadReceived,
    addRefundPix,
    addDisputes,
    addReadSends,
    addReadBalance,
    addRegisterWebhook,
    addResendCallbacks,
  ],
  '/v3': [addSendPix],
};
