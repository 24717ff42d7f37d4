import { equal } from '../client/expectations.ts';
import { createHttpClient } from '../client/http-client.ts';
import { Account, Balance, type Charge } from '../client/schemas.ts';
import { type Admin, createAdmin } from './admin.ts';
import { createMerchant, type Merchant } from './merchant.ts';
import { createReceiver, type Receiver } from './receiver.ts';
import { createSimulator, type Simulator } from './simulator.ts';
import { until } from './until.ts';

/**
 * What a case asks of whoever runs it, beside address and key. `funds`: a merchant with automatic payouts and
 * money to spend. `patience`: time to wait for what takes a minute.
 */
export type Need = 'admin' | 'simulator' | 'receiver' | 'funds' | 'patience';

export type WorldOptions = {
  url: string;
  key: string;
  admin: { url: string; token: string } | null;
  simulatorUrl: string | null;
  receiver: { control: string; hookBase: string } | null;
  /** Whether cases may wait for what takes a minute. */
  patience: boolean;
};

/** Everything that cases work with. What an option did not give throws when it is asked for. */
export type World = {
  /** The merchant that most cases use: every scope and, with `funds`, money and automatic payouts. */
  own: Merchant;
  admin: Admin;
  simulator: Simulator;
  receiver: Receiver;
  /** Where `webhook_url` may point in cases that check no delivery. */
  hookBase: string;
  abilities: ReadonlySet<Need>;
  /** Makes a thing that several cases check, the first time one of them asks. */
  once<T>(key: unknown, make: (world: World) => Promise<T>): Promise<T>;
  /** Waits until the money of `own` is there; whoever needs `funds` has to. */
  funded(): Promise<void>;
  redact(text: string): string;
  close(): Promise<void>;
};

const FUNDS_CENTS = 1_000_000;
/** What a given key has to have available for the cases that pay out. */
const FUNDS_CENTS_MIN = 100_000;
export const FEE_CENTS = 35;
const HOOK_BASE = 'http://conformance.receiver.example.com';
const KEY_PATTERN = /\b[a-z]{2,8}_[0-9A-Za-z]{30,}\b/g;

/** An account that pays out by itself, once it has money. */
export const PAYING_ACCOUNT = {
  onboarding_status: 'approved',
  auto_payout_enabled: true,
  payout_fee: FEE_CENTS,
} as const;

export async function createWorld(options: WorldOptions): Promise<World> {
  const http = createHttpClient();
  const secrets = new Set([options.key, options.admin?.token ?? options.key]);
  const redact = createRedactor(secrets);
  const hookBase = options.receiver?.hookBase ?? HOOK_BASE;
  const deps = { http, url: options.url, hookBase };
  const given = createMerchant(deps, {
    key: options.key,
    ids: absent('the ids of this merchant are not known'),
  });
  const made = new Map<unknown, Promise<unknown>>();
  const world: World = {
    own: given,
    admin: partOf('admin', options.admin, ({ url: adminUrl, token }) =>
      createAdmin({ ...deps, adminUrl, token, recordSecret: (secret) => secrets.add(secret) }),
    ),
    simulator: partOf('simulator', options.simulatorUrl, (url) => createSimulator(http, url)),
    receiver: partOf('receiver', options.receiver, (receiver) => createReceiver(http, receiver)),
    hookBase,
    abilities: abilitiesOf(options),
    once: <T>(key: unknown, make: (world: World) => Promise<T>): Promise<T> => {
      const promise = (made.get(key) as Promise<T> | undefined) ?? make(world);
      made.set(key, promise);
      return promise;
    },
    funded: async () => {
      if (world.own === given) return;
      await world.once('funds', () => fund(world, world.own, FUNDS_CENTS));
    },
    redact,
    close: () => http.close(),
  };
  await findOwnMerchant(world);
  return world;
}

/** What this run was given no option for throws as soon as it is used. */
function partOf<Option, Part extends object>(
  need: Need,
  option: Option | null,
  create: (option: Option) => Part,
): Part {
  if (option !== null) return create(option);
  return absent(`this run was given no ${need}; the case has to say that it needs it`);
}

function abilitiesOf(options: WorldOptions): Set<Need> {
  const abilities = new Set<Need>();
  if (options.admin !== null) abilities.add('admin');
  if (options.simulatorUrl !== null) abilities.add('simulator');
  if (options.receiver !== null) abilities.add('receiver');
  if (options.patience) abilities.add('patience');
  return abilities;
}

/** A merchant of its own where that can be made, so that runs beside each other do not meet. */
async function findOwnMerchant(world: World): Promise<void> {
  const abilities = world.abilities as Set<Need>;
  if (abilities.has('admin') && abilities.has('simulator')) {
    world.own = await world.admin.createAccount(PAYING_ACCOUNT);
    abilities.add('funds');
    return;
  }
  if (await hasFunds(world.own)) abilities.add('funds');
}

async function hasFunds(merchant: Merchant): Promise<boolean> {
  const balance = Balance.safeParse((await merchant.call('GET /v1/balance')).json);
  const account = Account.safeParse((await merchant.call('GET /v1/account')).json);
  if (!balance.success || !account.success) return false;
  return balance.data.available >= FUNDS_CENTS_MIN && account.data.auto_payout_enabled;
}

/** A new charge of the merchant, once somebody has paid it. */
export async function aPaidCharge(world: World, merchant: Merchant, fields = {}): Promise<Charge> {
  const { id } = await merchant.charges.create(fields);
  await world.simulator.pay(id);
  return await merchant.charges.until(id, 'paid');
}

/** Puts money on a merchant's balance by a charge that is paid. */
async function fund(world: World, merchant: Merchant, amountCents: number): Promise<void> {
  const { id } = await merchant.charges.create({ amount: amountCents });
  await world.simulator.pay(id);
  await until(async () => {
    equal((await merchant.charges.read(id)).status, 'paid', 'the charge that funds');
  });
  await until(async () => {
    const { available } = await merchant.balance();
    equal(available >= amountCents, true, 'the money is on the balance');
  });
}

/** A merchant of the case's own with this much money. */
export async function fundedMerchant(
  world: World,
  amountCents: number,
  settings: object = PAYING_ACCOUNT,
): Promise<Merchant> {
  const merchant = await world.admin.createAccount(settings);
  await fund(world, merchant, amountCents);
  return merchant;
}

/** A thing that several cases check; it is made once per run, when the first of them asks. */
export function shared<T>(make: (world: World) => Promise<T>): (world: World) => Promise<T> {
  return (world) => world.once(make, make);
}

function absent<T extends object>(message: string): T {
  return new Proxy({} as T, {
    get: () => {
      throw new Error(message);
    },
  });
}

function createRedactor(secrets: ReadonlySet<string>): World['redact'] {
  return (text) => {
    let redacted = text;
    for (const secret of secrets) {
      if (secret !== '') redacted = redacted.replaceAll(secret, '[redacted]');
    }
    return redacted.replaceAll(KEY_PATTERN, '[redacted]');
  };
}
