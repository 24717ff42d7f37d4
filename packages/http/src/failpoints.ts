/**
 * Named places where a test can make a process die, hang or fail: before and after every commit and every
 * call to another system. Armed through the internal listener, so that a restart disarms them; that listener
 * refuses in production. Each failpoint fires once.
 */
export const FAILPOINTS = [
  'charges.create.before-insert',
  'charges.create.after-insert',
  'charges.create.after-answer',
  'charges.create.after-commit',
  'charges.paid.after-readback',
  'charges.paid.after-commit',
  'charges.paid.before-ledger-event',
  'charges.return.before-commit',
  'charges.return.after-commit',
  'charges.suspense.before-call',
  'charges.suspense.in-call',
  'charges.suspense.after-answer',
  'charges.cancel.in-call',
  'charges.cancel.after-answer',
  'charges.cancel.after-commit',
  'charges.refund.before-insert',
  'charges.refund.after-intent',
  'charges.refund.after-hold',
  'charges.refund.after-commit',
  'charges.refund.before-call',
  'charges.refund.in-call',
  'charges.refund.after-answer',
  'charges.refund.before-end',
  'charges.refund.after-end',
  'charges.dispute.after-commit',
  'charges.dispute.after-defense',
  'payouts.create.before-insert',
  'payouts.create.after-intent',
  'payouts.create.after-hold',
  'payouts.create.after-commit',
  'payouts.submit.before-call',
  'payouts.submit.in-call',
  'payouts.submit.after-answer',
  'payouts.settle.after-commit',
  'gateway.callback.before-store',
  'gateway.callback.after-store',
  'ledger.command.after-commit',
  'ledger.hold.after-commit',
  'outbox.relay.after-publish',
  'webhooks.intake.after-commit',
  'webhooks.send.after-claim',
  'webhooks.send.after-2xx',
] as const;

export type Failpoint = (typeof FAILPOINTS)[number];
const ACTIONS = ['kill', 'hang', 'error'] as const;
export type FailpointAction = (typeof ACTIONS)[number];

const armed = new Map<string, FailpointAction>();

/** Replaces what is armed. @throws when a name or an action is unknown; nothing changes then */
export function armFailpoints(actions: Record<string, FailpointAction>): void {
  for (const [name, action] of Object.entries(actions)) {
    if (!FAILPOINTS.includes(name as Failpoint)) throw new Error(`unknown failpoint ${name}`);
    if (!ACTIONS.includes(action)) throw new Error(`unknown action of failpoint ${name}`);
  }
  armed.clear();
  for (const [name, action] of Object.entries(actions)) armed.set(name, action);
}

/** Does nothing unless a test armed this place. */
export async function failpoint(name: Failpoint): Promise<void> {
  const action = armed.get(name);
  if (action === undefined) return;
  armed.delete(name);
  if (action === 'error') throw new Error(`failpoint ${name}`);
  if (action === 'hang') return await new Promise<never>(() => undefined);
  process.kill(process.pid, 'SIGKILL');
}
