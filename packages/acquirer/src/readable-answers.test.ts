import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { z } from 'zod';

import { readCharge, readProblem, readReceivedPix } from './read-answer.ts';
import { readReturn } from './read-return.ts';
import { readSendAnswer, readSentPix } from './read-sent.ts';
import { Charge, Problem, ReceivedPix, Refund } from './testing/api-pix-shapes.ts';
import { arbitraryOf } from './testing/arbitrary-of.ts';
import { SendAnswer, SentPix } from './testing/efi-shapes.ts';

const RUNS = 200;

type Answer = Record<string, string>;

const READERS: readonly [string, z.ZodType, (answer: Answer) => unknown][] = [
  // What its code has to say is the matter of another test.
  [
    'a charge',
    Charge.omit({ pixCopiaECola: true }),
    (answer) => readCharge(answer, answer['txid'] ?? ''),
  ],
  ['a received Pix', ReceivedPix, (answer) => readReceivedPix(answer, answer['endToEndId'] ?? '')],
  ['a return', Refund, (answer) => readReturn(answer, answer['id'] ?? '')],
  ['an accepted order', SendAnswer, (answer) => readSendAnswer(answer, answer['idEnvio'] ?? '')],
  ['a problem', Problem, (answer) => readProblem(answer)],
];

test.each(READERS)('%s is readable in every form that the document allows', (_, schema, read) => {
  fc.assert(
    fc.property(arbitraryOf(schema), (answer) => {
      expect(read(answer as Answer)).not.toBeNull();
    }),
    { numRuns: RUNS },
  );
});

test('an order is readable in every form with the id that was asked for', () => {
  fc.assert(
    fc.property(arbitraryOf(SentPix), (answer) => {
      const order = { ...(answer as Answer), idEnvio: 'a1' };
      expect(readSentPix(order, 'a1')).not.toBeNull();
    }),
    { numRuns: RUNS },
  );
});
