import { createServer } from 'node:http';
import { once } from 'node:events';

import { eventually } from '@pixmesh/testkit/eventually';
import { expect, inject, onTestFinished, test } from 'vitest';

import { aMerchant, ARRIVAL_MS_MAX, createCharge } from './mesh.ts';

test('WEBHOOK_DEV_RECEIVERS of the start leads to a shop on a port of its own', async () => {
  const events: unknown[] = [];
  const shop = createServer((request, response) => {
    events.push(request.headers['x-webhook-event']);
    response.end();
  });
  onTestFinished(() => {
    shop.close();
    // The dispatcher keeps its connection for the next delivery.
    shop.closeAllConnections();
  });
  await once(shop.listen(inject('shopPort'), '127.0.0.1'), 'listening');
  await createCharge(await aMerchant(), { webhook_url: 'http://shop.example.net/hook' });
  await eventually(
    () => expect(events.toSorted()).toEqual(['charge.pix.created', 'charge.pix.emitted']),
    ARRIVAL_MS_MAX,
  );
});
