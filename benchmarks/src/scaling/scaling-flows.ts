import {
  createChargeAndWait,
  LIFE_KINDS,
  type LifeDeps,
  type LifeKind,
} from '../lives/life-kinds.ts';
import { aCharge } from '../lives/mesh-calls.ts';
import { receiverOrigin } from '../webhook-arrivals.ts';

/** Work whose rate is bounded by one service, whatever the others could do. */
export type ScalingFlow = {
  name: string;
  service: string;
  /** Makes what one measurement uses up, before the processes are bounded. */
  prepare?(deps: LifeDeps): Promise<void>;
  doOne(deps: LifeDeps): Promise<void>;
};

/** More than are paid in a warm-up without a bound, or by four processes with one. */
const PAYABLE = 10_000;
const CREATORS = 64;
/** Many more than there are processes. */
const HOSTS = 64;

export const SCALING_FLOWS: readonly ScalingFlow[] = [
  {
    name: 'charges created',
    service: 'charges',
    doOne: async ({ mesh, shop }) => void (await mesh.createCharge(shop, aCharge())),
  },
  {
    name: 'payouts completed',
    service: 'payouts',
    doOne: async (deps) => void (await lifeOf('automatic').live(deps)),
  },
  callbacksFlow(),
  deliveriesFlow(),
];

/** From the payment at the acquirer through its callback to the webhook; what is paid was created before. */
function callbacksFlow(): ScalingFlow {
  const payable: string[] = [];
  return {
    name: 'callbacks until paid',
    service: 'charges',
    prepare: async ({ mesh, shop }) => {
      const create = async () => {
        while (payable.length < PAYABLE) payable.push(await mesh.createCharge(shop, aCharge()));
      };
      await Promise.all(Array.from({ length: CREATORS }, create));
    },
    doOne: async ({ mesh }) => {
      const id = payable.pop();
      if (id === undefined) throw new Error('no charge is left to be paid');
      await mesh.pay(id);
      await mesh.arrival('charge.pix.paid', id);
    },
  };
}

/** To many hosts in turn: what one host gets goes through one process. */
function deliveriesFlow(): ScalingFlow {
  let count = 0;
  return {
    name: 'deliveries of new charges',
    service: 'webhook-dispatcher',
    doOne: async (deps) => {
      count += 1;
      const webhook_url = `${receiverOrigin(`host-${count % HOSTS}`)}/hook`;
      await createChargeAndWait(deps, { ...aCharge(), webhook_url });
    },
  };
}

function lifeOf(name: string): LifeKind {
  const kind = LIFE_KINDS.find((known) => known.name === name);
  if (kind === undefined) throw new Error(`no life "${name}"`);
  return kind;
}
