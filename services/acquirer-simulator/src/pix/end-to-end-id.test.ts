import { describe, expect, it } from 'vitest';

import { newEndToEndId, newReturnId } from './end-to-end-id.ts';

describe('a new end-to-end id', () => {
  it('has the form of the Central Bank, with the minute in UTC', () => {
    const id = newEndToEndId(new Date('2026-03-04T05:06:07.890Z'));
    expect(id).toMatch(/^E12345678202603040506[a-zA-Z0-9]{11}$/);
  });
});

describe('a new id of a return', () => {
  it('differs by its first letter', () => {
    const id = newReturnId(new Date('2026-03-04T05:06:07.890Z'));
    expect(id).toMatch(/^D12345678202603040506[a-zA-Z0-9]{11}$/);
  });
});
