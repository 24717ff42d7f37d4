import { once } from 'node:events';
import { connect } from 'node:net';

import { expect, test } from 'vitest';

import { startCanary } from './canary.ts';

test.each(['127.0.0.1', '127.9.9.9', '0.0.0.0', '::1', '::', '::ffff:127.0.0.1'])(
  'a connection to %s is noticed',
  async (host) => {
    await using canary = await startCanary();
    expect(canary.connections()).toBe(0);
    const socket = connect({ host, port: canary.port });
    await once(socket, 'close');
    expect(canary.connections()).toBe(1);
  },
);
