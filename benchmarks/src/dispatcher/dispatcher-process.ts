import type { RedisAccess } from '@pixmesh/local-stack/infra/redis-users';

import { type ServiceInfra, type ServiceProcess, startServiceProcess } from '../service-process.ts';

export const DISPATCHER_SCHEMA = 'webhook_dispatcher';

const NAME = 'webhook-dispatcher';

export type DispatcherSettings = {
  redis: RedisAccess;
  receiverPort: number;
  sealing: { publicKey: string; privateKeys: string };
};

/** Processes of the dispatcher by name; more may join while the others work. */
export type Dispatchers = AsyncDisposable & {
  readonly pids: Readonly<Record<string, number>>;
  join(name: string, roles: string): Promise<void>;
  leave(name: string): Promise<void>;
};

/**
 * The dispatcher by the command line of production.
 * `DELIVERY_*` of the shell is handed on, so that its settings can be tried.
 */
function createDispatchers(
  infra: ServiceInfra,
  { redis, receiverPort, sealing }: DispatcherSettings,
  tuning: Readonly<Record<string, string>>,
): Dispatchers {
  const running = new Map<string, ServiceProcess>();
  const env = {
    NODE_ENV: 'development',
    REDIS_URL: redis.urls['webhook-dispatcher'],
    REDIS_TLS_CA_FILE: redis.caFile,
    WEBHOOK_SEALING_PUBLIC_KEY: sealing.publicKey,
    WEBHOOK_SEALING_PRIVATE_KEYS: sealing.privateKeys,
    WEBHOOK_DEV_RECEIVERS: `*.receiver.example.com=127.0.0.1:${receiverPort}`,
    ...Object.fromEntries(
      Object.entries(process.env).filter(([name]) => name.startsWith('DELIVERY_')),
    ),
    ...tuning,
  };
  return {
    get pids() {
      return Object.fromEntries([...running].map(([name, { pid }]) => [name, pid]));
    },
    join: async (name, roles) => {
      const started = startServiceProcess(infra, {
        name: NAME,
        schema: DISPATCHER_SCHEMA,
        env: { ...env, ROLES: roles },
      });
      running.set(name, await started);
    },
    leave,
    [Symbol.asyncDispose]: async () => void (await Promise.all([...running.keys()].map(leave))),
  };

  async function leave(name: string): Promise<void> {
    const service = running.get(name);
    running.delete(name);
    await service?.[Symbol.asyncDispose]();
  }
}

/** One process with every role, or the intake apart from so many senders. */
export async function startDispatchers(
  { infra, settings }: { infra: ServiceInfra; settings: DispatcherSettings },
  senders: number | null,
  tuning: Readonly<Record<string, string>> = {},
): Promise<Dispatchers> {
  const dispatchers = createDispatchers(infra, settings, tuning);
  if (senders === null) await dispatchers.join('dispatcher', 'api,intake,sender');
  else await dispatchers.join('intake', 'api,intake');
  for (let number = 1; number <= (senders ?? 0); number += 1) {
    await dispatchers.join(`sender ${number}`, 'sender');
  }
  return dispatchers;
}
