import { describe, expect, it } from 'vitest';

import { createTokenSource, type IssuedToken } from './access-token.ts';

function aTokenSource(expiresInSeconds: number) {
  const clock = { nowMs: 0 };
  const fetched: string[] = [];
  const tokens = createTokenSource({
    now: () => clock.nowMs,
    fetchToken: async (): Promise<IssuedToken> => {
      const value = `token-${fetched.length + 1}`;
      fetched.push(value);
      return { kind: 'token', value, expiresInSeconds };
    },
  });
  return { clock, fetched, tokens };
}

const forever = new AbortController().signal;

describe('the token source', () => {
  it('replaces a token a minute before its end', async () => {
    const { clock, tokens } = aTokenSource(3600);
    expect(await tokens.get(forever)).toEqual({ kind: 'token', value: 'token-1' });
    clock.nowMs = 3_539_999;
    expect(await tokens.get(forever)).toEqual({ kind: 'token', value: 'token-1' });
    clock.nowMs = 3_540_000;
    expect(await tokens.get(forever)).toEqual({ kind: 'token', value: 'token-2' });
  });

  it('uses a short-lived token for most of its life', async () => {
    const { clock, tokens } = aTokenSource(10);
    await tokens.get(forever);
    clock.nowMs = 8_999;
    expect(await tokens.get(forever)).toEqual({ kind: 'token', value: 'token-1' });
    clock.nowMs = 9_000;
    expect(await tokens.get(forever)).toEqual({ kind: 'token', value: 'token-2' });
  });

  it('keeps a newer token when a late answer drops the old one', async () => {
    const { fetched, tokens } = aTokenSource(3600);
    await tokens.get(forever);
    tokens.drop('token-1');
    await tokens.get(forever);
    tokens.drop('token-1');
    await tokens.get(forever);
    expect(fetched).toEqual(['token-1', 'token-2']);
  });

  it('lets one caller give up while the others still get the token', async () => {
    const answer = Promise.withResolvers<IssuedToken>();
    const tokens = createTokenSource({ now: () => 0, fetchToken: () => answer.promise });
    const impatient = new AbortController();
    const first = tokens.get(impatient.signal);
    const second = tokens.get(forever);
    impatient.abort();
    expect(await first).toEqual({ kind: 'none', cause: 'timeout' });
    answer.resolve({ kind: 'token', value: 'token-1', expiresInSeconds: 60 });
    expect(await second).toEqual({ kind: 'token', value: 'token-1' });
  });
});
