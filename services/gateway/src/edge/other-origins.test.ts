import { expect, test } from 'vitest';

import { parseOrigins } from './other-origins.ts';

test('origins are read as browsers name them', () => {
  const text = 'https://app.example.com, http://localhost:3000';
  expect(parseOrigins(text)).toEqual(new Set(['https://app.example.com', 'http://localhost:3000']));
  expect(parseOrigins('')).toEqual(new Set());
});

test.each(['*', 'null', 'app.example.com', 'https://a.example/', 'https://A.example', 'file://a'])(
  '%s is no origin that a page has',
  (entry) => {
    expect(parseOrigins(`https://app.example.com,${entry}`)).toBeNull();
  },
);
