import { ConfigError, readConfig } from '@pixmesh/service/config';
import { expect, test } from 'vitest';

import { REQUIRED_SETTINGS } from '#test/required-settings.ts';

import { PayoutsConfig } from './config.ts';

test('periods default to those of production', () => {
  expect(readConfig(PayoutsConfig, REQUIRED_SETTINGS)).toMatchObject({
    ACQUIRER_TIMEOUT_MS: 4_000,
    REQUEST_TIMEOUT_MS: 9_000,
    SEND_SLOTS: 8,
    SEND_WAIT_MS: 0,
    READ_BACK_INTENT_MS: 10_000,
    READ_BACK_INTENT_MS_MAX: 30_000,
    READ_BACK_UNKNOWN_MS: 5_000,
    READ_BACK_UNKNOWN_MS_MAX: 30_000,
    READ_BACK_ACCEPTED_MS: 60_000,
    READ_BACK_ACCEPTED_MS_MAX: 300_000,
    SENT_LIST_MS: 10_000,
    SENT_LIST_LATE_MS: 300_000,
    SENT_LIST_OVERLAP_MS: 900_000,
    REFUSAL_WAIT_MS: 900_000,
    COMMAND_RESEND_MS: 120_000,
  });
});

test('an intent is checked by its job only after its own call must have ended', () => {
  const config = readConfig(PayoutsConfig, REQUIRED_SETTINGS);
  expect(config.READ_BACK_INTENT_MS).toBeGreaterThan(config.REQUEST_TIMEOUT_MS);
});

test.each([
  ['SEND_SLOTS', '0', 'expected a number from 1 to 64'],
  ['SEND_SLOTS', '65', 'expected a number from 1 to 64'],
  ['SEND_SLOTS', '1.5', 'expected a number from 1 to 64'],
  ['SEND_WAIT_MS', '-1', 'expected a number from 0 to 300000'],
  ['SEND_WAIT_MS', '300001', 'expected a number from 0 to 300000'],
  ['LEDGER_URL', 'http://ledger', 'expected an https:// URL'],
  ['READ_BACK_INTENT_MS', '-1', 'expected a number of milliseconds above 0'],
])('%s=%s is refused with one line that names it', (name, value, expected) => {
  expect(() => readConfig(PayoutsConfig, { ...REQUIRED_SETTINGS, [name]: value })).toThrow(
    new ConfigError(`${name}: ${expected}`),
  );
});
