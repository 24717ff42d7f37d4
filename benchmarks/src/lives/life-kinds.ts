import { aCharge, type Mesh, type MeshMerchant } from './mesh-calls.ts';

/** Where a life is played. */
export type LifeDeps = { mesh: Mesh; shop: MeshMerchant; payer: MeshMerchant };

export type LifeKind = {
  name: string;
  description: string;
  /** One life to its end. Answers the milliseconds of the part that a merchant waits for. */
  live(deps: LifeDeps): Promise<number>;
};

const CREATED = ['charge.pix.created', 'charge.pix.emitted'];

/** What is measured, one after the other: the lives that a charge and a payout can have. */
export const LIFE_KINDS: readonly LifeKind[] = [
  {
    name: 'unpaid',
    description: 'a charge until its two webhooks; the time counts from the request',
    live: async ({ mesh, shop }) => {
      const startedMs = performance.now();
      return (await createChargeAndWait({ mesh, shop }, aCharge())) - startedMs;
    },
  },
  {
    name: 'paid',
    description: 'a charge until the third webhook; the time counts from the payment',
    live: async (deps) => (await payCharge(deps)).ms,
  },
  {
    name: 'refunded',
    description:
      'a paid charge until the webhook of its whole refund; the time counts from the request',
    live: async (deps) => {
      const { id } = await payCharge(deps);
      const startedMs = performance.now();
      await deps.mesh.refund(id);
      return (await deps.mesh.arrival('charge.pix.refunded', id)) - startedMs;
    },
  },
  {
    name: 'disputed',
    description:
      'a paid charge until the webhook of a dispute that was won; the time counts from the dispute',
    live: async (deps) => {
      const { id } = await payCharge(deps);
      return await deps.mesh.disputeAndWin(id);
    },
  },
  {
    name: 'automatic',
    description: 'a payout until it is completed; the time counts from the request',
    live: async ({ mesh, payer }) => {
      const startedMs = performance.now();
      const id = await mesh.createPayout(payer);
      return await endOfPayout(mesh, id, startedMs);
    },
  },
  {
    name: 'manual',
    description:
      'a payout that an operator approves, until it is completed; the time counts from the approval',
    live: async ({ mesh, shop }) => {
      const id = await mesh.createPayout(shop);
      const startedMs = performance.now();
      await mesh.approve(id);
      return await endOfPayout(mesh, id, startedMs);
    },
  },
];

/** Creates a charge and waits for its two webhooks; answers when the later one arrived. */
export async function createChargeAndWait(
  { mesh, shop }: Pick<LifeDeps, 'mesh' | 'shop'>,
  body: object,
): Promise<number> {
  const id = await mesh.createCharge(shop, body);
  return Math.max(...(await Promise.all(CREATED.map((event) => mesh.arrival(event, id)))));
}

async function payCharge({ mesh, shop }: LifeDeps): Promise<{ id: string; ms: number }> {
  const id = await mesh.createCharge(shop, aCharge());
  const created = CREATED.map((event) => mesh.arrival(event, id));
  const startedMs = performance.now();
  await mesh.pay(id);
  const paidMs = await mesh.arrival('charge.pix.paid', id);
  await Promise.all(created);
  return { id, ms: paidMs - startedMs };
}

async function endOfPayout(mesh: Mesh, id: string, startedMs: number): Promise<number> {
  const ends = ['payment.pix.created', 'payment.pix.processing'].map((event) =>
    mesh.arrival(event, id),
  );
  const completedMs = await mesh.completion(id);
  await Promise.all(ends);
  return completedMs - startedMs;
}
