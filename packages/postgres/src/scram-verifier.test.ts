import { expect, test } from 'vitest';

import { scramVerifier } from './scram-verifier.ts';

/** User, password and salt of the exchange that RFC 7677 shows. */
test('a verifier is what the exchange of the standard is checked against', () => {
  const salt = Buffer.from('W22ZaJ0SNY7soEsUEjb6gQ==', 'base64');
  expect(scramVerifier('pencil', salt)).toBe(
    'SCRAM-SHA-256$4096:W22ZaJ0SNY7soEsUEjb6gQ==$WG5d8oPm3OtcPnkdi4Uo7BkeZkBFzpcXkuLmtbsT4qY=:wfPLwcE6nTWhTAmQ7tl2KeoiWGPlZqQxSrmfPwDl2dU=',
  );
});

test('the same password has another verifier each time', () => {
  expect(scramVerifier('pencil')).not.toBe(scramVerifier('pencil'));
});
