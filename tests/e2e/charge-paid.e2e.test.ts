import { createHmac, randomUUID } from 'node:crypto';

import { parseBrCode } from '@pixmesh/acquirer/br-code';
import { eventually } from '@pixmesh/testkit/eventually';
import { describe, expect, test } from 'vitest';

import {
  aMerchant,
  availableOf,
  call,
  createCharge,
  readCharge,
  received,
  simulator,
  stack,
  waitUntilPaid,
} from './mesh.ts';

describe('a charge', () => {
  test('is pending with a BR Code that names the location which the acquirer gave', async () => {
    const merchant = await aMerchant();
    const created = await createCharge(merchant);
    expect(created.status).toBe(201);
    expect(created.body).toMatchObject({
      object: 'charge',
      status: 'pending',
      amount: 1_234,
      method: 'pix',
    });
    const code = parseBrCode(created.body.pix.br_code);
    const { location } = await simulator.recordOf(created.body.id);
    expect(location).toMatch(/^[^/]+\/qr\/v2\/.+/);
    expect(code).toMatchObject({ kind: 'valid', fields: { kind: 'dynamic', url: location } });
    const issued = await simulator.journalOf(created.body.id);
    expect(issued.map((entry) => entry.kind)).toEqual(['issued']);
    expect(await readCharge(merchant, created.body.id)).toEqual(created.body);
  });

  test('is paid, credited once, and announced by three signed deliveries', async () => {
    const merchant = await aMerchant();
    const path = `/${randomUUID()}`;
    const secret = 'whsec_e2e_0001';
    const created = await createCharge(merchant, {
      webhook_url: `http://shop.receiver.example.com${path}`,
      webhook_secret: secret,
      reference: 'pedido-77',
    });
    const before = await availableOf(merchant);
    await simulator.pay(created.body.id, { times: 20 });
    const paid = await waitUntilPaid(merchant, created.body.id);
    expect(paid.pix.end_to_end_id).toMatch(/^E/);
    expect(Date.parse(paid.paid_at)).toBeGreaterThan(0);
    expect(await availableOf(merchant)).toBe(before + 1_234);
    const deliveries = await eventually(async () => {
      const requests = await received(path);
      expect(requests.length).toBe(3);
      return requests;
    });
    const names = deliveries.map((request) => request.headers['x-webhook-event']);
    expect(names.toSorted()).toEqual([
      'charge.pix.created',
      'charge.pix.emitted',
      'charge.pix.paid',
    ]);
    for (const request of deliveries) {
      const bytes = Buffer.from(request.body_base64, 'base64');
      const signature = `sha256=${createHmac('sha256', secret).update(bytes).digest('hex')}`;
      expect(request.headers['x-webhook-signature']).toBe(signature);
      const body = JSON.parse(bytes.toString());
      expect(body.id).toBe(request.headers['x-webhook-delivery']);
      expect(body.data).toMatchObject({ id: created.body.id, reference: 'pedido-77' });
      expect(bytes.toString()).not.toContain(secret);
    }
    const last = deliveries.find(
      (request) => request.headers['x-webhook-event'] === 'charge.pix.paid',
    );
    expect(JSON.parse(Buffer.from(last.body_base64, 'base64').toString()).data).toEqual(paid);
  });

  test('of another account cannot be told from one that does not exist', async () => {
    const [owner, other] = [await aMerchant(), await aMerchant()];
    const created = await createCharge(owner);
    const paths = [created.body.id, randomUUID(), 'not-a-uuid', created.body.id.toUpperCase()];
    for (const id of paths) {
      const answer = await call(`${stack().gateway_url}/v1/charges/${id}`, {
        headers: { 'x-api-key': other.key },
      });
      expect(answer.status).toBe(404);
      expect(answer.body).toEqual({
        code: 'CHARGE_NOT_FOUND',
        message: 'Charge not found.',
        details: [],
      });
    }
    expect((await readCharge(owner, created.body.id.toUpperCase())).id).toBe(created.body.id);
  });
});
