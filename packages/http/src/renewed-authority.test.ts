import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';

import type { Authority } from '@pixmesh/certificates/authority';
import { writeIdentity } from '@pixmesh/certificates/mesh-authority';
import {
  type IdentityTexts,
  type MeshIdentity,
  openMeshIdentity,
} from '@pixmesh/certificates/mesh-identity';
import { createLogger } from '@pixmesh/telemetry/logger';
import { eventually } from '@pixmesh/testkit/eventually';
import { issueTexts, makeTestAuthority } from '@pixmesh/testkit/made-identities';
import { expect, test } from 'vitest';

import { deadlineIn } from './deadline.ts';
import { createInternalClient } from './internal-client.ts';
import { meshPeers } from './peers.ts';
import { createServiceApp } from './service-app.ts';
import { listen } from './testing/raw-request.ts';

const NAMES = ['ledger', 'payouts'] as const;
const CALL_EVERY_MS = 20;
/** The one follows its files much later than the other, as processes do that were started at other times. */
const RELOAD_MS = { ledger: 600, payouts: 20 } as const;
const logger = createLogger('test', 'silent');

/** Whom everybody believes, and who has signed the certificate of each. */
type Step = { believed: readonly Authority[]; issuer: Authority };

test('a new authority comes and the old one goes while services call each other: no call fails, and the old one lets nobody in', async () => {
  const [old, next] = [await makeTestAuthority(), await makeTestAuthority()];
  await using folders = aFolder();
  await writeAll(folders.path, { believed: [old], issuer: old });
  await using ledger = openIdentity(folders.path, 'ledger');
  await using payouts = openIdentity(folders.path, 'payouts');
  const url = await startLedger(ledger);
  const calls: Promise<number>[] = [];
  const timer = setInterval(() => calls.push(callOnce(url, payouts)), CALL_EVERY_MS);
  for (const step of [
    { believed: [old, next], issuer: old },
    { believed: [old, next], issuer: next },
    { believed: [next], issuer: next },
  ]) {
    const written = await writeAll(folders.path, step);
    const { length } = calls;
    await eventually(() => {
      expect([ledger.current(), payouts.current()]).toEqual(written);
      expect(calls.length).toBeGreaterThan(length + 5);
    });
  }
  clearInterval(timer);
  expect(new Set(await Promise.all(calls))).toEqual(new Set([200]));

  await writeIdentityOf(folders.path, 'payouts', { believed: [next], issuer: old });
  await using former = openIdentity(folders.path, 'payouts');
  await expect(callOnce(url, former)).rejects.toMatchObject({ code: 'DEPENDENCY_UNAVAILABLE' });

  async function startLedger(identity: MeshIdentity): Promise<string> {
    const app = createServiceApp({ logger, listener: 'test', mutualTls: meshPeers(identity).tls });
    app.get('/', async () => ({}));
    folders.onEnd(() => app.close());
    return `https://127.0.0.1:${await listen(app)}`;
  }
});

/** On a connection of its own, so that each call proves both sides anew. */
async function callOnce(url: string, identity: MeshIdentity): Promise<number> {
  await using client = createInternalClient({ service: 'ledger', url, identity });
  const call = { method: 'GET', path: '/', claims: null, deadline: deadlineIn(10_000) } as const;
  return (await client.request(call)).status;
}

function openIdentity(folder: string, name: (typeof NAMES)[number]): MeshIdentity {
  return openMeshIdentity({ folder: path.join(folder, name), logger, reloadMs: RELOAD_MS[name] });
}

async function writeAll(folder: string, step: Step): Promise<IdentityTexts[]> {
  return await Promise.all(NAMES.map((name) => writeIdentityOf(folder, name, step)));
}

async function writeIdentityOf(folder: string, name: string, step: Step): Promise<IdentityTexts> {
  const ca = step.believed.map(({ cert }) => cert).join('\n');
  const texts = { ...(await issueTexts(step.issuer, name)), ca };
  writeIdentity(path.join(folder, name), texts);
  return texts;
}

function aFolder() {
  const stack = new AsyncDisposableStack();
  const folder = mkdtempSync(path.join(tmpdir(), 'pixmesh-authorities-'));
  stack.defer(() => rmSync(folder, { recursive: true }));
  return {
    path: folder,
    onEnd: (end: () => unknown) => stack.defer(async () => void (await end())),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}
