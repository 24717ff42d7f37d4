import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';

import { z } from 'zod';

import type { WorldOptions } from '../world/world.ts';

export type Options = {
  /** Null where the map alone is asked for. */
  world: WorldOptions | null;
  strict: boolean;
  jsonFile: string | null;
  only: string | null;
};

export const USAGE = `npm run conformance -- --url URL --key KEY [abilities]
npm run conformance -- --stack .pixmesh/stack.json [--no-patience] [--strict]
npm run conformance -- --list

  --url URL --key KEY              an installation and a key with every scope
  --admin-url URL --admin-token T  accounts, applications and keys of the run's own
  --simulator-url URL              payers, disputes, refusals and silence of the acquirer
  --receiver-url URL               what the development receiver recorded
  --hook-base URL                  the receiver as the installation calls it
  --patience                       also what takes a minute
  --stack FILE                     all of this from a running stack, with patience
  --strict                         a case that did not run is a failure
  --only TEXT                      cases whose id begins with this
  --json FILE                      every result for a program
  --list                           the map of specification and cases
`;

const HOOK_BASE = 'http://conformance.receiver.example.com';

const StackFile = z.object({
  gateway_url: z.url(),
  admin_url: z.url(),
  admin_token: z.string(),
  simulator_url: z.url(),
  receiver_url: z.url(),
  api_key: z.string(),
});

/**
 * Reads the command line.
 * @throws an error whose message names what is missing
 */
export function readOptions(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    allowNegative: true,
    options: {
      url: { type: 'string' },
      key: { type: 'string' },
      'admin-url': { type: 'string' },
      'admin-token': { type: 'string' },
      'simulator-url': { type: 'string' },
      'receiver-url': { type: 'string' },
      'hook-base': { type: 'string' },
      stack: { type: 'string' },
      only: { type: 'string' },
      json: { type: 'string' },
      patience: { type: 'boolean' },
      strict: { type: 'boolean', default: false },
      list: { type: 'boolean', default: false },
    },
  });
  const world = values.list ? null : toWorldOptions(values);
  const { strict, json = null, only = null } = values;
  return { world, strict, jsonFile: json, only };
}

type Values = Partial<Record<string, string | boolean>>;

function toWorldOptions(values: Values): WorldOptions {
  const hasStack = values['stack'] !== undefined;
  const given = hasStack ? readStack(String(values['stack'])) : {};
  const text = (name: string): string | null => {
    const value = values[name] ?? given[name];
    return typeof value === 'string' && value !== '' ? value.replace(/\/$/, '') : null;
  };
  const [url, key] = [text('url'), text('key')];
  if (url === null || key === null) throw new Error('--url and --key, or --stack, are needed');
  const [adminUrl, adminToken] = [text('admin-url'), text('admin-token')];
  const control = text('receiver-url');
  return {
    url,
    key,
    admin: adminUrl === null || adminToken === null ? null : { url: adminUrl, token: adminToken },
    simulatorUrl: text('simulator-url'),
    receiver: control === null ? null : { control, hookBase: text('hook-base') ?? HOOK_BASE },
    patience: values['patience'] === true || (hasStack && values['patience'] === undefined),
  };
}

function readStack(file: string): Partial<Record<string, string>> {
  const stack = StackFile.parse(JSON.parse(readFileSync(file, 'utf8')));
  return {
    url: stack.gateway_url,
    key: stack.api_key,
    'admin-url': stack.admin_url,
    'admin-token': stack.admin_token,
    'simulator-url': stack.simulator_url,
    'receiver-url': stack.receiver_url,
  };
}
