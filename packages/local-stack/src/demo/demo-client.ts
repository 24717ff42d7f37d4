import { randomUUID } from 'node:crypto';
import type { StackFile } from '../mesh/stack-file.ts';
import { call } from '../http-call.ts';

const RECEIVED_MAX = 100;

export interface DemoCharge {
  id: string;
  status: string;
  amount: number;
}

export interface DemoPayout {
  id: string;
  status: string;
  amount: number;
  fee: number;
  end_to_end_id: string | null;
  failure_reason: string | null;
}

/** One request that the development receiver was sent. */
export interface ReceivedRequest {
  sequence: number;
  headers: Record<string, string>;
  body: string;
  body_base64: string;
  received_at: string;
}

export type DemoClient = ReturnType<typeof createDemoClient>;

/** All that the demo knows of a mesh. */
export type DemoTarget = Pick<
  StackFile,
  'gateway_url' | 'simulator_url' | 'receiver_url' | 'api_key'
>;

/** The calls of the demo, all of them public contracts. */
export function createDemoClient(target: DemoTarget) {
  const headers = { 'x-api-key': target.api_key };
  const get = <T>(path: string) => call<T>('GET', `${target.gateway_url}/v1${path}`, { headers });
  const create = <T>(path: string, body: object, idempotencyKey: string = randomUUID()) =>
    call<T>('POST', `${target.gateway_url}/v1${path}`, {
      headers: { ...headers, 'idempotency-key': idempotencyKey },
      body,
    });
  return {
    createCharge: (body: object, key?: string) => create<DemoCharge>('/charges', body, key),
    getCharge: (id: string) => get<DemoCharge>(`/charges/${id}`),
    createPayout: (body: object, key?: string) => create<DemoPayout>('/payouts', body, key),
    getPayout: (id: string) => get<DemoPayout>(`/payouts/${id}`),
    /** Cents. */
    getAvailable: async () => (await get<{ available: number }>('/balance')).available,
    pay: async (chargeId: string) => {
      await call('POST', `${target.simulator_url}/control/charges/${chargeId}/pay`, { body: {} });
    },
    /** The first requests on a path, oldest first. */
    listReceived: async (path: string) => {
      const query = `path=${encodeURIComponent(path)}&limit=${RECEIVED_MAX}`;
      const url = `${target.receiver_url}/requests?${query}`;
      return (await call<{ data: ReceivedRequest[] }>('GET', url, {})).data;
    },
  };
}
