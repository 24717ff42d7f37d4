import { randomBytes, randomUUID } from 'node:crypto';
import { verifyWebhookSignature } from '@pixmesh/kernel/webhook-signature';
import type { DemoClient, ReceivedRequest } from './demo-client.ts';
import { expect, until } from '../http-call.ts';
import type { Timeline } from './timeline.ts';

const SECRET_BYTES = 24;

/** Where the demo's merchant receives the events of one resource; a path of its own, so that nothing else counts. */
export function createMerchantHook() {
  const path = `/hook-${randomUUID()}`;
  const secret = randomBytes(SECRET_BYTES).toString('base64url');
  return {
    path,
    secret,
    /** The fields of a creation that ask for deliveries. */
    fields: { webhook_url: `http://shop.receiver.example.com${path}`, webhook_secret: secret },
  };
}

/** Waits for one signed delivery of each event, and notes them when they arrived. */
export async function noteDeliveries(
  parts: { client: DemoClient; timeline: Timeline; hook: ReturnType<typeof createMerchantHook> },
  expected: { resourceId: string; events: readonly string[] },
): Promise<void> {
  const { client, timeline, hook } = parts;
  const deliveries = await until(
    `delivery of ${expected.events.join(', ')}`,
    async () => findDeliveries(await client.listReceived(hook.path), expected),
    (found) => found.length >= expected.events.length,
  );
  for (const { event, request } of deliveries) {
    const body = Buffer.from(request.body_base64, 'base64');
    const header = request.headers['x-webhook-signature'];
    const isSigned = verifyWebhookSignature(hook.secret, body, header);
    expect(isSigned, `the signature of ${event} is wrong`);
    const text = `${event} delivered, signature right`;
    timeline.note('webhook receiver', text, Date.parse(request.received_at));
  }
}

/** The first delivery of each expected event of one resource. */
export function findDeliveries(
  requests: readonly ReceivedRequest[],
  expected: { resourceId: string; events: readonly string[] },
): { event: string; request: ReceivedRequest }[] {
  return expected.events.flatMap((event) => {
    const request = requests.find(
      (one) =>
        one.headers['x-webhook-event'] === event && resourceIdOf(one) === expected.resourceId,
    );
    return request ? [{ event, request }] : [];
  });
}

function resourceIdOf(request: ReceivedRequest): string | undefined {
  const body = JSON.parse(request.body) as { data?: { id?: string } };
  return body.data?.id;
}
