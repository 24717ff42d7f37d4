import { expect, test } from 'vitest';

import { aCharge } from '#test/a-charge-event.ts';

import { bodyOf, buildBodyRest } from './build-body.ts';

test('the envelope is, byte for byte, the documented one', () => {
  const rest = buildBodyRest({
    event: 'charge.pix.paid',
    assembledAt: new Date('2026-11-21T12:00:00.123Z'),
    data: aCharge({
      id: '5b1c0f6e-3f0a-5c57-9f7c-2f6a4a0f9d11',
      status: 'paid',
      description: 'Café ☕',
      paid_at: '2026-11-21T11:59:59.000Z',
    }),
  });
  const body = bodyOf('0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b', rest);
  expect(body.toString('utf8')).toBe(
    '{"id":"0190a1b2-c3d4-7e5f-8a9b-0c1d2e3f4a5b","object":"event","event":"charge.pix.paid",' +
      '"resource":"charge","method":"pix","action":"paid","created_at":"2026-11-21T12:00:00.123Z",' +
      '"data":{"id":"5b1c0f6e-3f0a-5c57-9f7c-2f6a4a0f9d11","object":"charge","status":"paid",' +
      '"amount":1990,"currency":"BRL","method":"pix","description":"Café ☕","reference":"order-1",' +
      '"customer":null,"pix":{"br_code":"00020126","end_to_end_id":null},"receiver":null,' +
      '"refunded_amount":0,' +
      '"webhook_url":"http://shop.receiver.example.com/hook","expires_at":"2026-11-22T12:00:00.000Z",' +
      '"paid_at":"2026-11-21T11:59:59.000Z","failure_reason":null,"created_at":"2026-11-21T12:00:00.000Z"}}',
  );
});
