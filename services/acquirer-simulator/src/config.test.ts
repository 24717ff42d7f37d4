import { readConfig } from '@pixmesh/service/config';
import { describe, expect, it } from 'vitest';

import { AcquirerSimulatorConfig } from './config.ts';
import { testEnvironment } from '#test/test-simulator.ts';

function read(change: Record<string, string>): object {
  return readConfig(AcquirerSimulatorConfig, { ...testEnvironment('postgres://h/d'), ...change });
}

describe('the settings of the second listener', () => {
  it('may be left out', () => {
    expect(read({})).not.toHaveProperty('TLS_PORT');
  });

  it('belong together', () => {
    expect(() => read({ TLS_PORT: '4443' })).toThrow(
      'TLS_CERT: expected together with the other TLS_ variables\n' +
        'TLS_KEY: expected together with the other TLS_ variables\n' +
        'TLS_CA: expected together with the other TLS_ variables',
    );
  });

  it('are PEM', () => {
    const wrong = { TLS_PORT: '4443', TLS_CERT: 'x', TLS_KEY: 'y', TLS_CA: 'z' };
    expect(() => read(wrong)).toThrow(
      'TLS_CERT: expected a certificate in PEM\n' +
        'TLS_KEY: expected a private key in PEM\n' +
        'TLS_CA: expected a certificate in PEM',
    );
  });
});
