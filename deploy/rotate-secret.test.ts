import { describe, expect, test } from 'vitest';

import { rotateSecret } from './rotate-secret.ts';

const PEPPER = 'p'.repeat(43);

describe('a rotation', () => {
  test('of a pepper goes by versions, from the first one that has none', () => {
    const both = rotateSecret('API_KEY_PEPPER', 'add', `${PEPPER}\n`);
    expect(both).toMatch(new RegExp(`^${PEPPER},2:[\\w-]{43}$`));
    const [, next = ''] = both.split(',');
    expect(rotateSecret('API_KEY_PEPPER', 'swap', both)).toBe(`${next},${PEPPER}`);
    expect(rotateSecret('API_KEY_PEPPER', 'end', `${next},${PEPPER}`)).toBe(next);
    expect(rotateSecret('API_KEY_PEPPER', 'add', next)).toMatch(/,3:[\w-]{43}$/);
  });

  test('of a pepper does not end with the one that keys have moved away from', () => {
    const both = rotateSecret('API_KEY_PEPPER', 'add', PEPPER);
    const end = () => rotateSecret('API_KEY_PEPPER', 'end', both);
    expect(end).toThrow('rotate: end drops the pepper with the lower version; swap first');
    const swappedBack = rotateSecret(
      'API_KEY_PEPPER',
      'swap',
      rotateSecret('API_KEY_PEPPER', 'swap', both),
    );
    expect(swappedBack).toBe(both);
  });

  test('of a callback secret makes one that can stand in an address', () => {
    expect(rotateSecret('CALLBACK_SECRET', 'add', 'old')).toMatch(/^old,[\w-]{43}$/);
  });

  test('of a database password changes places within the URL, whatever the passwords are', () => {
    const old = 'postgres://pixmesh_charges:p%40ss%2Cw%26rd@db/pixmesh?sslmode=verify-full';
    const both = rotateSecret('DATABASE_URL', 'add', old);
    const next = new URL(both).searchParams.get('other_password');
    expect(both.startsWith(old)).toBe(true);
    const swapped = new URL(rotateSecret('DATABASE_URL', 'swap', both));
    expect(swapped.password).toBe(next);
    expect(swapped.searchParams.get('other_password')).toBe('p@ss,w&rd');
    const swappedBack = rotateSecret('DATABASE_URL', 'swap', swapped.href);
    expect(new URL(rotateSecret('DATABASE_URL', 'end', swappedBack)).href).toBe(
      'postgres://pixmesh_charges:p%40ss%2Cw%26rd@db/pixmesh?sslmode=verify-full',
    );
  });

  test.each([
    ['API_KEY_PEPPER', 'add', 'canary,canary'],
    ['API_KEY_PEPPER', 'add', ''],
    ['API_KEY_PEPPER', 'swap', 'canary'],
    ['API_KEY_PEPPER', 'end', 'canary'],
    ['CALLBACK_SECRET', 'end', 'canary,canary,canary'],
    ['CALLBACK_SECRET', 'begin', 'canary'],
    ['ACQUIRER_CLIENT_SECRET', 'add', 'canary'],
    ['DATABASE_URL', 'end', 'postgres://canary@db/pixmesh'],
    ['DATABASE_URL', 'add', 'postgres://canary@db/pixmesh?other_password=two'],
    ['DATABASE_URL', 'add', 'canary'],
  ])('of %s refuses %s where it is not its turn, and quotes nothing', (setting, step, text) => {
    const rotate = () => rotateSecret(setting, step, text);
    expect(rotate).toThrow(/^rotate: expected|^rotate: add expects one secret/);
    expect(rotate).not.toThrow(/canary/);
  });
});
